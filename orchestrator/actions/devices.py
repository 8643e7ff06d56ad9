"""The device that an app runs on: how it is held, its lock, its buttons, its place and its clipboard."""

from __future__ import annotations

import base64
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.app_results import DeviceManaged
from orchestrator.actions.base import APPS, Action, Acts
from orchestrator.actions.device_keys import mobile, press_device_keys
from orchestrator.actions.keys import named_chords
from orchestrator.actions.results import Observe, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, Unsupported
from orchestrator.models import SessionType

_NEEDS_VALUE = {"press": "a key such as BACK", "open_url": "a URL", "set_location": "latitude,longitude"}
_TURNS = {"portrait": "PORTRAIT", "landscape": "LANDSCAPE"}
_MOST = (90.0, 180.0)


class ManageDevice(Acts[DeviceManaged]):
    """Rotate, lock, unlock or shake the device, hide its keyboard, press a button, open a deep link."""

    verb: ClassVar[str] = "manage_device"
    title: ClassVar[str] = "Manage the device"
    types: ClassVar[frozenset[SessionType]] = APPS
    instead: ClassVar[str] = "A browser has set_viewport, navigate and press_keys."
    result: ClassVar[type[Outcome]] = DeviceManaged

    action: Literal[
        "rotate", "lock", "unlock", "shake", "hide_keyboard", "press", "open_url", "set_location", "clipboard"
    ]
    value: str | None = Field(
        default=None,
        description="portrait, landscape; a key such as BACK; a URL; lat,lon; clipboard text.",
    )

    @model_validator(mode="after")
    def _given(self) -> ManageDevice:
        if self.action in _NEEDS_VALUE and not self.value:
            raise ValueError(f"{self.action} needs value: {_NEEDS_VALUE[self.action]}")
        if self.action == "rotate" and (self.value or "portrait").lower() not in _TURNS:
            raise ValueError("value of rotate is portrait or landscape")
        if self.action == "set_location":
            _place(self.value or "")
        if self.action == "press":
            named_chords(self.value or "", device=True)
        return self

    def default_observe(self) -> Observe:
        """Most change the screen."""
        return "none" if self.action in {"clipboard", "set_location", "shake", "lock"} else "change"

    def act(self, scene: Scene) -> DeviceManaged:
        """One command or two."""
        return DeviceManaged(value=_WAYS[self.action](scene, self.value))


def _rotate(scene: Scene, value: str | None) -> str:
    wanted = value and _TURNS[value.lower()]
    if not wanted:
        now = scene.remote.execute("getScreenOrientation")
        wanted = "PORTRAIT" if now == "LANDSCAPE" else "LANDSCAPE"
    scene.remote.execute("setScreenOrientation", orientation=wanted)
    return wanted.lower()


def _lock(scene: Scene, _: str | None) -> None:
    mobile(scene, "lock")


def _unlock(scene: Scene, _: str | None) -> None:
    mobile(scene, "unlock")


def _shake(scene: Scene, _: str | None) -> None:
    if scene.record.type is SessionType.ANDROID:
        raise Unsupported(
            "UiAutomator2 cannot shake a device.",
            hint="On an emulator: execute_script with mobile: execEmuConsoleCommand.",
        )
    mobile(scene, "shake")


def _hide_keyboard(scene: Scene, _: str | None) -> str | None:
    if mobile(scene, "isKeyboardShown") is False:
        return "no keyboard is shown"
    mobile(scene, "hideKeyboard")
    return None


def _press(scene: Scene, value: str | None) -> None:
    press_device_keys(scene, named_chords(value or "", device=True))


def _open_url(scene: Scene, value: str | None) -> None:
    known = scene.record.capabilities
    name, given = ("bundleId", "bundleId") if scene.record.type is SessionType.IOS else ("appPackage", "package")
    app = known.get(f"appium:{name}") or known.get(name)
    mobile(scene, "deepLink", {"url": value, **({given: app} if app else {})})


def _set_location(scene: Scene, value: str | None) -> str:
    latitude, longitude = _place(value or "")
    place = {"latitude": latitude, "longitude": longitude, "altitude": 0}
    scene.remote.execute("setLocation", location=place)
    return f"{latitude:g},{longitude:g}"


def _clipboard(scene: Scene, value: str | None) -> str:
    if value is not None:
        content = base64.b64encode(value.encode()).decode()
        mobile(scene, "setClipboard", {"content": content, "contentType": "plaintext"})
        return value
    found = mobile(scene, "getClipboard", {"contentType": "plaintext"})
    return base64.b64decode(str(found or "")).decode("utf-8", "replace")


def _place(value: str) -> tuple[float, float]:
    """Latitude and longitude in degrees.

    Raises:
        InvalidArgument: They are none.
    """
    try:
        latitude, longitude = (float(part) for part in value.split(","))
    except ValueError:
        latitude, longitude = _MOST[0] + 1, 0.0
    if not (abs(latitude) <= _MOST[0] and abs(longitude) <= _MOST[1]):
        raise InvalidArgument("value is no latitude,longitude in degrees.", hint="Write for example 48.2,16.37.")
    return latitude, longitude


_WAYS = {
    "rotate": _rotate,
    "lock": _lock,
    "unlock": _unlock,
    "shake": _shake,
    "hide_keyboard": _hide_keyboard,
    "press": _press,
    "open_url": _open_url,
    "set_location": _set_location,
    "clipboard": _clipboard,
}

ACTIONS: list[type[Action[Any]]] = [ManageDevice]
