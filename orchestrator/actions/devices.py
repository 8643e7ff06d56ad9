"""Device of an app session: orientation, lock, keys, location, clipboard (`manage_device`)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import APPS, Action, PageAction
from orchestrator.actions.tool_results import DeviceManaged
from orchestrator.automation.device_keys import app_driver, press_device_keys, run_mobile_command
from orchestrator.automation.keys import named_chords
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, Unsupported
from orchestrator.models.results import Observe, Outcome
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet

_NEEDS_VALUE = {"press": "a key such as BACK", "open_url": "a URL", "set_location": "latitude,longitude"}
_ORIENTATIONS = frozenset({"portrait", "landscape"})
_MAX_LATITUDE, _MAX_LONGITUDE = 90.0, 180.0


class ManageDevice(PageAction[DeviceManaged]):
    """Rotate, lock, unlock or shake the device, hide its keyboard, press a button, open a deep link."""

    verb: ClassVar[str] = "manage_device"
    title: ClassVar[str] = "Manage the device"
    types: ClassVar[frozenset[SessionType]] = APPS
    instead: ClassVar[str] = "In a browser use set_viewport, navigate or press_keys."
    toolset: ClassVar[ToolSet] = "mobile"
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
        if self.action == "rotate" and (self.value or "portrait").lower() not in _ORIENTATIONS:
            raise ValueError("rotate needs value: portrait or landscape")
        if self.action == "set_location":
            _parse_location(self.value or "")
        if self.action == "press":
            named_chords(self.value or "", device=True)
        return self

    def default_observe(self) -> Observe:
        """Report the change for actions that change the screen."""
        return "none" if self.action in {"clipboard", "set_location", "shake", "lock"} else "change"

    def act(self, scene: Scene) -> DeviceManaged:
        """Run the action's command; `value` is the state that it led to."""
        return DeviceManaged(value=_HANDLERS[self.action](scene, self.value))


def _rotate(scene: Scene, value: str | None) -> str:
    driver = app_driver(scene)
    orientation = value or ("portrait" if driver.orientation == "LANDSCAPE" else "landscape")
    driver.orientation = orientation
    return orientation.lower()


def _lock(scene: Scene, _: str | None) -> None:
    run_mobile_command(scene, "lock")


def _unlock(scene: Scene, _: str | None) -> None:
    run_mobile_command(scene, "unlock")


def _shake(scene: Scene, _: str | None) -> None:
    if scene.record.type is SessionType.ANDROID:
        raise Unsupported(
            "UiAutomator2 cannot shake a device.",
            hint="On an emulator: execute_script with mobile: execEmuConsoleCommand.",
        )
    run_mobile_command(scene, "shake")


def _hide_keyboard(scene: Scene, _: str | None) -> str | None:
    if run_mobile_command(scene, "isKeyboardShown") is False:
        return "no keyboard is shown"
    run_mobile_command(scene, "hideKeyboard")
    return None


def _press(scene: Scene, value: str | None) -> None:
    press_device_keys(scene, named_chords(value or "", device=True))


def _open_url(scene: Scene, value: str | None) -> None:
    capabilities = scene.record.capabilities
    name, parameter = ("bundleId", "bundleId") if scene.record.type is SessionType.IOS else ("appPackage", "package")
    app = capabilities.get(f"appium:{name}") or capabilities.get(name)
    run_mobile_command(scene, "deepLink", {"url": value, **({parameter: app} if app else {})})


def _set_location(scene: Scene, value: str | None) -> str:
    latitude, longitude = _parse_location(value or "")
    app_driver(scene).set_location(latitude, longitude, altitude=0)
    return f"{latitude:g},{longitude:g}"


def _clipboard(scene: Scene, value: str | None) -> str:
    driver = app_driver(scene)
    if value is None:
        return driver.get_clipboard_text()
    driver.set_clipboard_text(value)
    return value


def _parse_location(value: str) -> tuple[float, float]:
    """Latitude and longitude in degrees.

    Raises:
        InvalidArgument: The value is not two numbers within range.
    """
    try:
        latitude, longitude = (float(part) for part in value.split(","))
    except ValueError:
        latitude, longitude = math.nan, math.nan
    if not (abs(latitude) <= _MAX_LATITUDE and abs(longitude) <= _MAX_LONGITUDE):
        raise InvalidArgument("value must be latitude,longitude in degrees.", hint="Write for example 48.2,16.37.")
    return latitude, longitude


_HANDLERS = {
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
