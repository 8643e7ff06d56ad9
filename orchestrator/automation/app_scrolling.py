"""Scroll in an app, by drags slow enough not to fling."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.automation.browser.element_errors import element_error, expect_found
from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.browser.frames import ViewportRect
from orchestrator.automation.input import Direction, stroke, stroke_points_by_length, touch
from orchestrator.automation.scene import Scene
from orchestrator.models.results import Acted
from orchestrator.snapshot.answers import ScrollInfoAnswer
from orchestrator.snapshot.methods import READY, SCROLL_INFO, SCROLLED, is_refused
from orchestrator.system.deadline import Deadline

_STROKE_MS = 500
_SHARE = 0.7
"""Share of the scrollable area that one stroke moves by at most."""
_TOLERANCE = 0.05
"""Share of the requested pixels that may be missing: strokes are no more exact."""
_REST_MS = 1000
"""Limit of the wait for the content to come to rest."""
_OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}
_SIDEWAYS = frozenset({"left", "right"})
_LOOSE_TOLERANCE = 0.2
"""Share of a screen that may be missing if no distance was requested."""
_FINAL = frozenset({"ambiguous", "changed", "invalid", "stale"})


def scroll_to(scene: Scene, given: str, seconds: float) -> Acted:
    """Scroll until the element is in view: down to the end, then up.

    Raises:
        ElementNotFound, NotActionable, StaleRef, InvalidArgument: The element did not come into view.
    """
    selector, deadline = scene.finder.parse_selector(given), Deadline(seconds)
    locator = scene.finder.build_locator(selector)
    directions: list[Direction] = ["down", "up"]
    direction = directions.pop(0)
    while True:
        answer = scene.query_page(READY, locator=locator, need="visible", slice=0)
        if not is_refused(answer):
            return Acted(matches=count_matches(expect_found(answer)))
        if answer["reason"] in _FINAL or not deadline.seconds_left:
            break
        info = expect_found(scene.query_page(SCROLL_INFO, direction=direction))
        if _move(scene, info, direction, _stroke_length(info, direction)):
            continue
        if not directions:
            break
        direction = directions.pop(0)
    raise element_error(selector, answer, scene.record, deadline)


def scroll_by(scene: Scene, direction: Direction, pixels: int | None, measure: Callable[[], ScrollInfoAnswer]) -> Acted:
    """Scroll by the given distance or most of a screen, at most to the end.

    Args:
        scene: The session.
        direction: The direction; down reveals content further down.
        pixels: The distance in the driver's coordinates; most of a screen unless given.
        measure: Returns the scrollable area as `scrollInfo` does, and restarts the count of moved pixels.
    """
    info = measure()
    most = _stroke_length(info, direction)
    wanted = pixels or most
    enough = wanted - round(wanted * (_TOLERANCE if pixels else _LOOSE_TOLERANCE))
    done = lost = 0
    while most and done < enough:
        # The first few pixels of a stroke move nothing: up to there it could be a tap.
        length = min(wanted - done + lost, most)
        moved = _move(scene, info, direction, length)
        if not moved:
            break
        done, lost = done + moved, max(length - moved, 0)
        info = measure()
    if not done:
        return Acted(warnings=[f"Already at the end: cannot scroll {direction} any further."])
    return Acted(warnings=[f"Reached the end after {done} px."] if done < enough else [])


def _stroke_length(info: ScrollInfoAnswer, direction: Direction) -> int:
    """The longest stroke in the scrollable area; 0 if nothing scrolls."""
    return round(info["page"][0 if direction in _SIDEWAYS else 1] * _SHARE)


def _move(scene: Scene, info: ScrollInfoAnswer, direction: Direction, length: int) -> int:
    """Move by one stroke; returns the pixels that the content moved by."""
    scene.check()
    box = info.get("box")
    if not length or box is None:
        return 0
    touch(
        scene,
        stroke(
            *stroke_points_by_length(ViewportRect.from_sides(box), _OPPOSITE[direction], length),
            _STROKE_MS,
            rest=True,
        ),
    )
    return scene.query_page(SCROLLED, direction=direction, slice=_REST_MS)["moved"]
