"""Touch: taps, long presses, swipes and pinches (W3C Perform Actions)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, APPS, Action, PressAction, Selector, SelectorAliases, WaitingPageAction
from orchestrator.automation.browser.finder import count_matches
from orchestrator.automation.browser.frames import ViewportRect
from orchestrator.automation.input import (
    PRESS,
    Direction,
    aimed_at,
    click_in_web_view,
    move,
    perform_pointer_actions,
    pinched,
    refusing_out_of_bounds,
    screen_area,
    stroke,
    stroke_points_by_share,
    tapped,
    touch,
)
from orchestrator.automation.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.models.results import Acted, Observe
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet
from orchestrator.snapshot.methods import SHOT

_PINCH_MS = 500


class TapElement(SelectorAliases, PressAction):
    """Tap (touch) an element or a point of the screen."""

    verb: ClassVar[str] = "tap_element"
    title: ClassVar[str] = "Tap"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "mobile"
    observes: ClassVar[Observe] = "change"

    selector: Selector | None = None
    x: int | None = Field(default=None, ge=0)
    y: int | None = Field(default=None, ge=0)
    count: int = Field(default=1, ge=1, le=3)
    hold_ms: int | None = Field(default=None, ge=1, le=10_000, description="A long press.")

    @model_validator(mode="after")
    def _one_aim(self) -> TapElement:
        if (self.x is None) != (self.y is None):
            raise ValueError("x and y belong together")
        if (self.selector is None) == (self.x is None):
            raise ValueError("give either selector, or x and y")
        return self

    def act(self, scene: Scene) -> Acted:
        """Find, wait and measure in one script call, then touch in one command.

        Chromium turns a touch into a click even without an emulated touch screen, but a long one into no context menu.
        """
        scene.require_ability("touch")
        if self.selector is None:
            x, y = self.x or 0, self.y or 0
            with refusing_out_of_bounds(x, y):
                self._tap(scene, x, y)
            return Acted()
        in_web_view = scene.record.type is SessionType.IOS and not scene.native
        if in_web_view and self.count == 1 and not self.hold_ms:
            return click_in_web_view(scene, self.selector, self.timeout)
        with aimed_at(scene, self.selector, self.timeout, "press") as aimed:
            self._tap(scene, *aimed.point)
        return Acted(matches=aimed.hit.matches)

    def _tap(self, scene: Scene, x: int, y: int) -> None:
        if scene.native:
            touch(scene, tapped((x, y), count=self.count, hold_ms=self.hold_ms))
            return
        down, up = PRESS
        held = [{"type": "pause", "duration": self.hold_ms}] if self.hold_ms else []
        perform_pointer_actions(scene, [move(x, y), *[down, *held, up] * self.count], kind="touch")


class Gesture(SelectorAliases, WaitingPageAction):
    """A gesture on the screen or on an element."""

    types: ClassVar[frozenset[SessionType]] = APPS
    observes: ClassVar[Observe] = "change"

    selector: Selector | None = None

    def act(self, scene: Scene) -> Acted:
        """Find and measure in one source of the screen, then move in one command."""
        if not scene.native:
            raise Unsupported(f"{self.verb} does not work in a web view.", hint="Use scroll, or switch_context first.")
        if self.selector is None:
            self.move(scene, screen_area(scene))
            return Acted()
        with scene.finder.querying_element(self.selector, SHOT, scene.seconds(self.timeout)) as found:
            self.move(scene, ViewportRect.from_sides(found["part"]))
        return Acted(matches=count_matches(found))

    def move(self, scene: Scene, area: ViewportRect) -> None:
        """Perform the gesture in this part of the screen."""


class Swipe(Gesture):
    """Swipe in an app; direction is the finger's: up scrolls down."""

    verb: ClassVar[str] = "swipe"
    title: ClassVar[str] = "Swipe"
    instead: ClassVar[str] = "Use scroll."
    toolset: ClassVar[ToolSet] = "mobile"

    direction: Direction
    percent: int = Field(default=60, ge=1, le=100)
    duration: int = Field(default=300, ge=1, le=10_000, description="In ms.")

    def move(self, scene: Scene, area: ViewportRect) -> None:
        """Move one finger."""
        touch(scene, stroke(*stroke_points_by_share(area, self.direction, self.percent / 100), self.duration))


class Pinch(Gesture):
    """Zoom with two fingers in an app: a scale above 1 zooms in, one below 1 out."""

    verb: ClassVar[str] = "pinch"
    title: ClassVar[str] = "Pinch"
    instead: ClassVar[str] = "Use press_keys with Control++ or Control+-."
    toolset: ClassVar[ToolSet] = "mobile"

    scale: float = Field(ge=0.1, le=10)

    def move(self, scene: Scene, area: ViewportRect) -> None:
        """Move two fingers."""
        touch(scene, *pinched(area, self.scale, _PINCH_MS))


ACTIONS: list[type[Action[Any]]] = [TapElement, Swipe, Pinch]
