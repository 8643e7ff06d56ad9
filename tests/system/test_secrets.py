"""Redaction of secrets in all output, in any encoding."""

from __future__ import annotations

import pytest

from orchestrator.system.secrets import MASK, Redactor, without_users


@pytest.mark.parametrize(
    ("secret", "spelled"),
    [
        ("p@ss word", "p@ss word"),
        ("p@ss word", "p%40ss%20word"),
        ("p@ss word", "p%40ss+word"),
        ("p@ss word", "p@ss%20word"),
        ("p@ssw0rd!", "p%40ssw0rd!"),
        ("p@ss~word", "p%40ss%7Eword"),
        ("pass*word 1", "pass*word+1"),
        ("pass/word 1", "pass/word%201"),
        ('a<b&c>d"e', "a&lt;b&amp;c&gt;d&quot;e"),
        ('a<b&c>d"e', 'a&lt;b&amp;c&gt;d"e'),
        ('abc/de"f', '\\"abc/de\\"f\\"'),
        ('abc/de"f', '"abc\\/de\\"f"'),
        ("pässword", "p\\u00e4ssword"),
    ],
)
def test_a_secret_is_masked_in_any_encoding(secret: str, spelled: str) -> None:
    """Secrets are masked as browsers, forms, `encodeURIComponent`, HTML and JSON write them."""
    redactor = Redactor()
    redactor.add(secret)
    told = redactor.text(f"before {spelled} after")
    assert MASK in told
    assert told.startswith("before ")
    assert spelled not in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET http://ann:hidden@shop.test/x failed", "GET http://shop.test/x failed"),
        ("GET http://ann:hid@den@shop.test/x", "GET http://shop.test/x"),
        ("fetch('http://shop.test/', 'me@x')", "fetch('http://shop.test/', 'me@x')"),
        ("http://shop.test/me@x", "http://shop.test/me@x"),
    ],
)
def test_user_and_password_are_removed_from_urls(text: str, expected: str) -> None:
    """User and password are removed from URLs anywhere in a text; other at signs stay."""
    assert without_users(text) == expected
