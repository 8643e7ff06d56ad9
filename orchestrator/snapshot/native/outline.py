"""The outline of a screen: a flat list of entries that become lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.snapshot.native.node import FIELDS, INTERACTIVE, TOGGLES, Node
from orchestrator.snapshot.native.text import WITHOUT_REF, normalize_space, value_of
from orchestrator.snapshot.native.tree import Tree

_CAPTIONED = FIELDS | TOGGLES | {"combobox", "slider"}
"""Roles that often have their name as a text beside them."""


@dataclass(slots=True, eq=False)
class OutlineEntry:
    """A line of the outline before it is written."""

    node: Node
    parent: OutlineEntry | None
    depth: int
    is_in_view: bool
    """True if it, or something below it, can be seen without scrolling."""

    @property
    def has_ref(self) -> bool:
        """True if it has a ref."""
        return self.node.role not in WITHOUT_REF


def collect_entries(tree: Tree, start: Node | None = None, ignored: Collection[Node] = ()) -> list[OutlineEntry]:
    """Return the lines of `start`, or of the screen: of a screen with a dialog only the dialog and the keyboard.

    A text beside a control that bears its name has no line: the control's line shows it.
    """
    entries = collect_all_entries(tree, start, ignored)
    captions = {id(text) for text, control in _neighbours(entries) if _is_caption(text, control)}
    return [entry for entry in entries if id(entry) not in captions]


def collect_all_entries(tree: Tree, start: Node | None = None, ignored: Collection[Node] = ()) -> list[OutlineEntry]:
    """Return what `collect_entries` does, with every text."""
    entries: list[OutlineEntry] = []
    above: dict[int, tuple[OutlineEntry | None, bool]] = {}
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
        if not _has_line(node, muted=muted or _repeats_field(node, parent)) or not (node.is_visible or node.is_outside):
            continue
        entry = OutlineEntry(node, parent, 0 if parent is None else parent.depth + 1, node.is_visible)
        entries.append(entry)
        above[node.index] = entry, muted or node.is_named_by_content or _holds(node)
        if node.role == "keyboard" and node is not start:
            skip_to = node.end
    for entry in entries:
        up = entry.parent if entry.is_in_view else None
        while up is not None and not up.is_in_view:
            up.is_in_view, up = True, up.parent
    return entries


def _neighbours(entries: Sequence[OutlineEntry]) -> Iterator[tuple[OutlineEntry, OutlineEntry]]:
    for first, second in pairwise(entries):
        yield first, second
        yield second, first


def _is_caption(text: OutlineEntry, control: OutlineEntry) -> bool:
    return (
        text.node.role == "text"
        and not text.node.value
        and control.node.role in _CAPTIONED
        and text.parent is control.parent
        and text.node.label == control.node.name
    )


def _is_keyboard(node: Node) -> bool:
    return node.role == "keyboard"


def _holds(node: Node) -> bool:
    """True if its value is the text inside."""
    return node.role == "combobox" or (node.role in FIELDS and node.secret)


def _repeats_field(node: Node, around: OutlineEntry | None) -> bool:
    """True if a text in a field is its name, placeholder or value; other texts are hints or errors."""
    if around is None or around.node.role not in FIELDS or node.role != "text" or node.value:
        return False
    field = around.node
    return node.label in {field.name, field.hint, normalize_space(field.value)}


def _has_line(node: Node, *, muted: bool) -> bool:
    """True if a node has a line: wrappers have none, nor has a text that another line shows already."""
    if node.role in INTERACTIVE:
        return True
    if muted or not node.role:
        return False
    return bool(node.label) or node.role not in {"text", "img", "heading"}


def matching_entries(entries: Sequence[OutlineEntry], query: str | None, roles: Collection[str]) -> list[OutlineEntry]:
    """Return the entries of these roles with this text."""
    sought = normalize_space(query or "").lower()
    return [
        entry
        for entry in entries
        if (not roles or entry.node.role in roles)
        and sought in normalize_space(f"{entry.node.name or entry.node.label} {value_of(entry.node)}").lower()
    ]


def filter_entries(entries: Sequence[OutlineEntry], query: str | None, roles: Collection[str]) -> list[OutlineEntry]:
    """Return the entries of these roles with this text, and without roles also the lines above them."""
    matching = matching_entries(entries, query, roles)
    if roles:
        return matching
    found: set[int] = set()
    for entry in matching:
        found.add(id(entry))
        up = entry.parent
        while up is not None and id(up) not in found:
            found.add(id(up))
            up = up.parent
    return [entry for entry in entries if id(entry) in found]


def depths_among(part: Sequence[OutlineEntry], kept: Collection[OutlineEntry]) -> list[int]:
    """Return the depth of each entry among the `kept` ones: a filter leaves no gaps in the indentation."""
    depths: dict[int, int] = {}
    listed = {id(entry) for entry in kept}
    for entry in part:
        way: list[OutlineEntry] = []
        up: OutlineEntry | None = entry
        while up is not None and id(up) not in depths:
            way.append(up)
            up = up.parent
        for each in reversed(way):
            around = each.parent
            depths[id(each)] = 0 if around is None else depths[id(around)] + (id(around) in listed)
    return [depths[id(entry)] for entry in part]
