"""Queries of a screen: its text, its elements, and what matches a locator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from typing import Any

from orchestrator.snapshot.answers import BoxesAnswer, ElementFacts, MarkedAnswer, SnapshotAnswer
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.node import INTERACTIVE, NAMED_BY_CONTENT, TOGGLES, Node
from orchestrator.snapshot.native.outline import (
    OutlineEntry,
    collect_all_entries,
    collect_entries,
    depths_among,
    filter_entries,
    matching_entries,
)
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot
from orchestrator.snapshot.native.text import MASK, normalize_space, shorten, states, value_of
from orchestrator.snapshot.native.tree import Tree

Locator = Mapping[str, Any]

_READ = frozenset({"text", "status"}) | NAMED_BY_CONTENT | {"listitem", "generic"}
"""Roles that show text for reading; a field's value and a picture's name are no text of the screen."""


def snapshot(
    screen: ScreenSnapshot, scope: str = "viewport", locator: Locator | None = None, query: str | None = None,
    roles: Collection[str] = (), limit: int | None = None, offset: int = 0, **more: Any,
) -> SnapshotAnswer:  # fmt: skip
    """Return the lines or elements of the screen, or of the first match.

    Raises:
        Refusal: The locator finds nothing.
    """
    start = screen.must_find(locator)[0] if locator else None
    as_data, ignored = bool(more.get("json")), set(locate_all(screen, more.get("ignore") or ()))
    entries = collect_entries(screen.tree, start, ignored) if start is not None or ignored else screen.entries
    in_scope = entries if scope == "page" else [entry for entry in entries if entry.is_in_view]
    kept = filter_entries([entry for entry in in_scope if entry.has_ref] if as_data else in_scope, query, roles)
    part = kept[offset:] if limit is None else kept[offset : offset + limit]
    answer: SnapshotAnswer = {
        "url": "", "title": screen.title,
        "lines": [] if as_data else _lines(screen, part, entries if not roles else kept),
        "total": len(kept), "shown": len(part), "frames": [],
        "outside": 0 if scope == "page" else len(matching_entries(_outside(entries, as_data=as_data), query, roles)),
    }  # fmt: skip
    if as_data:
        answer["elements"] = [_described(screen, entry) for entry in part]
    return answer


def _outside(entries: Sequence[OutlineEntry], *, as_data: bool) -> list[OutlineEntry]:
    return [entry for entry in entries if not entry.is_in_view and (entry.has_ref or not as_data)]


def boxes(screen: ScreenSnapshot, locators: Sequence[Locator]) -> BoxesAnswer:
    """Return the visible part of each match; a locator that matches nothing adds none.

    Raises:
        Refusal: A locator means nothing here.
    """
    parts = [node.visible_box for node in locate_all(screen, locators) if node.is_visible]
    return {"boxes": [part.sides() for part in parts], **screen.location}


def interactive_boxes(screen: ScreenSnapshot) -> MarkedAnswer:
    """Return the visible part of each element that can be acted on, by ref."""
    nodes = [entry.node for entry in screen.entries if entry.node.role in INTERACTIVE and entry.node.is_visible]
    return {"marks": [{"ref": screen.refs.ref(node), "box": node.visible_box.sides()} for node in nodes], "frames": []}


def locate_all(screen: ScreenSnapshot, locators: Sequence[Locator]) -> list[Node]:
    """Return all matches of these locators; one that matches nothing adds none.

    Raises:
        Refusal: A locator means nothing here.
    """
    found: list[Node] = []
    for locator in locators:
        try:
            found += screen.locate(locator)
        except Refusal as refusal:
            if refusal.answer["reason"] != "not_found":
                raise
    return found


def _lines(screen: ScreenSnapshot, part: Sequence[OutlineEntry], kept: Sequence[OutlineEntry]) -> list[str]:
    depths = depths_among(part, kept)
    return [f"{'  ' * depth}- {screen.line(entry.node)}" for entry, depth in zip(part, depths, strict=True)]


def _described(screen: ScreenSnapshot, entry: OutlineEntry) -> ElementFacts:
    node = entry.node
    facts: ElementFacts = {
        "ref": screen.refs.tell(node), "role": node.role, "name": shorten(node.name),
        "selector": screen.remote_locators.locator_for(node).selector,
    }  # fmt: skip
    if value := shorten(value_of(node)):
        facts["value"] = value
    if shown_states := states(node):
        facts["states"] = shown_states
    return facts


def text_of(tree: Tree, node: Node | None = None, ignored: Collection[Node] = ()) -> str:
    """Return the text on the screen, or in an element, a line for each piece; the caption of a toggle only once."""
    entries = collect_all_entries(tree, node, ignored)
    if not entries and node is not None:
        return node.text
    captions = {entry.node.label for entry in entries if entry.node.role == "text"}
    found = [entry.node for entry in entries if entry.node.role not in TOGGLES or entry.node.name not in captions]
    return "\n".join(text for each in found if (text := _written(each)))


def _written(node: Node) -> str:
    """Return the readable text of a node, its label and its value: no developer's id in place of a missing name."""
    if node.role not in _READ:
        return ""
    if node.label and node.value:
        return f"{node.label} {normalize_space(value_of(node))}"
    return node.text or (node.name if node.is_named_by_content and node.lead else "")


def masked(tree: Tree, node: Node) -> str:
    """Return a node's part of the source, with the values of password fields masked."""
    from lxml import etree  # noqa: PLC0415 — loads with the first screen, not with the server

    element = tree.element(node)
    secrets = [each for each in tree.inside(node) if each.secret and each.value]
    if secrets:
        element = deepcopy(element)
        copies = list(element.iter())
        for each in secrets:
            for name in ("value", "text"):
                if name in each.attributes:
                    copies[each.index - node.index].set(name, MASK)
    return etree.tostring(element, encoding="unicode", with_tail=False)
