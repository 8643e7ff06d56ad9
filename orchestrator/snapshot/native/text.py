"""The text of a screen: lines of the outline, and words of labels."""

from __future__ import annotations

import re

from orchestrator.snapshot.native.node import TOGGLES, Node

WITHOUT_REF = frozenset({"text", "keyboard"})
"""Roles that are read, not acted on."""

LONGEST = 200
"""Most characters of a text in a line."""
MASK = "•••"
"""Stands for a password."""
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_LOOKS_LIKE_REF = re.compile(r"(\\*)\[(?=e\d+\])")


def format_line(node: Node, ref: str, *, focus: bool = True) -> str:
    """Return the line without indentation and dash; `ref` is '' for a line without one."""
    value = value_of(node)
    if node.role == "text":
        return f"text: {escape_refs(node.label)}" + (f" = {quoted(value)}" if value else "")
    written = node.role or "generic"
    if node.name:
        written += f" {quoted(node.name)}"
    if ref:
        written += f" [{ref}]"
    written += "".join(f" [{state}]" for state in states(node) if focus or state != "focused")
    return f"{written} = {quoted(value)}" if value else written


def states(node: Node) -> list[str]:
    """Return the states of a line, in the order in which it shows them."""
    found = [
        ("checked", node.role in TOGGLES and bool(node.checked)),
        ("selected", node.selected),
        ("disabled", not node.enabled and node.role not in {"text", "img", "heading", "banner", "list", "group"}),
        ("invalid", node.invalid),
        ("focused", node.focused),
        (f"level={node.level}", node.role == "heading"),
        ("clickable", node.is_clickable_only),
        ("modal", node.modal),
    ]
    return [state for state, holds in found if holds]


def value_of(node: Node) -> str:
    """Return the value as it may be shown, or ''."""
    return MASK if node.secret and node.value else node.value


def normalize_space(text: str) -> str:
    """Replace white space and control characters by single spaces, and drop invisible characters."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return _BLANK.sub(" ", _INVISIBLE.sub("", text)).strip()


def shorten(text: str) -> str:
    """Return the text on one line, cut at the length that an outline shows."""
    line = normalize_space(text[: 20 * LONGEST])
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def quoted(text: str) -> str:
    """Return the text between double quotes."""
    escaped = shorten(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def escape_refs(text: str) -> str:
    """Return running text in which a backslash stands before everything that looks like a ref."""
    return _LOOKS_LIKE_REF.sub(r"\1\1\\[", shorten(text))


def likeness(text: str, wanted: str | re.Pattern[str]) -> int | None:
    """Return the rank of a match: 0 exact or of a pattern, 1 but for case, 2 contained, None no match."""
    if isinstance(wanted, re.Pattern):
        return 0 if wanted.search(text) else None
    if text == wanted:
        return 0
    small, sought = text.lower(), wanted.lower()
    if small == sought:
        return 1
    return 2 if sought and sought in small else None


def resemblance(sought: str, text: str) -> float:
    """Return how like two texts are, from 0 to 1, by pairs of neighbouring letters: slips of the pen matter little."""
    wanted, found = _pairs(sought), _pairs(shorten(text))
    common = len(wanted & found)
    return max(common / len(wanted), 0.8 * common / len(found)) - len(found) / 10_000 if common else 0


def _pairs(text: str) -> set[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", normalize_space(text)).lower()
    bounded = [f" {word} " for word in re.findall(r"[^\W_]+", apart)]
    return {word[at : at + 2] for word in bounded for at in range(len(word) - 1)}


def matches_glob(text: str, glob: str) -> bool:
    """Return True if a text matches a glob: `*` is any run, `?` one character."""
    pattern = "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in glob)
    return re.fullmatch(pattern, text, re.DOTALL) is not None
