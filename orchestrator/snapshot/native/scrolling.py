"""Finds the part of a screen that scrolls, and measures how far it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from orchestrator.snapshot.answers import ScrolledAnswer, ScrollInfoAnswer
from orchestrator.snapshot.native.node import Node, ScreenBox
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot

_SIDEWAYS = frozenset({"left", "right"})
_SIDEWAYS_CLASSES = ("Horizontal", "ViewPager")


class ScrollMovement:
    """A movement of a scrollable element, with the earlier positions of everything in it."""

    def __init__(self, screen: ScreenSnapshot, scroller: Node) -> None:
        self._scroller = scroller
        self._before = _positions(screen, scroller)

    def measure_distance(self, screen: ScreenSnapshot, direction: str) -> ScrolledAnswer:
        """Return how far it went, in the driver's units: as far as most of its content; 0 at the end."""
        scroller = screen.tree.by_key.get(self._scroller.key)
        if scroller is None:
            return {"moved": 0, "atEnd": False, "gone": True}
        axis = 0 if direction in _SIDEWAYS else 1
        after = _positions(screen, scroller)
        shared = self._before.keys() & after.keys()
        steps = Counter(round(after[key][axis] - self._before[key][axis]) for key in shared)
        # What floats above the rest stays in place: one element that moved proves more than many that did not.
        steps.pop(0, None)
        if steps:
            moved = abs(steps.most_common(1)[0][0])
        else:
            moved = scroller.visible_box.size[axis] if self._before.keys() != after.keys() else 0
        return {"moved": moved, "atEnd": moved == 0}


def scroller_for(screen: ScreenSnapshot, direction: str, locator: Mapping[str, Any] | None) -> Node | None:
    """Return what scrolls at an element: the first in it, else the nearest around it; without a locator the largest.

    Raises:
        Refusal: The locator finds nothing.
    """
    tree = screen.tree
    if locator is not None:
        node = screen.must_find(locator)[0]
        inside = next((each for each in tree.inside(node) if each.scrolls and each.is_visible), None)
        return inside or next((each for each in node.ancestors() if each.scrolls), None)
    scrollers = [node for node in tree.nodes if node.scrolls and node.is_visible]
    scrollers = [node for node in scrollers if _suits(node, direction)] or scrollers
    if tree.modal is not None:
        scrollers = [node for node in scrollers if node.within(tree.modal)]
    return max(scrollers, key=lambda node: node.visible_box.size[0] * node.visible_box.size[1], default=None)


def _suits(node: Node, direction: str) -> bool:
    """True if its class scrolls along this direction; most classes do not name one and scroll up and down."""
    return any(word in node.class_name for word in _SIDEWAYS_CLASSES) == (direction in _SIDEWAYS)


def scroll_info(screen: ScreenSnapshot, scroller: Node | None) -> ScrollInfoAnswer:
    """Return the point where a finger moves it, the middle of its visible part, and the size of that part."""
    if scroller is None:
        return {"x": 0, "y": 0, "before": [0, 0], "atEnd": True, "page": [0, 0]}
    x, y = scroller.visible_box.centre
    page = list(scroller.visible_box.size)
    return {
        "x": x, "y": y, "before": [0, 0], "atEnd": False, "page": page, "ref": screen.refs.ref(scroller),
        "box": scroller.visible_box.sides(),
    }  # fmt: skip


def _positions(screen: ScreenSnapshot, scroller: Node) -> dict[int, ScreenBox]:
    return {node.key: node.box for node in screen.tree.inside(scroller)[1:] if node.box.has_area}
