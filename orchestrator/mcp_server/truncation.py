"""Truncates texts and data to a size: drops whole lines and items, and keeps the shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

ELLIPSIS = "…"
_SHORT = 60
"""Strings up to this length are names, codes and ids, which are never cut."""


def size(value: Any) -> int:
    """Return the number of characters of a JSON value on the wire."""
    return len(to_json(value).decode())


def truncate_text(text: str, room: int) -> str:
    """Return the beginning of a text, in whole lines if it has lines, with an ellipsis where it is cut."""
    if len(text) <= room:
        return text
    head = text[: max(room - 2, 0)]
    whole, newline, _ = head.rpartition("\n")
    shown = whole + newline if len(whole) > len(head) // 2 else head
    return (shown + ELLIPSIS)[: max(room, 0)]


def truncate_data(data: dict[str, Any], room: int) -> dict[str, Any]:
    """Return the object with its longest strings and lists shortened until it fits; `next` and `error` go last."""
    cut: dict[str, Any] = json.loads(json.dumps(data))
    note = {name: cut.pop(name) for name in ("next",) if name in cut}
    while (excess := size(cut | note) - room) > 0:
        if not _shorten(cut, excess):
            break
    cut |= note
    for name in sorted(cut, key=lambda name: (name in {"next", "error"}, -size(cut[name]))):
        if size(cut) > room:
            del cut[name]
    return cut


def _shorten(node: Any, excess: int) -> bool:
    """Remove about `excess` characters from the largest part; returns False if nothing is left to remove."""
    sizes = {place: size(node[place]) for place in (range(len(node)) if isinstance(node, list) else node)}
    heaviest = sorted(sizes, key=lambda place: -sizes[place])
    if isinstance(node, list) and node and sizes[heaviest[0]] * 2 < sum(sizes.values()):
        _drop(node, sizes, excess)
        return True
    for place in heaviest:
        child = node[place]
        if isinstance(child, str) and len(child) > _SHORT:
            node[place] = truncate_text(child, max(len(child) - excess, _SHORT))
            return True
        if isinstance(child, list | dict) and _shorten(child, excess):
            return True
    if isinstance(node, list) and node:
        _drop(node, sizes, excess)
        return True
    return False


def _drop(items: list[Any], sizes: Mapping[Any, int], excess: int) -> None:
    """Drop items from the end until `excess` characters are gone."""
    gone = 0
    while items and gone < excess:
        items.pop()
        gone += sizes[len(items)] + 1
