"""Gestures on an app's screen: swipes and pinches."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from orchestrator.actions.base import APPS, Acting, Action, Aimed
from orchestrator.actions.finding import several
from orchestrator.actions.fingers import Direction, across, pinched, screen_area, stroke, touch
from orchestrator.actions.frames import Box
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.models import SessionType


class Gesture(Aimed, Acting):
    """A movement of fingers over the screen, or over an element of it."""

    types: ClassVar[frozenset[SessionType]] = APPS
    observes: ClassVar[Observe] = "change"

    selector: str | None = None

    def act(self, scene: Scene) -> Acted:
        """Find and measure from one source, then move in one command."""
        if not scene.native:
            raise Unsupported(f"{self.verb} does not work in a web view.", hint="Use scroll, or switch_context first.")
        if self.selector is None:
            self.move(scene, screen_area(scene))
            return Acted()
        with scene.find.located(self.selector, "shot", scene.seconds(self.timeout)) as found:
            self.move(scene, Box.of(found["part"]))
        return Acted(matches=several(found))

    def move(self, scene: Scene, area: Box) -> None:
        """Move over this part of the screen."""


class Swipe(Gesture):
    """Swipe in an app; direction is the finger's: up shows what is further down."""

    verb: ClassVar[str] = "swipe"
    title: ClassVar[str] = "Swipe"
    instead: ClassVar[str] = "Use scroll."

    direction: Direction
    percent: int = Field(default=60, ge=1, le=100)
    duration: int = Field(default=300, ge=1, le=10_000, description="In ms.")

    def move(self, scene: Scene, area: Box) -> None:
        """One finger."""
        touch(scene, stroke(*across(area, self.direction, self.percent / 100), self.duration))


class Pinch(Gesture):
    """Zoom with two fingers in an app: a scale above 1 zooms in, one below 1 out."""

    verb: ClassVar[str] = "pinch"
    title: ClassVar[str] = "Pinch"
    instead: ClassVar[str] = "Use press_keys with Control++ or Control+-."

    scale: float = Field(ge=0.1, le=10)

    def move(self, scene: Scene, area: Box) -> None:
        """Two fingers."""
        touch(scene, *pinched(area, self.scale, _PINCH_MS))


_PINCH_MS = 500

ACTIONS: list[type[Action[Any]]] = [Swipe, Pinch]
