"""Writes one node as one line, in the grammar of the outline of web pages (page/line.js)."""

from __future__ import annotations

from orchestrator.snapshot.native.node import TOGGLES, Node
from orchestrator.snapshot.native.words import MASK, plain, quoted

WITHOUT_REF = frozenset({"text", "keyboard"})
"""Lines of what is read, not acted on."""


def line(node: Node, ref: str, *, focus: bool = True) -> str:
    """The line without indentation and dash; `ref` is '' where none is to be shown."""
    if node.role == "text":
        return f"text: {plain(node.label)}"
    written = node.role or "generic"
    if node.name:
        written += f" {quoted(node.name)}"
    if ref:
        written += f" [{ref}]"
    written += "".join(f" [{state}]" for state in states(node) if focus or state != "focused")
    value = value_of(node)
    return f"{written} = {quoted(value)}" if value else written


def states(node: Node) -> list[str]:
    """The states of a line, in the order in which it shows them."""
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
    """The value as it may be shown; '' where there is none."""
    return MASK if node.secret and node.value else node.value
