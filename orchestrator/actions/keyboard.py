"""The keyboard: filling fields and pressing keys, with input events that the page can trust."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.base import Acting, Action, Aimed
from orchestrator.actions.filling import fill
from orchestrator.actions.hands import press
from orchestrator.actions.keys import KEYS, chords, key_actions
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.scene import Scene
from orchestrator.settings import ToolSet


class SetValue(Aimed, Acting):
    """Fill in (type, input, enter text) a field or editor, or set a checkbox, radio, select, date, color or slider.

    Replaces what is there; checkboxes take true or false, dates ISO format.
    """

    verb: ClassVar[str] = "set_value"
    title: ClassVar[str] = "Fill in"
    toolset: ClassVar[ToolSet] = "core"
    idempotent: ClassVar[bool] = True

    selector: str
    value: str = Field(repr=False, coerce_numbers_to_str=True)
    submit: bool = Field(default=False, description="Press Enter afterwards.")
    keystrokes: bool = Field(default=False, description="Type each character with key events.")

    @model_validator(mode="before")
    @classmethod
    def _forgive_text(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if "text" in data and "value" not in data:
            data = {**{key: item for key, item in data.items() if key != "text"}, "value": data["text"]}
        if isinstance(data.get("value"), bool):
            data = {**data, "value": str(data["value"]).lower()}
        return data

    def default_observe(self) -> Observe:
        """Submitting a form changes the page."""
        return "change" if self.submit else "none"

    def act(self, scene: Scene) -> Acted:
        """Focus and select in one script call, type in one command, read back in a third."""
        with scene.element(self.selector, "fill", self.timeout, value=self.value, handle=True) as hit:
            if hit.kind == "password":
                scene.redactor.add(self.value)
            held, warnings = fill(scene, hit, self.value, keystrokes=self.keystrokes)
            if self.submit:
                press(scene, [[KEYS["Enter"]]])
            elif scene.find.at_top:
                scene.remember(held)
                return Acted(matches=hit.matches, warnings=warnings, url=held["url"], title=held["title"])
        return Acted(matches=hit.matches, warnings=warnings)


class PressKeys(Aimed, Acting):
    """Press a key or a combination such as Enter, Control+A or Tab Tab Enter."""

    verb: ClassVar[str] = "press_keys"
    title: ClassVar[str] = "Press keys"
    toolset: ClassVar[ToolSet] = "core"
    observes: ClassVar[Observe] = "change"

    keys: str = Field(min_length=1, max_length=1000)
    selector: str | None = Field(default=None, description="Focus this first.")

    @model_validator(mode="after")
    def _known(self) -> PressKeys:
        chords(self.keys)
        return self

    def act(self, scene: Scene) -> Acted:
        """Press them in one command."""
        pressed = key_actions(chords(self.keys))
        if self.selector is None:
            scene.remote.execute("actions", actions=pressed)
            return Acted()
        with scene.element(self.selector, "focus", self.timeout) as hit:
            scene.remote.execute("actions", actions=pressed)
        return Acted(matches=hit.matches)


ACTIONS: list[type[Action[Any]]] = [SetValue, PressKeys]
