"""Press the keys of devices: hardware buttons and Android key codes.

Source: https://developer.android.com/reference/android/view/KeyEvent and the commands `mobile: pressKey` of
UiAutomator2, `mobile: pressButton` of XCUITest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.automation.keys import DEVICE_KEYS, KEYS, key_actions
from orchestrator.automation.scene import Scene
from orchestrator.errors import Unsupported
from orchestrator.models.session import SessionType

if TYPE_CHECKING:
    from orchestrator.webdriver.app_driver import AppDriver

_CODES = {
    "HOME": 3, "BACK": 4, "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "MENU": 82, "SEARCH": 84, "APP_SWITCH": 187,
    "ArrowUp": 19, "ArrowDown": 20, "ArrowLeft": 21, "ArrowRight": 22, "Tab": 61, "Space": 62, "Enter": 66,
    "Backspace": 67, "PageUp": 92, "PageDown": 93, "Escape": 111, "Delete": 112, "End": 123, "Insert": 124,
}  # fmt: skip
_CODES |= {str(n): 7 + n for n in range(10)} | {chr(ord("a") + n): 29 + n for n in range(26)}
_CODES |= {f"F{n}": 130 + n for n in range(1, 13)}
_META = {"Shift": 0x1, "Alt": 0x2, "Control": 0x1000, "Meta": 0x10000}
_BUTTONS = {"HOME": "home", "VOLUME_UP": "volumeup", "VOLUME_DOWN": "volumedown"}
_NO_BACK = "Tap the back button in the navigation bar, or swipe right."


def press_device_keys(scene: Scene, pressed: list[list[str]]) -> None:
    """Press chords of key names, one after the other, on the session's device.

    Raises:
        Unsupported: The device has no such key.
    """
    press = _press_on_ios if scene.record.type is SessionType.IOS else _press_on_android
    for chord in pressed:
        scene.check()
        press(scene, chord)


def _press_on_android(scene: Scene, chord: list[str]) -> None:
    *held, last = chord
    code = _CODES.get(last if len(last) > 1 else last.lower())
    if code is None or not set(held) <= set(_META):
        _press_on_keyboard(scene, chord)
        return
    shift = _META["Shift"] if len(last) == 1 and last.isupper() and not held else 0
    meta = sum((_META[name] for name in held), shift)
    app_driver(scene).press_keycode(code, meta or None)


def _press_on_ios(scene: Scene, chord: list[str]) -> None:
    [last] = chord[-1:]
    if last in _BUTTONS:
        run_mobile_command(scene, "pressButton", {"name": _BUTTONS[last]})
    else:
        _press_on_keyboard(scene, chord)


def _press_on_keyboard(scene: Scene, chord: list[str]) -> None:
    for name in set(chord) & DEVICE_KEYS:
        hint = _NO_BACK if name == "BACK" else f"It has {', '.join(_BUTTONS)}."
        raise Unsupported(f"An {scene.record.type} device has no {name} key.", hint=hint)
    scene.remote.execute("actions", actions=key_actions([[KEYS.get(name, name) for name in chord]]))


def app_driver(scene: Scene) -> AppDriver:
    """Return Appium-Python-Client's driver for a scene's session."""
    from orchestrator.webdriver.app_driver import AppDriver  # noqa: PLC0415 — the client loads with the first app

    return AppDriver(scene.remote.execute)


def run_mobile_command(
    scene: Scene, command: str, arguments: Mapping[str, Any] | None = None, *, limit: float | None = None
) -> Any:
    """Run an Appium driver command, `mobile: <command>`, with one object of arguments (Execute Script).

    Its timeout is `limit` seconds, the setting `command_timeout` unless given.
    """
    args = [dict(arguments)] if arguments else []
    return scene.remote.execute("w3cExecuteScript", script=f"mobile: {command}", args=args, limit=limit)
