"""URL globs such as `**/api/*`, also with alternatives in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urlsplit

_SCHEME = re.compile(r"[a-z][a-z\d+.-]*:", re.IGNORECASE)
_RUN = re.compile(r"\*+")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def matches(url: str, glob: str) -> bool:
    """Return True if a URL matches a glob: `*` matches any run, `?` one character, `{a,b}` one alternative.

    A glob without a scheme also matches the end of a URL, with or without its query; fragments are ignored.
    """
    url = url.partition("#")[0]
    return any(each.fullmatch(url) or each.fullmatch(url.partition("?")[0]) for each in _compiled(glob))


def patterns(glob: str) -> list[str]:
    """Return patterns for CDP's Fetch domain, which match at least every URL that the glob matches.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-RequestPattern.
    """
    return [f"{simple.replace(chr(92), 2 * chr(92)).rstrip('*')}*" for simple in _anchored(glob)]


def origin_pattern(url: str) -> str:
    """Return the Fetch pattern for all URLs of a URL's origin."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/*"


def alternatives(glob: str) -> Iterator[str]:
    """Expand braces: yield the globs without braces that a glob stands for."""
    braces = _BRACES.search(glob)
    if braces is None:
        yield glob
        return
    for part in braces[1].split(","):
        yield from alternatives(glob[: braces.start()] + part + glob[braces.end() :])


@lru_cache(maxsize=1000)
def _compiled(glob: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_regex(simple), re.DOTALL) for simple in _anchored(glob))


def _regex(glob: str) -> str:
    """Translate a glob without braces; each part matches at its first place, since backtracking would take too long."""
    first, *parts = ("".join("." if char == "?" else re.escape(char) for char in part) for part in _RUN.split(glob))
    if not parts:
        return first
    *between, last = parts
    return f"{first}{''.join(f'(?>.*?{part})' for part in between)}.*{last}"


def _anchored(glob: str) -> Iterator[str]:
    for simple in alternatives(glob.partition("#")[0]):
        yield simple if _SCHEME.match(simple) or simple.startswith("*") else f"*{simple}"
