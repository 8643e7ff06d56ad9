"""Tells what scrolls on a screen, and where what is inside stands, so that it can be seen how far it moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import Box, Node


def scroll_info(
    look: Look, locator: Mapping[str, Any] | None = None, key: int | None = None, **_: Any
) -> dict[str, Any]:  # fmt: skip
    """The part of the screen in which a finger scrolls, its `key`, and the corner of each element inside by its key.

    It is the element of that `key`, what scrolls at or around or in the first match, or the largest part that does; the
    whole screen where nothing says that it scrolls.

    Raises:
        Refusal: The locator finds nothing.
    """
    start = look.must_find(locator)[0] if locator else None
    scroller = look.tree.by_key.get(key) if key is not None else None
    scroller = scroller or (_near(look, start) if start else None) or _largest(look.tree.nodes)
    inside = look.tree.nodes if scroller is None else look.tree.inside(scroller)[1:]
    there = [node for node in inside if node.box.has_area and not node.left_out]
    return {
        "ok": True, "box": _free(look, look.tree.window if scroller is None else scroller.part).data(),
        "key": None if scroller is None else scroller.key,
        "places": {node.key: node.box[:2] for node in there}, **look.place,
    }  # fmt: skip


def _near(look: Look, node: Node) -> Node | None:
    """The match itself, the nearest around it that scrolls, or the largest in it."""
    if node.scrolls:
        return node
    return _largest(look.tree.inside(node)) or next((each for each in node.around() if each.scrolls), None)


def _largest(nodes: list[Node]) -> Node | None:
    able = [node for node in nodes if node.scrolls and node.is_visible]
    return max(able, key=lambda node: node.part.size[0] * node.part.size[1], default=None)


def _free(look: Look, box: Box) -> Box:
    """What of it no keyboard covers."""
    keyboard = look.tree.keyboard
    if keyboard is None or not box.meet(keyboard.part).has_area:
        return box
    return box._replace(bottom=max(min(box.bottom, keyboard.part.top), box.top + 1))
