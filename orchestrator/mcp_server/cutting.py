"""Brings texts and data down to a size: whole lines and items go, what is left keeps its shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

ELLIPSIS = "…"
_SHORT = 60
"""Strings up to this length are names, codes and ids: they are never cut."""


def size(value: Any) -> int:
    """How many characters a JSON value has on the wire."""
    return len(to_json(value).decode())


def cut_text(text: str, room: int) -> str:
    """The beginning of a text, in whole lines where it has lines, and an ellipsis where something is missing."""
    if len(text) <= room:
        return text
    head = text[: max(room - 2, 0)]
    whole, newline, _ = head.rpartition("\n")
    shown = whole + newline if len(whole) > len(head) // 2 else head
    return (shown + ELLIPSIS)[: max(room, 0)]


def cut_data(data: dict[str, Any], room: int) -> dict[str, Any]:
    """The same object with its longest strings and lists shortened until it fits; `next` and `error` go last."""
    cut: dict[str, Any] = json.loads(json.dumps(data))
    told = {name: cut.pop(name) for name in ("next",) if name in cut}
    while (excess := size(cut | told) - room) > 0:
        if not _shorten(cut, excess):
            break
    cut |= told
    for name in sorted(cut, key=lambda name: (name in {"next", "error"}, -size(cut[name]))):
        if size(cut) > room:
            del cut[name]
    return cut


def _shorten(node: Any, excess: int) -> bool:
    """Take about so many characters away where most of them are; False when there is nothing left to take."""
    sizes = {place: size(node[place]) for place in (range(len(node)) if isinstance(node, list) else node)}
    heaviest = sorted(sizes, key=lambda place: -sizes[place])
    if isinstance(node, list) and node and sizes[heaviest[0]] * 2 < sum(sizes.values()):
        _drop(node, sizes, excess)
        return True
    for place in heaviest:
        child = node[place]
        if isinstance(child, str) and len(child) > _SHORT:
            node[place] = cut_text(child, max(len(child) - excess, _SHORT))
            return True
        if isinstance(child, list | dict) and _shorten(child, excess):
            return True
    if isinstance(node, list) and node:
        _drop(node, sizes, excess)
        return True
    return False


def _drop(items: list[Any], sizes: Mapping[Any, int], excess: int) -> None:
    """Drop items from the end until so many characters are gone."""
    gone = 0
    while items and gone < excess:
        items.pop()
        gone += sizes[len(items)] + 1
