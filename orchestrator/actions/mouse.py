"""The mouse: click, hover, scroll and drag."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, PressAction, Selector, SelectorAliases, WaitingPageAction
from orchestrator.automation.app_scrolling import scroll_by, scroll_to
from orchestrator.automation.browser.element_errors import expect_found
from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.browser.frames import FramePath
from orchestrator.automation.browser.settling import Opener
from orchestrator.automation.input import (
    PRESS,
    Aim,
    Direction,
    aimed_at,
    check_arrival,
    click_in_web_view,
    dragged,
    move,
    perform_pointer_actions,
    point_and_press,
    pointer_point,
    refusing_out_of_bounds,
    tapped,
    touch,
)
from orchestrator.automation.keys import KEYS
from orchestrator.automation.scene import Scene
from orchestrator.errors import DialogOpen, PlaceGone, Unsupported
from orchestrator.models.results import Acted, Observe
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.answers import ScrollInfoAnswer
from orchestrator.snapshot.methods import DROPPED, INTO_VIEW, PRESSED, SCROLL_INFO, SCROLLED
from orchestrator.snapshot.web.page import Interrupted
from orchestrator.system.deadline import Deadline

Button = Literal["left", "middle", "right"]
Modifier = Literal["Alt", "Control", "Meta", "Shift"]
_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_SIGNS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_PAGEFUL = 0.8
"""Share of the visible part that one scroll moves by, unless pixels are given."""
_SEARCH = 60_000
"""Default timeout of scrolling an app until an element is found, in ms."""

_NUDGE = 8
"""Pixels of a drag's first move: pages take less than about 5 for a click."""
_STEPS = 8
_CARRY_MS = 600
"""Milliseconds that a finger takes from start to end."""
_STEP_MS = 16
"""Milliseconds of one step: a frame, so that the page can move what follows the mouse."""


class ClickElement(SelectorAliases, PressAction):
    """Click an element (button, link) once it can be clicked, or tap it in an app."""

    verb: ClassVar[str] = "click_element"
    title: ClassVar[str] = "Click"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    observes: ClassVar[Observe] = "change"

    selector: Selector
    button: Button = "left"
    count: int = Field(default=1, ge=1, le=3, description="2 is a double click.")
    modifiers: list[Modifier] = Field(default_factory=list)
    scroll_to_view: bool = True

    def act(self, scene: Scene) -> Acted:
        """Find, wait and measure in one script call, then click."""
        if scene.native:
            return self._tap(scene)
        button = _BUTTONS[self.button]
        press = [{"type": "pointerDown", "button": button}, {"type": "pointerUp", "button": button}]
        held = [KEYS[name] for name in self.modifiers]
        if scene.record.type is SessionType.IOS and [button, self.count, held] == [0, 1, []]:
            return click_in_web_view(scene, self.selector, self.timeout, scrolls=self.scroll_to_view)
        with aimed_at(scene, self.selector, self.timeout, "press", scrolls=self.scroll_to_view) as aimed:
            point_and_press(scene, [move(*aimed.point), *press * self.count], held=held, aimed=aimed)
        return Acted(matches=aimed.hit.matches)

    def opener(self, observe: Observe) -> Opener | None:
        """A field that gets the focus, unless the click is a step: a sequence goes on, and each mark costs it time."""
        return None if observe == "none" else "field"

    def _tap(self, scene: Scene) -> Acted:
        if self.button != "left" or self.modifiers:
            raise Unsupported(
                "An app's own screen has no mouse buttons or modifiers.",
                hint="Use tap_element, with holdMs for a long press.",
            )
        with scene.element(self.selector, "point", self.timeout) as hit:
            touch(scene, tapped(hit.point, count=self.count))
        return Acted(matches=hit.matches)


class Hover(SelectorAliases, PressAction):
    """Move the mouse over an element, to open a menu or tooltip."""

    verb: ClassVar[str] = "hover"
    title: ClassVar[str] = "Hover"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "An app has no mouse: use tap_element, with holdMs for a long press."
    by_default: ClassVar[bool] = True
    observes: ClassVar[Observe] = "change"

    selector: Selector

    def opener(self, observe: Observe) -> Opener | None:
        """The pointer."""
        del observe
        return "pointer"

    def act(self, scene: Scene) -> Acted:
        """Find, wait and measure in one script call, then move."""
        with aimed_at(scene, self.selector, self.timeout, "hover") as aimed:
            point_and_press(scene, [move(*aimed.point)], aimed=aimed)
        return Acted(matches=aimed.hit.matches)


class Scroll(SelectorAliases, WaitingPageAction):
    """Scroll an element into view, or the page or an element in a direction."""

    verb: ClassVar[str] = "scroll"
    title: ClassVar[str] = "Scroll"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    by_default: ClassVar[bool] = True

    selector: Selector | None = None
    direction: Direction | None = None
    pixels: int | None = Field(default=None, ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _something(self) -> Scroll:
        if self.selector is None and self.direction is None:
            raise ValueError("give selector, direction, or both")
        if self.pixels is not None and self.direction is None:
            raise ValueError("pixels needs direction")
        return self

    def act(self, scene: Scene) -> Acted:
        """Scroll into view by script, or turn the wheel; in an app, swipe for both."""
        if scene.native:
            return self._drag(scene)
        if self.direction is None:
            found = scene.finder.query_element(self.selector or "", INTO_VIEW, scene.seconds(self.timeout))
            return Acted(matches=count_matches(found))
        if self.selector is None and scene.finder.is_inside_frame:
            asked = {"direction": self.direction}
            with scene.finder.querying_element(None, SCROLL_INFO, scene.seconds(self.timeout), **asked) as info:
                return self._wheel(scene, self.direction, info)
        if self.selector is None:
            return self._wheel(
                scene, self.direction, expect_found(scene.query_page(SCROLL_INFO, direction=self.direction))
            )
        with scene.element(self.selector, "visible", self.timeout) as hit:
            inside = {"by": "ref", "value": hit.facts["ref"]}
            report = self._wheel(
                scene,
                self.direction,
                expect_found(scene.query_page(SCROLL_INFO, direction=self.direction, locator=inside)),
            )
        return report.model_copy(update={"matches": hit.matches})

    def _drag(self, scene: Scene) -> Acted:
        if self.direction is None:
            timeout = _SEARCH if self.timeout is None else self.timeout
            return scroll_to(scene, self.selector or "", scene.seconds(timeout))
        direction, inside = self.direction, {}
        if self.selector is not None:
            with scene.element(self.selector, "visible", self.timeout) as hit:
                inside = {"locator": {"by": "ref", "value": hit.facts["ref"]}}
        return scroll_by(
            scene,
            direction,
            self.pixels,
            lambda: expect_found(scene.query_page(SCROLL_INFO, direction=direction, **inside)),
        )

    def _wheel(self, scene: Scene, direction: Direction, info: ScrollInfoAnswer) -> Acted:
        if info["atEnd"]:
            return Acted(warnings=[f"Already at the end: cannot scroll {direction} any further."])
        across, down = _SIGNS[direction]
        pixels = self.pixels or round(info["page"][1 if down else 0] * _PAGEFUL)
        by = {"deltaX": across * pixels, "deltaY": down * pixels}
        # WebKitWebDriver's wheel works once, later with delay or not at all: a script scrolls there.
        if scene.browser == "webkitgtk":
            return self._report(scene, direction, by=list(by.values()))
        with scene.finder.frames.pointer_point(info["x"], info["y"]) as (x, y):
            turn = {"type": "scroll", "x": x, "y": y, "duration": 0, "origin": "viewport", **by}
            scene.remote.execute("actions", actions=[{"type": "wheel", "id": "wheel", "actions": [turn]}])
        return self._report(scene, direction)

    def _report(self, scene: Scene, direction: Direction, **by: list[int]) -> Acted:
        slice_ms = Deadline(scene.seconds(self.timeout)).slice_ms()
        answer = scene.query_page(SCROLLED, direction=direction, slice=slice_ms, **by)
        moved = answer["moved"]
        if not moved:
            return Acted(warnings=["Nothing moved: the page may handle wheel events itself."])
        return Acted(warnings=[f"Reached the end after {moved} px."] if answer["atEnd"] else [])


@dataclass(frozen=True)
class _DragPoint:
    """The start or end of a drag, in the viewport of the document in which the pointer acts."""

    point: tuple[int, int]
    matches: int | None
    scrolled: bool
    frame: FramePath


class DragAndDrop(PressAction):
    """Drag an element and drop it on another or at a point: lists, sliders, drop zones."""

    verb: ClassVar[str] = "drag_and_drop"
    title: ClassVar[str] = "Drag and drop"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES

    source: Selector
    target: Selector | None = None
    x: int | None = Field(default=None, ge=0)
    y: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one_end(self) -> DragAndDrop:
        if (self.x is None) != (self.y is None):
            raise ValueError("x and y belong together")
        if (self.target is None) == (self.x is None):
            raise ValueError("give either target, or x and y")
        return self

    def act(self, scene: Scene) -> Acted:
        """Locate each end in one script call, then drag in one command; in two if both ends are never in view together.

        For elements with draggable=true, chromedriver fires the drag events itself, with the page's own dataTransfer.
        """
        if scene.native:
            return self._carry(scene, self._end(scene, self.source))
        source = self._end(scene, self.source, "hold")
        if self.target is None:
            return self._drag_to_point(scene, source, (self.x or 0, self.y or 0))
        target = self._end(scene, self.target)
        _check_one_document(scene, source.frame, target.frame)
        if target.scrolled:
            target = self._across(scene, target)
        else:
            steps = [*_grasp(source.point, target.point), *_carry(source.point, target.point)]
            _perform(scene, source.frame, steps)
        warnings = _end_drag(scene, source.frame, target.point)
        cover = None
        if not source.frame and not target.frame:
            cover = scene.query_page(PRESSED, drop=list(target.point)).get("cover")
        check_arrival(scene, source.frame)
        warnings += [f"The drop was taken by {cover}, in front of the target."] if cover else []
        return Acted(matches=source.matches or target.matches, warnings=warnings)

    def _drag_to_point(self, scene: Scene, source: _DragPoint, end: tuple[int, int]) -> Acted:
        _check_one_document(scene, source.frame, ())
        with refusing_out_of_bounds(*end):
            # Move there before pressing: a point outside the viewport is refused before the page gets events.
            perform_pointer_actions(scene, [move(*end), *_grasp(source.point, end), *_carry(source.point, end)])
        warnings = _end_drag(scene, source.frame, end)
        check_arrival(scene, source.frame)
        return Acted(matches=source.matches, warnings=warnings)

    def _carry(self, scene: Scene, source: _DragPoint) -> Acted:
        """Drag by finger in an app, beginning with a long press; both ends must be on the screen."""
        if self.target is None:
            end, matches = (self.x or 0, self.y or 0), None
        else:
            target = self._end(scene, self.target)
            end, matches = target.point, target.matches
        with refusing_out_of_bounds(*end):
            touch(scene, dragged(source.point, end, _CARRY_MS))
        return Acted(matches=source.matches or matches)

    def _across(self, scene: Scene, target: _DragPoint) -> _DragPoint:
        """Press the source, then scroll to the target with the button held."""
        start = self._end(scene, self.source, "hold").point
        _perform(scene, target.frame, _grasp(start, target.point))
        try:
            target = self._end(scene, self.target or "")
            _perform(scene, target.frame, _carry(start, target.point))
        except BaseException:
            scene.remote.execute("clearActionState")
            raise
        return target

    def _end(self, scene: Scene, selector: str, aim: Aim | None = None) -> _DragPoint:
        aimed: dict[str, Any] = {"aim": aim, "rest": scene.scope.rest} if aim else {}
        if aim and scene.browser == "firefox":
            aimed["carry"] = True  # see _end_drag
        with scene.element(selector, "point", self.timeout, **aimed) as hit:
            frames = scene.finder.frames
            return _DragPoint(
                frame=frames.current_path,
                point=pointer_point(scene, hit.point, aim),
                matches=hit.matches,
                scrolled=bool(hit.facts.get("scrolled")),
            )


def _perform(scene: Scene, frame: FramePath, steps: list[dict[str, Any]]) -> None:
    with scene.finder.frames.in_pointer_document(frame):
        perform_pointer_actions(scene, steps)


def _end_drag(scene: Scene, frame: FramePath, end: tuple[int, int]) -> list[str]:
    """End the page's drag at a point where the driver does not; returns a warning if there was one."""
    if scene.browser != "firefox":
        return []
    with scene.finder.frames.in_pointer_document(frame), suppress(Interrupted, PlaceGone, DialogOpen):
        if scene.web_page.call(DROPPED, point=list(end)).get("untrusted"):
            return ["Firefox's driver ends no drag: the page got its drop by events that are not trusted."]
    return []


def _check_one_document(scene: Scene, start: FramePath, end: FramePath) -> None:
    """Refuse a drag over the edge of a frame where the pointer does not cross it.

    Raises:
        Unsupported: It would have to.
    """
    if scene.finder.frames.holds_input and start != end:
        raise Unsupported(
            "Firefox's pointer does not cross the edge of a frame of another origin.",
            hint="Drag inside the frame or outside of it; or use Chrome or Edge.",
        )


def _grasp(start: tuple[int, int], end: tuple[int, int]) -> list[dict[str, Any]]:
    """Press at the start, and move a little towards the end."""
    across, down = (max(-_NUDGE, min(_NUDGE, last - first)) for first, last in zip(start, end, strict=True))
    return [move(*start), PRESS[0], move(start[0] + across, start[1] + down, _STEP_MS)]


def _carry(start: tuple[int, int], end: tuple[int, int]) -> list[dict[str, Any]]:
    """Move to the end in steps, rest there for one step, and release."""
    (x, y), (right, down) = start, (end[0] - start[0], end[1] - start[1])
    path = [(x + round(right * n / _STEPS), y + round(down * n / _STEPS)) for n in range(1, _STEPS + 1)]
    return [*(move(*point, _STEP_MS) for point in path), move(*end, _STEP_MS), PRESS[1]]


ACTIONS: list[type[Action[Any]]] = [ClickElement, Hover, Scroll, DragAndDrop]
