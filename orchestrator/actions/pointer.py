"""The mouse: real pointer and wheel events at an element's box (W3C Perform Actions)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.app_scrolling import scroll_by, scroll_to
from orchestrator.actions.base import ALL_TYPES, Acting, Action, Aimed
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import several
from orchestrator.actions.fingers import Direction, tapped, touch
from orchestrator.actions.hands import click_in_web_view, move, pointer
from orchestrator.actions.keys import KEYS
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.models import SessionType
from orchestrator.settings import ToolSet

Button = Literal["left", "middle", "right"]
Modifier = Literal["Alt", "Control", "Meta", "Shift"]
_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_SIGNS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_PAGEFUL = 0.8
"""How much of the visible part one scroll moves by, unless pixels are given."""
_SEARCH = 60_000
"""ms that an app is searched for, unless the caller says otherwise."""


class ClickElement(Aimed, Acting):
    """Click a button, link or any element; in an app it is a tap. Waits until it can be clicked."""

    verb: ClassVar[str] = "click_element"
    title: ClassVar[str] = "Click"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    observes: ClassVar[Observe] = "change"

    selector: str
    button: Button = "left"
    count: int = Field(default=1, ge=1, le=3, description="2 is a double click.")
    modifiers: list[Modifier] = Field(default_factory=list)

    def act(self, scene: Scene) -> Acted:
        """Find, wait and measure in one script call, then click in one command."""
        if scene.native:
            return self._tap(scene)
        button = _BUTTONS[self.button]
        press = [{"type": "pointerDown", "button": button}, {"type": "pointerUp", "button": button}]
        held = [KEYS[name] for name in self.modifiers]
        if scene.record.type is SessionType.IOS and [button, self.count, held] == [0, 1, []]:
            return click_in_web_view(scene, self.selector, self.timeout)
        with scene.element(self.selector, "point", self.timeout) as hit, scene.find.pointer(*hit.point) as point:
            pointer(scene, [move(*point), *press * self.count], held=held)
        return Acted(matches=hit.matches)

    def _tap(self, scene: Scene) -> Acted:
        if self.button != "left" or self.modifiers:
            raise Unsupported(
                "An app's screen has no mouse buttons and no modifiers.",
                hint="Use tap_element, with holdMs for a long press.",
            )
        with scene.element(self.selector, "point", self.timeout) as hit:
            touch(scene, tapped(hit.point, count=self.count))
        return Acted(matches=hit.matches)


class Hover(Aimed, Acting):
    """Move the mouse over an element, to open a menu or tooltip."""

    verb: ClassVar[str] = "hover"
    title: ClassVar[str] = "Hover"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "An app has no mouse: use tap_element, with holdMs for a long press."

    selector: str

    def act(self, scene: Scene) -> Acted:
        """Find, wait and measure in one script call, then move in one command."""
        with scene.element(self.selector, "point", self.timeout) as hit, scene.find.pointer(*hit.point) as point:
            pointer(scene, [move(*point)])
        return Acted(matches=hit.matches)


class Scroll(Aimed, Acting):
    """Scroll an element into view, or the page or what is inside an element in a direction."""

    verb: ClassVar[str] = "scroll"
    title: ClassVar[str] = "Scroll"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES

    selector: str | None = None
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
        """Bring it into view by script, or turn the wheel; in an app a finger does both."""
        if scene.native:
            return self._drag(scene)
        if self.direction is None:
            found = scene.find.locate(self.selector or "", "intoView", scene.seconds(self.timeout))
            return Acted(matches=several(found))
        if self.selector is None and scene.find.inside:
            asked = {"direction": self.direction}
            with scene.find.located(None, "scrollInfo", scene.seconds(self.timeout), **asked) as info:
                return self._wheel(scene, self.direction, info)
        if self.selector is None:
            return self._wheel(scene, self.direction, scene.ask("scrollInfo", direction=self.direction))
        with scene.element(self.selector, "visible", self.timeout) as hit:
            inside = {"by": "ref", "value": hit.facts["ref"]}
            report = self._wheel(
                scene, self.direction, scene.ask("scrollInfo", direction=self.direction, locator=inside)
            )
        return report.model_copy(update={"matches": hit.matches})

    def _drag(self, scene: Scene) -> Acted:
        if self.direction is None:
            usual = _SEARCH if self.timeout is None else self.timeout
            return scroll_to(scene, self.selector or "", scene.seconds(usual))
        direction, inside = self.direction, {}
        if self.selector is not None:
            with scene.element(self.selector, "visible", self.timeout) as hit:
                inside = {"locator": {"by": "ref", "value": hit.facts["ref"]}}
        return scroll_by(scene, direction, self.pixels, lambda: scene.ask("scrollInfo", direction=direction, **inside))

    def _wheel(self, scene: Scene, direction: Direction, info: dict[str, Any]) -> Acted:
        if info["atEnd"]:
            return Acted(warnings=[f"It is at its end already: nothing more to scroll {direction}."])
        across, down = _SIGNS[direction]
        pixels = self.pixels or round(info["page"][1 if down else 0] * _PAGEFUL)
        by = {"deltaX": across * pixels, "deltaY": down * pixels}
        # WebKitWebDriver's wheel moves a page once, and later late or never: it is scrolled by script there.
        if scene.browser == "webkitgtk":
            return self._rest(scene, direction, by=list(by.values()))
        with scene.find.pointer(info["x"], info["y"]) as (x, y):
            turn = {"type": "scroll", "x": x, "y": y, "duration": 0, "origin": "viewport", **by}
            scene.remote.execute("actions", actions=[{"type": "wheel", "id": "wheel", "actions": [turn]}])
        return self._rest(scene, direction)

    def _rest(self, scene: Scene, direction: Direction, **by: list[int]) -> Acted:
        slice_ms = Deadline(scene.seconds(self.timeout)).slice_ms()
        answer = scene.ask("scrolled", direction=direction, slice=slice_ms, **by)
        moved = round(answer.get("moved") or 0)
        if not moved:
            return Acted(warnings=["The wheel was turned and nothing moved: the page may handle it itself."])
        return Acted(warnings=[f"Reached the end after {moved} px."] if answer.get("atEnd") else [])


ACTIONS: list[type[Action[Any]]] = [ClickElement, Hover, Scroll]
