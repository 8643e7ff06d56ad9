"""Finds what scrolls in a screen, and how far it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import Box, Node

_SIDEWAYS = frozenset({"left", "right"})
_SIDEWAYS_CLASSES = ("Horizontal", "ViewPager")
_NOTHING = {"x": 0, "y": 0, "before": [0, 0], "atEnd": True, "page": [0, 0]}


class Scroll:
    """One movement of what scrolls: where everything in it was before."""

    def __init__(self, look: Look, scroller: Node) -> None:
        self._scroller = scroller
        self._before = _places(look, scroller)

    def moved(self, look: Look, direction: str) -> dict[str, Any]:
        """How far it went, in the driver's units: as far as most of what is in it; no distance means the end."""
        scroller = look.tree.by_key.get(self._scroller.key)
        if scroller is None:
            return {"moved": 0, "atEnd": False, "gone": True}
        axis = 0 if direction in _SIDEWAYS else 1
        after = _places(look, scroller)
        shared = self._before.keys() & after.keys()
        steps = Counter(round(after[key][axis] - self._before[key][axis]) for key in shared)
        # What floats above the rest stays where it is: one thing that moved tells more than many that did not.
        steps.pop(0, None)
        if steps:
            moved = abs(steps.most_common(1)[0][0])
        else:
            moved = scroller.part.size[axis] if self._before.keys() != after.keys() else 0
        return {"moved": moved, "atEnd": moved == 0}


def scroller_for(look: Look, direction: str, locator: Mapping[str, Any] | None) -> Node | None:
    """What scrolls at an element: itself, the first in it, the nearest around it; without one the largest in view.

    Raises:
        Refusal: The locator finds nothing.
    """
    tree = look.tree
    if locator is not None:
        node = look.must_find(locator)[0]
        inside = next((each for each in tree.inside(node) if each.scrolls and each.is_visible), None)
        return inside or next((each for each in node.around() if each.scrolls), None)
    there = [node for node in tree.nodes if node.scrolls and node.is_visible]
    there = [node for node in there if _suits(node, direction)] or there
    if tree.modal is not None:
        there = [node for node in there if node.within(tree.modal)]
    return max(there, key=lambda node: node.part.size[0] * node.part.size[1], default=None)


def _suits(node: Node, direction: str) -> bool:
    """Whether its class says that it scrolls that way; most say nothing and scroll up and down."""
    return any(word in node.kind for word in _SIDEWAYS_CLASSES) == (direction in _SIDEWAYS)


def info(look: Look, scroller: Node | None) -> dict[str, Any]:
    """Where a finger moves it: the middle of what of it is in view, and how large that is."""
    if scroller is None:
        return {**_NOTHING, **look.place}
    x, y = scroller.part.centre
    page = list(scroller.part.size)
    return {
        "x": x, "y": y, "before": [0, 0], "atEnd": False, "page": page, "ref": look.refs.ref(scroller),
        "box": scroller.part.data(), **look.place,
    }  # fmt: skip


def _places(look: Look, scroller: Node) -> dict[int, Box]:
    return {node.key: node.box for node in look.tree.inside(scroller)[1:] if node.box.has_area}
