"""Dragging: the mouse goes from one place to another with its button held, in steps that pages can follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Acting, Action
from orchestrator.actions.fingers import dragged, touch
from orchestrator.actions.hands import PRESS, at_top, given_point, move, pointer
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.models import SessionType

_NUDGE = 8
"""Pixels by which the mouse first moves: pages that tell a drag from a click wait for about 5."""
_STEPS = 8
_CARRY_MS = 600
"""How long a finger takes for the way."""
_STEP_MS = 16
"""One frame each: what follows the mouse is moved between two of them."""


@dataclass(frozen=True)
class _End:
    """Where a drag begins or ends, in the top document's viewport."""

    point: tuple[int, int]
    matches: int | None
    scrolled: bool


class DragAndDrop(Acting):
    """Drag an element and drop it on another or at a point: lists, sliders, drop zones."""

    verb: ClassVar[str] = "drag_and_drop"
    title: ClassVar[str] = "Drag and drop"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES

    source: str
    target: str | None = None
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
        """One script call an end, then one command; one more of each where both ends are never in view together.

        Of an element with draggable=true chromedriver makes the drag events itself, with the page's own dataTransfer.
        """
        source = self._end(scene, self.source)
        if scene.native:
            return self._carry(scene, source)
        if self.target is None:
            end = (self.x or 0, self.y or 0)
            with given_point(*end):
                # First there without a press: a point outside the viewport is refused before the page sees one.
                pointer(scene, [move(*end), *_grasp(source.point, end), *_carry(source.point, end)])
            return Acted(matches=source.matches)
        target = self._end(scene, self.target)
        if target.scrolled:
            target = self._across(scene, target)
        else:
            pointer(scene, [*_grasp(source.point, target.point), *_carry(source.point, target.point)])
        return Acted(matches=source.matches or target.matches)

    def _carry(self, scene: Scene, source: _End) -> Acted:
        """A finger lifts it by a long press; both ends must be on the screen."""
        if self.target is None:
            end, matches = (self.x or 0, self.y or 0), None
        else:
            target = self._end(scene, self.target)
            end, matches = target.point, target.matches
        with given_point(*end):
            touch(scene, dragged(source.point, end, _CARRY_MS))
        return Acted(matches=source.matches or matches)

    def _across(self, scene: Scene, target: _End) -> _End:
        """Press the source, then scroll to the target with the button held."""
        start = self._end(scene, self.source).point
        pointer(scene, _grasp(start, target.point))
        try:
            target = self._end(scene, self.target or "")
            pointer(scene, _carry(start, target.point))
        except BaseException:
            scene.remote.execute("clearActionState")
            raise
        return target

    def _end(self, scene: Scene, selector: str) -> _End:
        with scene.element(selector, "point", self.timeout) as hit:
            return _End(at_top(scene, hit.point), hit.matches, scrolled=bool(hit.facts.get("scrolled")))


def _grasp(start: tuple[int, int], end: tuple[int, int]) -> list[dict[str, Any]]:
    """Press, and move a little towards the end."""
    across, down = (max(-_NUDGE, min(_NUDGE, there - here)) for here, there in zip(start, end, strict=True))
    near = move(start[0] + across, start[1] + down, _STEP_MS)
    return [move(*start), PRESS[0], near]


def _carry(start: tuple[int, int], end: tuple[int, int]) -> list[dict[str, Any]]:
    """Go there in steps, rest there for one, and let go."""
    (x, y), (right, down) = start, (end[0] - start[0], end[1] - start[1])
    way = [(x + round(right * n / _STEPS), y + round(down * n / _STEPS)) for n in range(1, _STEPS + 1)]
    return [*(move(*point, _STEP_MS) for point in way), move(*end, _STEP_MS), PRESS[1]]


ACTIONS: list[type[Action[Any]]] = [DragAndDrop]
