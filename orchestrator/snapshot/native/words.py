"""Makes text of an app safe to show and fit to compare, by the rules that web pages have (page/words.js)."""

from __future__ import annotations

import re

LONGEST = 200
"""Characters of a text that a line shows."""
MASK = "•••"
"""What is shown of a password."""
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_LOOKS_LIKE_REF = re.compile(r"(\\*)\[(?=e\d+\])")


def normal(text: str) -> str:
    """White space and control characters become single spaces; what cannot be seen goes."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return _BLANK.sub(" ", _INVISIBLE.sub("", text)).strip()


def shown(text: str) -> str:
    """The text on one line, cut at the longest that an outline shows."""
    line = normal(text[: 20 * LONGEST])
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def quoted(text: str) -> str:
    """The text between double quotes."""
    escaped = shown(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def plain(text: str) -> str:
    """Running text: what looks like a ref gets a backslash that shows."""
    return _LOOKS_LIKE_REF.sub(r"\1\1\\[", shown(text))


def likeness(text: str, wanted: str) -> int | None:
    """How well `text` answers `wanted`: 0 exactly, 1 but for case, 2 contained, None not at all."""
    if text == wanted:
        return 0
    small, sought = text.lower(), wanted.lower()
    if small == sought:
        return 1
    return 2 if sought and sought in small else None


def matches_glob(text: str, glob: str) -> bool:
    """Whether a text is as a glob says: `*` is any run, `?` one character."""
    pattern = "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in glob)
    return re.fullmatch(pattern, text, re.DOTALL) is not None
