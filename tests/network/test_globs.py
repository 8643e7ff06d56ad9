"""Globs of addresses, and what of them is given to the browser."""

from __future__ import annotations

import re

import pytest

from orchestrator.network import globs

HERE = "http://127.0.0.1:8000/api/users?page=2"


def held(pattern: str, url: str) -> bool:
    """Whether the browser holds a request for a pattern: `*` is any run, `?` one character, a backslash quotes."""
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
def test_what_a_glob_matches(glob: str, matches: bool) -> None:  # noqa: FBT001 - what is expected
    """As in wait_for; and the browser is told to hold at least that."""
    assert globs.matches(HERE, glob) == matches
    if matches:
        assert any(held(pattern, HERE) for pattern in globs.patterns(glob))


def test_what_the_browser_is_not_told_to_hold() -> None:
    """What begins otherwise is never held."""
    assert not any(held(pattern, HERE) for pattern in globs.patterns("http://127.0.0.1:8000/other/*"))
    assert not any(held(pattern, "http://a/b") for pattern in globs.patterns("/a\\b"))


@pytest.mark.parametrize("glob", ["**/*a*/*.png", "*/a*/a*/b", "**/{a,b}/**/*.{png,jpg}"])
def test_a_long_address_takes_no_longer(glob: str) -> None:
    """However many stars a glob has: a page chooses its addresses, and others wait meanwhile."""
    assert not globs.matches(f"http://h{'/a' * 20_000}", glob)
    assert globs.matches(f"http://h{'/a' * 20_000}/b.png", "**/*a*/*.png")
