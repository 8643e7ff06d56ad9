"""The keyboard: filling fields and pressing keys, with input events that the page can trust."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.app_filling import fill_control
from orchestrator.actions.base import ALL_TYPES, Acting, Action, Aimed
from orchestrator.actions.device_keys import press_device_keys
from orchestrator.actions.filling import fill
from orchestrator.actions.fingers import tapped, touch
from orchestrator.actions.keys import DEVICE_KEYS, KEYS, key_actions, named_chords
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.models import SessionType
from orchestrator.secrets import MASK
from orchestrator.settings import ToolSet

_DEVICE_ALONE = DEVICE_KEYS - {"HOME"}
"""Those that no keyboard has."""


def _types(chord: list[str]) -> bool:
    """Whether it writes a character."""
    return len(chord[-1]) == 1 and {*chord[:-1]} <= {"Shift"}


def press_names(scene: Scene, pressed: list[list[str]]) -> None:
    """Press chords of key names, where the session takes its keys.

    Raises:
        Unsupported: It has no such key.
    """
    if scene.native:
        press_device_keys(scene, pressed)
        return
    if unknown := DEVICE_KEYS & {name for chord in pressed for name in chord}:
        raise Unsupported(
            f"{min(unknown)} is a key of phones, and this session shows a page.",
            hint="To go back: navigate with history back. In an app's web view: switch_context to NATIVE_APP first.",
        )
    scene.remote.execute(
        "actions", actions=key_actions([[KEYS.get(name, name) for name in chord] for chord in pressed])
    )


class SetValue(Aimed, Acting):
    """Fill in (type, input, enter text) a field or editor, or set a checkbox, radio, select, date, color or slider.

    Replaces what is there; checkboxes take true or false, dates ISO format.
    """

    verb: ClassVar[str] = "set_value"
    title: ClassVar[str] = "Fill in"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    idempotent: ClassVar[bool] = True

    selector: str
    value: str = Field(repr=False, coerce_numbers_to_str=True)
    submit: bool = Field(default=False, description="Press Enter afterwards.")
    keystrokes: bool = Field(default=False, description="Key events for each character.")

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
            way = fill_control if scene.native else fill
            filled = way(scene, hit, self.value, keystrokes=self.keystrokes)
            held, warnings = filled or ({}, [])
            if self.submit:
                press_names(scene, [["Enter"]])
            elif filled and scene.find.at_top:
                scene.remember(held)
                return Acted(matches=hit.matches, warnings=warnings, url=held["url"], title=held["title"])
        return Acted(matches=hit.matches, warnings=warnings)


class PressKeys(Aimed, Acting):
    """Press keys such as Enter, Control+A or Tab Tab Enter; in an app also BACK and HOME."""

    verb: ClassVar[str] = "press_keys"
    title: ClassVar[str] = "Press keys"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    observes: ClassVar[Observe] = "change"

    keys: str = Field(min_length=1, max_length=1000)
    selector: str | None = None

    def told(self) -> dict[str, Any]:
        """Without the characters that are typed: they may be those of a password."""
        pressed = named_chords(self.keys, device=True)
        return {**super().told(), "keys": " ".join(MASK if _types(chord) else "+".join(chord) for chord in pressed)}

    @model_validator(mode="after")
    def _known(self) -> PressKeys:
        named_chords(self.keys, device=True)
        return self

    def act(self, scene: Scene) -> Acted:
        """Press them in one command; in an app one each, since there they are the device's."""
        pressed = named_chords(self.keys, device=scene.native or bool(_DEVICE_ALONE & {*self.keys.upper().split()}))
        if self.selector is None:
            press_names(scene, pressed)
            return Acted()
        with scene.element(self.selector, "focus", self.timeout) as hit:
            if scene.native and not hit.facts["focused"]:
                touch(scene, tapped(hit.point))
            press_names(scene, pressed)
        return Acted(matches=hit.matches)


ACTIONS: list[type[Action[Any]]] = [SetValue, PressKeys]
