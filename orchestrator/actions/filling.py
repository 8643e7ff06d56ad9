"""How each kind of control comes to hold a value: by the keys and clicks of a person, read back from the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.actions.choosing import choose, told
from orchestrator.actions.finding import Hit
from orchestrator.actions.hands import click, is_chromium, press, press_named, shortcut, type_text
from orchestrator.actions.keys import KEYS
from orchestrator.actions.scene import Scene
from orchestrator.errors import NotActionable, quoted
from orchestrator.models import SessionType

_EDITOR_WAKES = 1000
"""Milliseconds in which an editor that was clicked gives the focus to its field, and shows what was written."""
_MOST_ROUNDS, _MOST_KEYS = 5, 200
"""How often a slider's keys are pressed anew, and how many at once."""
_BY_SCRIPT = "No key reached that value: it was set by script, and the page's events of it are not trusted."

Filled = tuple[Mapping[str, Any], list[str]] | None
"""What the engine read back, and what to warn of; None where that is left for later, see `_read_back`."""


def fill(scene: Scene, hit: Hit, value: str, *, keystrokes: bool) -> Filled:
    """Bring the element that `ready(need="fill")` found to hold `value`."""
    way = _WAYS.get(hit.kind)
    if way is not None:
        return way(scene, hit, value)
    if scene.record.type is not SessionType.BROWSER and not keystrokes:
        _send(scene, hit, value, clear=True)
    elif value or not hit.facts.get("empty"):
        type_text(scene, value, keystrokes=keystrokes)
    return _read_back(scene, hit, value=value)


def _read_back(scene: Scene, hit: Hit, **wanted: str) -> Filled:
    """Read what it holds now; as a step of a sequence with the next question, where the same document is asked that."""
    if scene.late and scene.find.at_top:
        warn = scene.late

        def tell(held: Mapping[str, Any]) -> None:
            scene.remember(held)
            for warning in _warnings(hit, held):
                warn(warning)

        scene.later("verify", tell, **wanted)
        return None
    held = scene.ask("verify", **wanted)
    return held, _warnings(hit, held)


def _warnings(hit: Hit, held: Mapping[str, Any]) -> list[str]:
    if held["same"]:
        return []
    if hit.kind == "password" and not held.get("gone"):
        return ["The page changed what was set: the field now holds something else."]
    return [told(held)]


def _send(scene: Scene, hit: Hit, value: str, *, clear: bool) -> None:
    """Element Send Keys, after Element Clear where `clear` says so.

    In a web view of an app no other keys are sure to reach the page.
    """
    with scene.find.frame(list(hit.facts.get("path") or ())):
        handle = next(iter(scene.web.handle().values()))
        if clear and not hit.facts.get("empty"):
            scene.remote.execute("clearElement", id=handle)
        if value:
            scene.remote.execute("sendKeysToElement", id=handle, text=value, value=list(value))


def _select(scene: Scene, hit: Hit, _: str) -> Filled:
    held = choose(scene, hit)
    return held, [] if held["same"] else [told(held)]


def _check(scene: Scene, hit: Hit, _: str) -> Filled:
    """A click, unless it is as wanted; what was neither checked nor unchecked may need two."""
    if not hit.facts["already"]:
        click(scene, hit.point)
        if hit.facts["mixed"]:
            held = scene.ask("verify")
            if held["same"] or held.get("gone"):
                return held, _warnings(hit, held)
            click(scene, hit.point)
    return _read_back(scene, hit)


def _write_in(scene: Scene, hit: Hit, value: str) -> Filled:
    """All of it is selected by the key for that, too: some editors keep more than they show."""
    press(scene, [[shortcut(scene), "a"]])
    type_text(scene, value)
    return _read_back(scene, hit, value=value)


def _edit(scene: Scene, hit: Hit, value: str) -> Filled:
    """What is seen is clicked; the field that then has the focus takes the text."""
    click(scene, hit.point)
    found = scene.ask("editing", slice=_EDITOR_WAKES)
    if not found["ok"]:
        raise NotActionable(
            f"{quoted(hit.given)} cannot be filled: no field got the focus when it was clicked.",
            hint="Give the selector of the field itself.",
        )
    if found["secret"]:
        scene.redactor.add(value)
    press(scene, [[shortcut(scene), "a"]])
    if "\n" not in value or not scene.ask("pasted", value=value)["taken"]:
        type_text(scene, value)
    held = scene.ask("edited", value=value, slice=_EDITOR_WAKES)
    if held["same"]:
        return held, []
    return held, ["The editor does not show what was written."] if found["secret"] else [told(held)]


def _by_keys(scene: Scene, hit: Hit, value: str) -> Filled:
    """Dates, times, colors and ranges: Element Send Keys is the driver's way for them, but chromedriver's types only.

    In Chromium the keys are ours, since the order of a date's fields is that of the browser's language. A value that no
    key reaches is set by script, as drivers do for colors.
    """
    if hit.facts["already"]:
        return _compared(scene, value, [])
    keys = hit.facts.get("keys")
    if keys or not is_chromium(scene):
        if keys and (is_chromium(scene) or hit.kind == "range"):
            press_named(scene, keys)
        else:
            _send(scene, hit, value, clear=False)
        held = scene.ask("verify", value=hit.facts.get("held", value))
        if held["same"] or held.get("gone"):
            return _compared(scene, value, [])
    scene.ask("assign", value=value)
    return _compared(scene, value, [_BY_SCRIPT])


def _compared(scene: Scene, value: str, warnings: list[str]) -> Filled:
    held = scene.ask("verify", value=value)
    return held, warnings if held["same"] else [*warnings, told(held)]


def _slide(scene: Scene, hit: Hit, value: str) -> Filled:
    """Press an arrow once to learn its step, then as often as is left; some rounds of that at most."""
    facts = hit.facts
    more, less = ("ArrowUp", "ArrowDown") if facts["vertical"] else ("ArrowRight", "ArrowLeft")
    now, aim, step, count = float(facts["now"]), float(facts["aim"]), 0.0, 1
    for _round in range(_MOST_ROUNDS):
        if now == aim:
            break
        if step:
            count = min(round(abs(aim - now) / abs(step)), _MOST_KEYS)
        key = more if (aim > now) == (step >= 0) else less
        if not count:
            break
        press(scene, [[KEYS[key]]] * count)
        reached = scene.ask("slider")["now"]
        if reached is None or reached == now:
            break
        step = (reached - now) / count * (1 if key == more else -1)
        now = reached
    return _compared(scene, value, [])


_WAYS = {
    "select": _select,
    "checkbox": _check,
    "radio": _check,
    "contenteditable": _write_in,
    "editor": _edit,
    "date": _by_keys,
    "color": _by_keys,
    "range": _by_keys,
    "slider": _slide,
}
