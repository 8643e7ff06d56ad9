"""Globs of addresses, as `wait_for` and `expect` read them too; here they also stand for alternatives in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urlsplit

_SCHEME = re.compile(r"[a-z][a-z\d+.-]*:", re.IGNORECASE)
_RUN = re.compile(r"\*+")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def matches(url: str, glob: str) -> bool:
    """Whether an address is as a glob says: `*` is any run, `?` one character, `{a,b}` one of them.

    A glob without a scheme also stands for the end of the address, query aside; fragments never count.
    """
    url = url.partition("#")[0]
    return any(each.fullmatch(url) or each.fullmatch(url.partition("?")[0]) for each in _compiled(glob))


def patterns(glob: str) -> list[str]:
    """What CDP's Fetch domain takes for it: patterns that let through at least all that the glob matches.

    Source: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-RequestPattern.
    """
    return [f"{one.replace(chr(92), 2 * chr(92)).rstrip('*')}*" for one in _anchored(glob)]


def origin_pattern(url: str) -> str:
    """The same for all addresses of the server that an address is at."""
    there = urlsplit(url)
    return f"{there.scheme}://{there.netloc}/*"


def alternatives(glob: str) -> Iterator[str]:
    """The globs without braces that it stands for."""
    found = _BRACES.search(glob)
    if found is None:
        yield glob
        return
    for part in found[1].split(","):
        yield from alternatives(glob[: found.start()] + part + glob[found.end() :])


@lru_cache(maxsize=1000)
def _compiled(glob: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_regex(one), re.DOTALL) for one in _anchored(glob))


def _regex(glob: str) -> str:
    """The first place where a part fits is kept: to try all of them takes ages where a glob has several stars."""
    first, *parts = ("".join("." if char == "?" else re.escape(char) for char in part) for part in _RUN.split(glob))
    if not parts:
        return first
    *between, last = parts
    return f"{first}{''.join(f'(?>.*?{part})' for part in between)}.*{last}"


def _anchored(glob: str) -> Iterator[str]:
    for one in alternatives(glob.partition("#")[0]):
        yield one if _SCHEME.match(one) or one.startswith("*") else f"*{one}"
