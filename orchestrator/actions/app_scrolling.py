"""Scrolling in an app: a finger moves what scrolls, slowly enough that nothing flies on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import several
from orchestrator.actions.fingers import Direction, about, stroke, touch
from orchestrator.actions.frames import Box
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.actions.unmet import unmet

_STROKE_MS = 500
_SHARE = 0.7
"""Of what scrolls: the part that one stroke moves by at most."""
_CLOSELY = 0.05
"""The share of what was asked for that may be missing: fingers are not more exact."""
_REST_MS = 1000
"""How long what was moved may take until it is at rest."""
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
            return Acted(matches=several(answer))
        if answer.get("reason") in _FINAL or not deadline.left:
            break
        info = scene.ask("scrollInfo", direction=direction)
        if _move(scene, info, direction, _stroke_length(info, direction)):
            continue
        if not directions:
            break
        direction = directions.pop(0)
    raise unmet(selector, answer, scene.record, deadline)


def scroll_by(scene: Scene, direction: Direction, pixels: int | None, look: Callable[[], Mapping[str, Any]]) -> Acted:
    """Scroll as far as is asked, or most of a screen, or to the end.

    Args:
        scene: The session.
        direction: Where to: down shows what is further down.
        pixels: How far, in the driver's coordinates.
        look: Tells what scrolls, as `scrollInfo` does, and counts what moves from then on.
    """
    info = look()
    most = _stroke_length(info, direction)
    wanted = pixels or most
    enough = wanted - round(wanted * (_CLOSELY if pixels else _NEARLY))
    done = lost = 0
    while most and done < enough:
        # The first bit of a stroke moves nothing: until then it could be a tap.
        asked = min(wanted - done + lost, most)
        moved = _move(scene, info, direction, asked)
        if not moved:
            break
        done, lost = done + moved, max(asked - moved, 0)
        info = look()
    if not done:
        return Acted(warnings=[f"It is at its end already: nothing more to scroll {direction}."])
    return Acted(warnings=[f"Reached the end after {done} px."] if done < enough else [])


def _stroke_length(info: Mapping[str, Any], direction: Direction) -> int:
    """How long a stroke may be in what scrolls; 0 where nothing does."""
    return round(float(info["page"][0 if direction in _SIDEWAYS else 1]) * _SHARE)


def _move(scene: Scene, info: Mapping[str, Any], direction: Direction, length: int) -> int:
    """One stroke; how far it moved what scrolls."""
    scene.check()
    if not length:
        return 0
    touch(scene, stroke(*about(Box.of(info["box"]), _OPPOSITE[direction], length), _STROKE_MS, rest=True))
    return round(float(scene.ask("scrolled", direction=direction, slice=_REST_MS)["moved"]))
