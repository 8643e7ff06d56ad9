"""The apps of a device: started, sent away, installed and removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.app_results import AppManaged
from orchestrator.actions.base import APPS, Action, Acts
from orchestrator.actions.device_keys import mobile
from orchestrator.actions.results import Observe, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure
from orchestrator.models import SessionType

_STATES = {1: "not running", 2: "background", 3: "background", 4: "foreground"}
_FOREVER = -1
"""Seconds in the background: until the app is activated."""
_ENDS_WITHIN_MS = 5_000
"""How long UiAutomator2 may wait for an app to end; its own half a second is short for an emulator."""


class ManageApp(Acts[AppManaged]):
    """Open (launch, activate), close (terminate), install or remove an app of the device, or ask for its state."""

    verb: ClassVar[str] = "manage_app"
    title: ClassVar[str] = "Manage apps"
    types: ClassVar[frozenset[SessionType]] = APPS
    instead: ClassVar[str] = "A browser opens pages with navigate; an app needs start_app_session."
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = AppManaged

    action: Literal["activate", "terminate", "install", "remove", "background", "state", "list"]
    app: str | None = Field(default=None, description="Bundle id or package; install: path or URL.")
    seconds: float | None = Field(default=None, ge=0, le=600)

    @model_validator(mode="after")
    def _given(self) -> ManageApp:
        if self.action == "install" and not self.app:
            raise ValueError("install needs app")
        if self.seconds is not None and self.action != "background":
            raise ValueError("seconds is for background")
        return self

    def default_observe(self) -> Observe:
        """Some change the screen."""
        return "change" if self.action in {"activate", "terminate", "background"} else "none"

    def act(self, scene: Scene) -> AppManaged:
        """One command of the driver's own."""
        return _WAYS[self.action](self, scene)

    def on(self, scene: Scene) -> str:
        """The app that is meant.

        Raises:
            InvalidArgument: None is given, and the session was started with none.
        """
        names = ("bundleId",) if scene.record.type is SessionType.IOS else ("appPackage",)
        known = scene.record.capabilities
        found = self.app or next(
            (known[key] for name in names for key in (f"appium:{name}", name) if known.get(key)), None
        )
        if not found:
            raise InvalidArgument(f"{self.action} needs app.", hint="manage_app with action list names them.")
        return str(found)


def _named(scene: Scene, app: str) -> dict[str, str]:
    return {"bundleId" if scene.record.type is SessionType.IOS else "appId": app}


def _state(action: ManageApp, scene: Scene) -> AppManaged:
    """XCUITest tells nothing of an app that is not installed but where that is asked for."""
    app = action.on(scene)
    if not _is_installed(scene, app):
        return AppManaged(app=app, state="not installed")
    found = mobile(scene, "queryAppState", _named(scene, app))
    return AppManaged(app=app, state=_STATES.get(found, "unknown") if isinstance(found, int) else "unknown")


def _is_installed(scene: Scene, app: str) -> bool:
    return mobile(scene, "isAppInstalled", _named(scene, app)) is not False


def _activate(action: ManageApp, scene: Scene) -> AppManaged:
    """On iOS by the command that starts an app, too, and knows from then on that it is to run."""
    app = action.on(scene)
    command = "launchApp" if scene.record.type is SessionType.IOS else "activateApp"
    try:
        mobile(scene, command, _named(scene, app))
    except RemoteFailure as error:
        raise _missing(scene, app) or error from error
    return AppManaged(app=app)


def _terminate(action: ManageApp, scene: Scene) -> AppManaged:
    app = action.on(scene)
    limit = {"timeout": _ENDS_WITHIN_MS} if scene.record.type is SessionType.ANDROID else {}
    ended = mobile(scene, "terminateApp", {**_named(scene, app), **limit})
    if ended is False and (missing := _missing(scene, app)):
        raise missing
    return AppManaged(app=app, warnings=[] if ended is not False else [f"{app} did not run."])


def _install(action: ManageApp, scene: Scene) -> AppManaged:
    given = str(action.app)
    path = Path(given).expanduser()
    app = str(path.absolute()) if path.exists() else given
    name = "app" if scene.record.type is SessionType.IOS else "appPath"
    mobile(scene, "installApp", {name: app}, limit=scene.settings.start_timeout)
    return AppManaged(app=given)


def _remove(action: ManageApp, scene: Scene) -> AppManaged:
    if not action.app:
        raise InvalidArgument("remove needs app.", hint="manage_app with action list names them.")
    removed = mobile(scene, "removeApp", _named(scene, action.app))
    return AppManaged(app=action.app, warnings=[] if removed is not False else [f"{action.app} was not installed."])


def _background(action: ManageApp, scene: Scene) -> AppManaged:
    seconds = _FOREVER if action.seconds is None else action.seconds
    mobile(scene, "backgroundApp", {"seconds": seconds}, limit=scene.settings.command_timeout + max(seconds, 0))
    return AppManaged()


def _list(_: ManageApp, scene: Scene) -> AppManaged:
    found = mobile(scene, "listApps")
    return AppManaged(apps=sorted(found) if isinstance(found, dict | list) else [])


def _missing(scene: Scene, app: str) -> InvalidArgument | None:
    """The error for an app that the device does not have."""
    if _is_installed(scene, app):
        return None
    return InvalidArgument(f"No app {app!r} is installed.", hint="manage_app with action list names those that are.")


_WAYS = {
    "activate": _activate,
    "terminate": _terminate,
    "install": _install,
    "remove": _remove,
    "background": _background,
    "state": _state,
    "list": _list,
}

ACTIONS: list[type[Action[Any]]] = [ManageApp]
