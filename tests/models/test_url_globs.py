"""Globs of URLs, and the patterns made of them for the browser."""

from __future__ import annotations

import re

import pytest

from orchestrator.models import url_globs

HERE = "http://127.0.0.1:8000/api/users?page=2"


def held(pattern: str, url: str) -> bool:
    """Return True if the browser's pattern covers a URL: `*` is any run, `?` one character, a backslash quotes."""
    parts = re.findall(r"\\.|.", pattern)
    return bool(re.fullmatch("".join({"*": ".*", "?": "."}.get(one, re.escape(one[-1])) for one in parts), url))


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        (HERE, True),
        ("http://127.0.0.1:8000/api/users", True),
        ("http://127.0.0.1:8000/api", False),
        ("/api/users", True),
        ("api/users", True),
        ("/api/users?page=2", True),
        ("/api/users?page=3", False),
        ("/api/*", True),
        ("**/api/**", True),
        ("*/users", True),
        ("*/u?ers", True),
        ("**/{users,groups}", True),
        ("**/{groups,roles}", False),
        ("**/*.{png,jpg}", False),
        ("/api/users#part", True),
        ("https://*", False),
        ("*", True),
        ("/api.users", False),
        ("/API/users", False),
    ],
)
def test_a_glob_matches_urls_and_its_browser_pattern_covers_them(glob: str, matches: bool) -> None:  # noqa: FBT001 - what is expected
    """Globs match as in wait_for, and the browser holds at least the matching requests."""
    assert url_globs.matches(HERE, glob) == matches
    if matches:
        assert any(held(pattern, HERE) for pattern in url_globs.patterns(glob))


def test_a_globs_browser_pattern_does_not_cover_urls_that_begin_otherwise() -> None:
    """A URL that begins otherwise than the glob is never held by the browser."""
    assert not any(held(pattern, HERE) for pattern in url_globs.patterns("http://127.0.0.1:8000/other/*"))
    assert not any(held(pattern, "http://a/b") for pattern in url_globs.patterns("/a\\b"))


@pytest.mark.parametrize("glob", ["**/*a*/*.png", "*/a*/a*/b", "**/{a,b}/**/*.{png,jpg}"])
def test_matching_a_long_url_is_fast_however_many_stars_a_glob_has(glob: str) -> None:
    """A page chooses its URLs, so a long one must not delay other requests."""
    assert not url_globs.matches(f"http://h{'/a' * 20_000}", glob)
    assert url_globs.matches(f"http://h{'/a' * 20_000}/b.png", "**/*a*/*.png")
