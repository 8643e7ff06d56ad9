"""Scrolling in an app: a finger moves what scrolls, slowly enough that nothing flies on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.fingers import Direction, about, stroke, touch
from orchestrator.actions.frames import Box
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.actions.unmet import unmet

_STROKE_MS = 500
_SHARE = 0.7
"""Of what scrolls: the part that one stroke moves by at most."""
_SLOP = 2
"""Units by which a list gives way at its end, and comes back."""
_MOST = 200
"""Strokes of one search: nobody scrolls further."""
_OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}
_SIDEWAYS = frozenset({"left", "right"})
_NEARLY = 0.2
"""The share of a screen that may be missing where nobody said how far."""
_FINAL = frozenset({"ambiguous", "invalid", "stale"})


def scroll_to(scene: Scene, given: str, seconds: float) -> Acted:
    """Search for an element down to the end of what scrolls, then up.

    Raises:
        ElementNotFound, NotActionable, StaleRef, InvalidArgument: It did not come into view.
    """
    selector, deadline = scene.find.read(given), Deadline(seconds)
    locator = scene.find.locator(selector)
    directions: list[Direction] = ["down", "up"]
    direction = directions.pop(0)
    while True:
        answer = scene.ask("ready", locator=locator, need="visible", slice=0)
        if answer["ok"]:
            matches = int(answer.get("matches", 1))
            return Acted(matches=matches if matches > 1 else None)
        if answer.get("reason") in _FINAL or not deadline.left:
            break
        if _move(scene, scene.ask("scrollInfo", direction=direction), direction, None)[0]:
            continue
        if not directions:
            break
        direction = directions.pop(0)
    raise unmet(selector, answer, scene.record, deadline)


def scroll_by(scene: Scene, info: Mapping[str, Any], direction: Direction, pixels: int | None) -> Acted:
    """Scroll as far as is asked, or most of a screen, or to the end.

    Args:
        scene: The session.
        info: What scrolls, as `scrollInfo` tells it.
        direction: Where to: down shows what is further down.
        pixels: How far, in the driver's coordinates.
    """
    length = Box.of(info["box"]).size[0 if direction in _SIDEWAYS else 1]
    wanted = pixels or round(length * _SHARE)
    enough = wanted - (_SLOP if pixels else round(wanted * _NEARLY))
    done = lost = 0
    for _ in range(_MOST):
        # The first bit of a stroke moves nothing: until then it could be a tap.
        asked = min(wanted - done + lost, round(length * _SHARE))
        moved, info = _move(scene, info, direction, asked)
        done, lost = done + moved, max(asked - moved, 0)
        if not moved or done >= enough:
            break
    if not done:
        return Acted(warnings=[f"It is at its end already: nothing more to scroll {direction}."])
    return Acted(warnings=[f"Reached the end after {done} px."] if done < enough else [])


def _move(
    scene: Scene, info: Mapping[str, Any], direction: Direction, wanted: int | None
) -> tuple[int, Mapping[str, Any]]:
    """One stroke; how far it moved what scrolls, and how that stands now."""
    scene.check()
    box = Box.of(info["box"])
    length = box.size[0 if direction in _SIDEWAYS else 1] * _SHARE
    touch(scene, stroke(*about(box, _OPPOSITE[direction], min(length, wanted or length)), _STROKE_MS, rest=True))
    now = scene.ask("scrollInfo", direction=direction, key=info["key"])
    return _shift(info["places"], now["places"], direction), now


def _shift(before: Mapping[Any, Any], after: Mapping[Any, Any], direction: Direction) -> int:
    """How far most of what is there in both has moved; where nothing is, everything is new: all that was asked."""
    axis = 0 if direction in _SIDEWAYS else 1
    common = before.keys() & after.keys()
    moves = Counter(abs(round(before[key][axis] - after[key][axis])) for key in common)
    moved = max(((count, by) for by, count in moves.items() if by > _SLOP), default=None)
    if moved:
        return int(moved[1])
    return 0 if common or not after else 1
