"""Options of selects: chosen by the keys and clicks that a person would use, and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from orchestrator.actions.base import Acting, Action, Aimed
from orchestrator.actions.finding import Hit
from orchestrator.actions.hands import PRESS, at_top, click, is_chromium, move, pointer, press, shortcut
from orchestrator.actions.keys import KEYS
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene

_OPTION = "return arguments[0].options[arguments[1]]"

_MISSES = 8
"""Rounds of clicks that may miss: a list that was just scrolled on a busy machine still shows where it was."""


class SelectOption(Aimed, Acting):
    """Choose exactly these options of a select (dropdown, list), by value, label or index."""

    verb: ClassVar[str] = "select_option"
    title: ClassVar[str] = "Choose options"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "Use set_value, or tap it and then its option."
    idempotent: ClassVar[bool] = True

    selector: str
    values: list[str]

    def act(self, scene: Scene) -> Acted:
        """One option by keys; several by clicks with the key for it held, on those whose state must change."""
        with scene.element(self.selector, "options", self.timeout, values=self.values, handle=True) as hit:
            held = _toggle(scene) if hit.facts["multiple"] else choose(scene, hit)
            warnings = [] if held["same"] else [told(held)]
            if not scene.find.at_top:
                return Acted(matches=hit.matches, warnings=warnings)
            scene.remember(held)
            return Acted(matches=hit.matches, warnings=warnings, url=held["url"], title=held["title"])


def choose(scene: Scene, hit: Hit) -> dict[str, Any]:
    """One option: by the keys that open and walk its list, which is drawn where no pointer event reaches; else a click.

    Where neither is possible Element Click is left: its events are the driver's own, not trusted ones.
    """
    steps = hit.facts.get("optionSteps")
    if not steps:
        click(scene, hit.point)
        return scene.ask("optionsHeld")
    if is_chromium(scene):
        press(scene, _way_to(*steps))
        held = scene.ask("optionsHeld")
        if held["same"] or held.get("gone"):
            return held
    with scene.find.frame(list(hit.facts.get("path") or ())):
        option = scene.remote.script(_OPTION, [scene.web.handle(), hit.facts["optionIndex"]])
        scene.remote.execute("clickElement", id=next(iter(option.values())))
    return scene.ask("optionsHeld")


def _way_to(down: int, up: int) -> list[list[str]]:
    """Open the list, go to its nearer end, then so many steps, take what is there."""
    walk = [KEYS["Home"], *[KEYS["ArrowDown"]] * down] if down <= up else [KEYS["End"], *[KEYS["ArrowUp"]] * up]
    return [[KEYS["Alt"], KEYS["ArrowDown"]], *([key] for key in walk), [KEYS["Enter"]]]


def _toggle(scene: Scene) -> dict[str, Any]:
    """Click the options whose state is wrong, as many as are in view at a time, for as long as that helps."""
    left, missed = None, 0
    while True:
        scene.check()
        found = scene.ask("toggles")
        if left is not None and found["left"] >= left:
            missed += 1
        if not found["points"] or missed > _MISSES:
            return scene.ask("optionsHeld")
        left = found["left"] if left is None else min(left, found["left"])
        steps = [step for point in found["points"] for step in (move(*at_top(scene, point)), *PRESS)]
        with scene.find.pointer(0, 0):
            pointer(scene, steps, held=[shortcut(scene)])


def told(held: Mapping[str, Any]) -> str:
    """What a field holds instead of what was set."""
    if held.get("gone"):
        return "The field is gone: the page replaced it, or left, when it was set."
    moved = f" The focus went to {held['elsewhere']}." if held.get("elsewhere") else ""
    return f"The page changed what was set: the field now holds {held['value']!r}.{moved}"


ACTIONS: list[type[Action[Any]]] = [SelectOption]
