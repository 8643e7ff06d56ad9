"""Set the form controls of an app's screen, and read back their values."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.fields.form_controls import Filled, describe_mismatch
from orchestrator.automation.input import press, tapped, touch
from orchestrator.automation.scene import Scene
from orchestrator.errors import ElementNotFound, RemoteFailure
from orchestrator.models.session import SessionType
from orchestrator.snapshot.answers import HeldAnswer
from orchestrator.snapshot.methods import VERIFY
from orchestrator.system.deadline import Deadline

_SETTLES = 2.0
"""Seconds in which a screen shows a value that was set."""
_PERCENT = 100


def fill_app_control(scene: Scene, hit: FoundElement, value: str, *, keystrokes: bool) -> Filled:
    """Set the element that `ready(need="fill")` found to `value`."""
    if setter := _SETTERS.get(hit.kind):
        return setter(scene, hit, value)
    if keystrokes:
        _type(scene, hit, value)
    else:
        _write(scene, hit, value)
    held = _held(scene, value=value)
    if held["same"]:
        return held, []
    if hit.kind == "password" and not held.get("gone"):
        return held, ["The app changed the value: the field now holds something else."]
    return held, [describe_mismatch(held)]


def _write(scene: Scene, hit: FoundElement, value: str) -> None:
    """Write by Element Clear and Element Send Keys, which focus the field themselves."""
    element = element_id(scene)
    if not hit.facts["empty"]:
        scene.remote.execute("clearElement", id=element)
    if value:
        _send(scene, element, value)


def _type(scene: Scene, hit: FoundElement, value: str) -> None:
    """Tap the field to focus it, then type with key events for each character."""
    with scene.element(hit.facts["ref"], "focus", None) as field:
        touch(scene, tapped(field.point))
    if not hit.facts["empty"]:
        scene.remote.execute("clearElement", id=element_id(scene))
    press(scene, [[char] for char in value])


def element_id(scene: Scene) -> str:
    """The remote end's id of the element that was found last."""
    return str(next(iter(scene.screen.handle().values())))


def _send(scene: Scene, element: str, text: str) -> None:
    scene.remote.execute("sendKeysToElement", id=element, text=text, value=list(text))


def _check(scene: Scene, hit: FoundElement, _: str) -> Filled:
    """Tap it, unless its state is the wanted one."""
    if not hit.facts.get("already"):
        touch(scene, tapped(hit.point))
    held = _held(scene)
    return held, [] if held["same"] else [describe_mismatch(held)]


def _slide(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Send the value by Element Send Keys: XCUITest takes a share from 0 to 1, UiAutomator2 the number itself."""
    if not hit.facts.get("already"):
        aim = hit.facts.get("aim") or 0.0
        aim = min(max(aim / _PERCENT, 0), 1) if scene.record.type is SessionType.IOS else aim
        _send(scene, element_id(scene), f"{aim:g}")
    held = _held(scene, value=value)
    return held, [] if held["same"] else [describe_mismatch(held)]


def _turn(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Turn a picker's wheel by Element Send Keys."""
    if not hit.facts.get("already"):
        _send(scene, element_id(scene), value)
    held = _held(scene, value=value)
    return held, [] if held["same"] else [describe_mismatch(held)]


def _select(scene: Scene, hit: FoundElement, value: str) -> Filled:
    """Tap to open the list, then tap the option with that text."""
    chosen = hit.facts["ref"]
    if not hit.facts.get("already"):
        element = element_id(scene)
        touch(scene, tapped(hit.point))
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        try:
            with scene.finder.element(f'getByText("{quoted}")', "point", _SETTLES) as option:
                touch(scene, tapped(option.point))
        except ElementNotFound as error:
            _choose(scene, element, value, error)
    deadline = Deadline(_SETTLES)
    while True:
        with scene.element(chosen, "fill", None, value=value) as current:
            if current.facts.get("already") or not deadline.seconds_left:
                break
    held = scene.query_page(VERIFY, value=value)
    return held, [] if current.facts.get("already") else [describe_mismatch(held)]


def _choose(scene: Scene, element: str, value: str, missing: ElementNotFound) -> None:
    """Choose by Element Send Keys, for lists whose options are not on the screen when they are open."""
    try:
        _send(scene, element, value)
    except RemoteFailure:
        raise missing from None


def _held(scene: Scene, **asked: str) -> HeldAnswer:
    """Read the element's value, polling until it is the wanted one or the time is up."""
    deadline = Deadline(_SETTLES)
    while True:
        held = scene.query_page(VERIFY, **asked)
        if held["same"] or held.get("gone") or not deadline.seconds_left:
            return held


_SETTERS: dict[str, Callable[[Scene, FoundElement, str], Filled]] = {
    "checkbox": _check,
    "radio": _check,
    "slider": _slide,
    "picker": _turn,
    "select": _select,
}
