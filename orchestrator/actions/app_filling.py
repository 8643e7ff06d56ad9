"""How each kind of control on an app's screen comes to hold a value, read back from the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.actions.choosing import told
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.filling import Filled
from orchestrator.actions.finding import Hit
from orchestrator.actions.fingers import tapped, touch
from orchestrator.actions.hands import press
from orchestrator.actions.scene import Scene
from orchestrator.errors import ElementNotFound, RemoteFailure
from orchestrator.models import SessionType

_SHOWS = 2.0
"""Seconds in which a screen shows what was set."""
_PERCENT = 100


def fill_control(scene: Scene, hit: Hit, value: str, *, keystrokes: bool) -> Filled:
    """Bring the element that `ready(need="fill")` found to hold `value`."""
    if way := _WAYS.get(hit.kind):
        return way(scene, hit, value)
    if keystrokes:
        _type(scene, hit, value)
    else:
        _write(scene, hit, value)
    held = _held(scene, value=value)
    if held["same"]:
        return held, []
    if hit.kind == "password" and not held.get("gone"):
        return held, ["The app changed what was set: the field now holds something else."]
    return held, [told(held)]


def _write(scene: Scene, hit: Hit, value: str) -> None:
    """By Element Clear and Element Send Keys: they focus the field themselves."""
    element = element_id(scene)
    if not hit.facts.get("empty"):
        scene.remote.execute("clearElement", id=element)
    if value:
        _send(scene, element, value)


def _type(scene: Scene, hit: Hit, value: str) -> None:
    """By key events for each character, in the field that a tap has given the focus."""
    with scene.element(str(hit.facts["ref"]), "focus", None) as field:
        touch(scene, tapped(field.point))
    if not hit.facts.get("empty"):
        scene.remote.execute("clearElement", id=element_id(scene))
    press(scene, [[char] for char in value])


def element_id(scene: Scene) -> str:
    """The remote end's id of the element that was found last."""
    return str(next(iter(scene.screen.handle().values())))


def _send(scene: Scene, element: str, text: str) -> None:
    scene.remote.execute("sendKeysToElement", id=element, text=text, value=list(text))


def _check(scene: Scene, hit: Hit, _: str) -> Filled:
    """A tap, unless it is as wanted."""
    if not hit.facts["already"]:
        touch(scene, tapped(hit.point))
    held = _held(scene)
    return held, [] if held["same"] else [told(held)]


def _slide(scene: Scene, hit: Hit, value: str) -> Filled:
    """Element Send Keys: XCUITest takes a share of one, UiAutomator2 the number itself."""
    if not hit.facts["already"]:
        aim = float(hit.facts["aim"])
        aim = min(max(aim / _PERCENT, 0), 1) if scene.record.type is SessionType.IOS else aim
        _send(scene, element_id(scene), f"{aim:g}")
    held = _held(scene, value=value)
    return held, [] if held["same"] else [told(held)]


def _turn(scene: Scene, hit: Hit, value: str) -> Filled:
    """A picker's wheel is turned by Element Send Keys."""
    if not hit.facts["already"]:
        _send(scene, element_id(scene), value)
    held = _held(scene, value=value)
    return held, [] if held["same"] else [told(held)]


def _select(scene: Scene, hit: Hit, value: str) -> Filled:
    """A tap opens the list, another one takes the option of that text."""
    chosen = str(hit.facts["ref"])
    if not hit.facts["already"]:
        element = element_id(scene)
        touch(scene, tapped(hit.point))
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        try:
            with scene.find.element(f'text="{quoted}"', "point", _SHOWS) as option:
                touch(scene, tapped(option.point))
        except ElementNotFound as error:
            _choose(scene, element, value, error)
    deadline = Deadline(_SHOWS)
    while True:
        with scene.element(chosen, "fill", None, value=value) as now:
            if now.facts["already"] or not deadline.left:
                break
    held = scene.ask("verify", value=value)
    return held, [] if now.facts["already"] else [told(held)]


def _choose(scene: Scene, element: str, value: str, missing: ElementNotFound) -> None:
    """By Element Send Keys, where a list shows nothing of its own when it is opened."""
    try:
        _send(scene, element, value)
    except RemoteFailure:
        raise missing from None


def _held(scene: Scene, **asked: str) -> Mapping[str, Any]:
    """What the element holds, once it is what was set, or after a while."""
    deadline = Deadline(_SHOWS)
    while True:
        held = scene.ask("verify", **asked)
        if held["same"] or held.get("gone") or not deadline.left:
            return held


_WAYS: dict[str, Callable[[Scene, Hit, str], Filled]] = {
    "checkbox": _check,
    "radio": _check,
    "slider": _slide,
    "picker": _turn,
    "select": _select,
}
