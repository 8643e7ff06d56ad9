"""The finger: real touch events (W3C Perform Actions with a pointer of type touch)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Acting, Action, Aimed
from orchestrator.actions.fingers import tapped, touch
from orchestrator.actions.hands import PRESS, click_in_web_view, given_point, move, pointer
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.scene import Scene
from orchestrator.models import SessionType


class TapElement(Aimed, Acting):
    """Tap (touch) an element or a point of the screen."""

    verb: ClassVar[str] = "tap_element"
    title: ClassVar[str] = "Tap"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    observes: ClassVar[Observe] = "change"

    selector: str | None = None
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

        Chromium makes a click of a touch even where no touch screen is emulated, and no context menu of a long one.
        """
        scene.need("touch")
        if self.selector is None:
            x, y = self.x or 0, self.y or 0
            with given_point(x, y):
                self._tap(scene, x, y)
            return Acted()
        in_web_view = scene.record.type is SessionType.IOS and not scene.native
        if in_web_view and self.count == 1 and not self.hold_ms:
            return click_in_web_view(scene, self.selector, self.timeout)
        with scene.element(self.selector, "point", self.timeout) as hit, scene.find.pointer(*hit.point) as point:
            self._tap(scene, *point)
        return Acted(matches=hit.matches)

    def _tap(self, scene: Scene, x: int, y: int) -> None:
        if scene.native:
            touch(scene, tapped((x, y), count=self.count, hold_ms=self.hold_ms))
            return
        down, up = PRESS
        held = [{"type": "pause", "duration": self.hold_ms}] if self.hold_ms else []
        pointer(scene, [move(x, y), *[down, *held, up] * self.count], kind="touch")


ACTIONS: list[type[Action[Any]]] = [TapElement]
