"""Answers what a screen shows: the outline as lines, its elements as data, and where they are for pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from orchestrator.snapshot.native.lines import states, value_of
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import INTERACTIVE, Node
from orchestrator.snapshot.native.outline import Entry, chosen, depths_among, survey
from orchestrator.snapshot.native.words import shown

Locator = Mapping[str, Any]


def snapshot(
    look: Look, scope: str = "viewport", locator: Locator | None = None, query: str | None = None,
    roles: Collection[str] = (), limit: int | None = None, offset: int = 0, **asked: Any,
) -> dict[str, Any]:  # fmt: skip
    """The lines or elements of the screen, or of the first match; `outside` counts what scrolling would show.

    Raises:
        Refusal: The locator finds nothing.
    """
    start = look.must_find(locator)[0] if locator else None
    ignored = set(matches(look, asked.get("ignore") or ()))
    entries = survey(look.tree, start, ignored) if start is not None or ignored else look.entries
    seen = entries if scope == "page" else [entry for entry in entries if entry.inside]
    kept = chosen([entry for entry in seen if entry.has_ref] if asked.get("json") else seen, query, roles)
    part = kept[offset:] if limit is None else kept[offset : offset + limit]
    listing: dict[str, Any]
    if asked.get("json"):
        listing = {"elements": [_described(look, entry) for entry in part]}
    else:
        listing = {"lines": _lines(look, part, entries if not roles else kept)}
    outside = 0 if scope == "page" else len(entries) - len(seen)
    return {**look.place, **listing, "total": len(kept), "shown": len(part), "outside": outside, "frames": []}


def boxes(look: Look, locators: Sequence[Locator]) -> dict[str, Any]:
    """The part of each match that can be seen; a locator that matches nothing has none.

    Raises:
        Refusal: A locator means nothing here.
    """
    parts = [node.part for node in matches(look, locators) if node.is_visible]
    return {"boxes": [part.data() for part in parts], **look.place}


def marked(look: Look) -> dict[str, Any]:
    """The part of each element that can be acted on which can be seen, by ref."""
    nodes = [entry.node for entry in look.entries if entry.node.role in INTERACTIVE and entry.node.is_visible]
    return {"marks": [{"ref": look.refs.ref(node), "box": node.part.data()} for node in nodes], "frames": []}


def shot(look: Look, node: Node | None) -> dict[str, Any]:
    """The size of the screen in the driver's coordinates; of an element its box, and what of it can be seen."""
    window = look.tree.window
    view = {"view": list(window.size), "scroll": [0, 0], "ratio": 1, **look.place}
    return view if node is None else {"box": node.box.data(), "part": node.part.data(), **view}


def matches(look: Look, locators: Sequence[Locator]) -> list[Node]:
    """All that these locators match; one that matches nothing has none.

    Raises:
        Refusal: A locator means nothing here.
    """
    found: list[Node] = []
    for locator in locators:
        try:
            found += look.locate(locator)
        except Refusal as refusal:
            if refusal.answer["reason"] != "not_found":
                raise
    return found


def _lines(look: Look, part: Sequence[Entry], kept: Sequence[Entry]) -> list[str]:
    depths = depths_among(part, kept)
    return [f"{'  ' * depth}- {look.line(entry.node)}" for entry, depth in zip(part, depths, strict=True)]


def _described(look: Look, entry: Entry) -> dict[str, Any]:
    node = entry.node
    facts = {
        "ref": look.refs.ref(node), "role": node.role, "name": shown(node.name),
        "value": shown(value_of(node)) or None, "states": states(node) or None,
        "selector": look.addresses.of(node).selector,
    }  # fmt: skip
    return {key: value for key, value in facts.items() if value is not None}
