"""Tells what a screen shows, as a flat list of entries that become lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.snapshot.native.lines import WITHOUT_REF, value_of
from orchestrator.snapshot.native.node import FIELDS, INTERACTIVE, TOGGLES, Node
from orchestrator.snapshot.native.tree import Tree
from orchestrator.snapshot.native.words import normal

_CAPTIONED = FIELDS | TOGGLES | {"combobox", "slider"}
"""Roles that often have their name as a text beside them."""


@dataclass(slots=True, eq=False)
class Entry:
    """One line of the outline before it is written."""

    node: Node
    parent: Entry | None
    depth: int
    inside: bool
    """Whether it, or something below it, can be seen without scrolling."""

    @property
    def has_ref(self) -> bool:
        """Whether it can be pointed at by a ref."""
        return self.node.role not in WITHOUT_REF


def survey(tree: Tree, start: Node | None = None, ignored: Collection[Node] = ()) -> list[Entry]:
    """What `start` shows, or the screen: with a dialog in front, only that and the keyboard.

    A text beside a control that is called by it has no line: the control's says it.
    """
    entries = everything(tree, start, ignored)
    captions = {id(text) for text, control in _neighbours(entries) if _is_caption(text, control)}
    return [entry for entry in entries if id(entry) not in captions]


def everything(tree: Tree, start: Node | None = None, ignored: Collection[Node] = ()) -> list[Entry]:
    """As `survey`, with every text."""
    entries: list[Entry] = []
    above: dict[int, tuple[Entry | None, bool]] = {}
    skip_to = 0
    front = tree.modal if start is None else None
    for node in tree.nodes if start is None else tree.inside(start):
        parent, muted = (None, False) if node.parent is None else above.get(node.parent.index, (None, False))
        above[node.index] = parent, muted
        if node.index < skip_to:
            continue
        if node.left_out or node in ignored:
            skip_to = node.end
            continue
        if front is not None and not (node.within(front) or front.within(node) or _is_keyboard(node)):
            continue
        if not _has_line(node, muted=muted or _is_said(node, parent)) or not (node.is_visible or node.is_outside):
            continue
        entry = Entry(node, parent, 0 if parent is None else parent.depth + 1, node.is_visible)
        entries.append(entry)
        above[node.index] = entry, muted or node.is_named_by_content or _holds(node)
        if node.role == "keyboard" and node is not start:
            skip_to = node.end
    for entry in entries:
        up = entry.parent if entry.inside else None
        while up is not None and not up.inside:
            up.inside, up = True, up.parent
    return entries


def _neighbours(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    for one, other in pairwise(entries):
        yield one, other
        yield other, one


def _is_caption(text: Entry, control: Entry) -> bool:
    return (
        text.node.role == "text"
        and control.node.role in _CAPTIONED
        and text.parent is control.parent
        and text.node.label == control.node.name
    )


def _is_keyboard(node: Node) -> bool:
    return node.role == "keyboard"


def _holds(node: Node) -> bool:
    """Whether its value is what is written inside."""
    return node.role == "combobox" or (node.role in FIELDS and node.secret)


def _is_said(node: Node, around: Entry | None) -> bool:
    """Whether a text in a field is its name, placeholder or value; others are a hint or what is wrong with it."""
    if around is None or around.node.role not in FIELDS or node.role != "text":
        return False
    field = around.node
    return node.label in {field.name, field.hint, normal(field.value)}


def _has_line(node: Node, *, muted: bool) -> bool:
    """Whether a node has a line: not what only wraps, and not what another line says already."""
    if node.role in INTERACTIVE:
        return True
    if muted or not node.role:
        return False
    return bool(node.label) or node.role not in {"text", "img", "heading"}


def chosen(entries: Sequence[Entry], query: str | None, roles: Collection[str]) -> list[Entry]:
    """The entries of the wanted roles with the wanted text, and the lines above those with the text."""
    kept = [entry for entry in entries if not roles or entry.node.role in roles]
    sought = normal(query or "").lower()
    if not sought:
        return kept
    found: set[int] = set()
    for entry in kept:
        if sought not in normal(f"{entry.node.name or entry.node.label} {value_of(entry.node)}").lower():
            continue
        found.add(id(entry))
        up = None if roles else entry.parent
        while up is not None and id(up) not in found:
            found.add(id(up))
            up = up.parent
    return [entry for entry in entries if id(entry) in found]


def depths_among(part: Sequence[Entry], kept: Collection[Entry]) -> list[int]:
    """How deep each entry stands when only `kept` ones are there: a filter leaves no holes in the indentation."""
    depths: dict[int, int] = {}
    listed = {id(entry) for entry in kept}
    for entry in part:
        way: list[Entry] = []
        up: Entry | None = entry
        while up is not None and id(up) not in depths:
            way.append(up)
            up = up.parent
        for each in reversed(way):
            around = each.parent
            depths[id(each)] = 0 if around is None else depths[id(around)] + (id(around) in listed)
    return [depths[id(entry)] for entry in part]
