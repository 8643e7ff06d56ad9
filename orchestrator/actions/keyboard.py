"""The keyboard: filling fields and pressing keys, with input events that the page can trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.base import Acting, Action, Aimed
from orchestrator.actions.finding import Hit
from orchestrator.actions.keys import KEYS, chords, key_actions
from orchestrator.actions.results import Acted, Observe
from orchestrator.actions.scene import Scene
from orchestrator.errors import NotActionable, quoted

_CHROMIUM = frozenset({"chrome", "chromium", "msedge", "MicrosoftEdge", "chrome-headless-shell"})
_KEYS_AT_ONCE = 100
"""Characters that one Perform Actions command types, so that none of them comes near the command deadline."""
_OPTION = "return arguments[0].options[arguments[1]]"
_TEXT_KINDS = frozenset({"text", "password", "textarea"})


class SetValue(Aimed, Acting):
    """Fill in a text field (type, input, enter text), or choose an option of a select by value or label.

    Replaces what is there.
    """

    verb: ClassVar[str] = "set_value"
    title: ClassVar[str] = "Fill in"
    idempotent: ClassVar[bool] = True

    selector: str
    value: str = Field(repr=False, coerce_numbers_to_str=True)
    submit: bool = Field(default=False, description="Press Enter afterwards.")
    keystrokes: bool = Field(default=False, description="Type each character with key events.")

    @model_validator(mode="before")
    @classmethod
    def _forgive_text(cls, data: Any) -> Any:
        if isinstance(data, dict) and "text" in data and "value" not in data:
            return {**{key: item for key, item in data.items() if key != "text"}, "value": data["text"]}
        return data

    def default_observe(self) -> Observe:
        """Submitting a form changes the page."""
        return "change" if self.submit else "none"

    def act(self, scene: Scene) -> Acted:
        """Focus and select in one script call, type in one command, read back in a third."""
        with scene.element(self.selector, "fill", self.timeout, option=self.value, handle=True) as hit:
            if hit.kind == "password":
                scene.redactor.add(self.value)
            if hit.kind == "select":
                self._choose(scene, hit)
            elif hit.kind in _TEXT_KINDS:
                self._type(scene, hit)
            else:
                raise NotActionable(
                    f"{quoted(self.selector)} is a {hit.kind}, which set_value cannot fill.",
                    hint="It fills text fields and selects; use click_element for the rest.",
                )
            held = scene.ask("verify", value=self.value)
            warnings = [] if held["same"] else [_changed(held, hit)]
            if self.submit:
                _press(scene, [[KEYS["Enter"]]])
            elif scene.find.at_top:
                scene.remember(held)
                return Acted(matches=hit.matches, warnings=warnings, url=held["url"], title=held["title"])
        return Acted(matches=hit.matches, warnings=warnings)

    def _type(self, scene: Scene, hit: Hit) -> None:
        if not self.value:
            if not hit.facts.get("empty"):
                _press(scene, [[KEYS["Delete"]]])
        elif not self.keystrokes and scene.record.capabilities.get("browserName") in _CHROMIUM:
            scene.remote.cdp("Input.insertText", text=self.value)
        else:
            _press(scene, [[KEYS["Enter"] if char == "\n" else char] for char in self.value])

    def _choose(self, scene: Scene, hit: Hit) -> None:
        """By the keys that open and walk its list, which is drawn where no pointer event reaches; else by a click.

        Where neither is possible Element Click is left: its events are the driver's own, not trusted ones.
        """
        steps = hit.facts.get("optionSteps")
        if not steps:
            with scene.find.pointer(*hit.point) as (x, y):
                scene.remote.execute("actions", actions=_click_at(x, y))
            return
        if scene.record.capabilities.get("browserName") in _CHROMIUM:
            _press(scene, _way_to(*steps))
            held = scene.ask("verify", value=self.value)
            if held["same"] or held.get("gone"):
                return
        with scene.find.frame(list(hit.facts.get("path") or ())):
            option = scene.remote.script(_OPTION, [scene.page.handle(), hit.facts["optionIndex"]])
            scene.remote.execute("clickElement", id=next(iter(option.values())))


def _press(scene: Scene, pressed: list[list[str]]) -> None:
    for start in range(0, len(pressed), _KEYS_AT_ONCE):
        scene.check()
        scene.remote.execute("actions", actions=key_actions(pressed[start : start + _KEYS_AT_ONCE]))


def _way_to(down: int, up: int) -> list[list[str]]:
    """Open the list, go to its nearer end, then so many steps, take what is there."""
    walk = [KEYS["Home"], *[KEYS["ArrowDown"]] * down] if down <= up else [KEYS["End"], *[KEYS["ArrowUp"]] * up]
    return [[KEYS["Alt"], KEYS["ArrowDown"]], *([key] for key in walk), [KEYS["Enter"]]]


def _click_at(x: int, y: int) -> list[dict[str, Any]]:
    press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
    moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 0}, *press]
    return [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]


def _changed(held: Mapping[str, Any], hit: Hit) -> str:
    if held.get("gone"):
        return "The field is gone: the page replaced it, or left, when it was set."
    shown = "something else" if hit.kind == "password" else repr(held["value"])
    return f"The page changed what was set: the field now holds {shown}."


class PressKeys(Aimed, Acting):
    """Press a key or a combination such as Enter, Control+A or Tab Tab Enter."""

    verb: ClassVar[str] = "press_keys"
    title: ClassVar[str] = "Press keys"
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
