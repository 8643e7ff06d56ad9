"""Apps on a device: launch, send to the background, install, remove (`manage_app`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import APPS, Action, PageAction
from orchestrator.actions.tool_results import AppManaged
from orchestrator.automation.device_keys import run_mobile_command
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure
from orchestrator.models.paths import AppPath
from orchestrator.models.results import Observe, Outcome
from orchestrator.models.session import SessionType
from orchestrator.settings import ToolSet

_LIST_APPS = "manage_app with action list names the installed apps."
_FOREVER = -1
"""Seconds in the background: stays there until it is activated."""
_ENDS_WITHIN_MS = 5_000
"""Limit of UiAutomator2's wait for an app to end; its default, half a second, is too short for an emulator."""


class ManageApp(PageAction[AppManaged]):
    """Open (launch, activate), close (terminate), install or remove an app of the device, or get its state."""

    verb: ClassVar[str] = "manage_app"
    title: ClassVar[str] = "Manage apps"
    types: ClassVar[frozenset[SessionType]] = APPS
    instead: ClassVar[str] = "A browser opens pages with navigate; an app needs start_app_session."
    toolset: ClassVar[ToolSet] = "mobile"
    destructive: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = AppManaged

    action: Literal["activate", "terminate", "install", "remove", "background", "state", "list"]
    app: AppPath | None = Field(default=None, description="Bundle id or package; install: path or URL.")
    seconds: float | None = Field(default=None, ge=0, le=600)

    @model_validator(mode="after")
    def _given(self) -> ManageApp:
        if self.action == "install" and not self.app:
            raise ValueError("install needs app")
        if self.seconds is not None and self.action != "background":
            raise ValueError("seconds is for background")
        return self

    def default_observe(self) -> Observe:
        """Report the change for actions that change the screen."""
        return "change" if self.action in {"activate", "terminate", "background"} else "none"

    def act(self, scene: Scene) -> AppManaged:
        """Run the Appium driver's `mobile:` command for this action."""
        return _HANDLERS[self.action](self, scene)

    def target_app(self, scene: Scene) -> str:
        """The app to manage: `app`, else the one that the session was started with.

        Raises:
            InvalidArgument: There is neither.
        """
        names = ("bundleId",) if scene.record.type is SessionType.IOS else ("appPackage",)
        capabilities = scene.record.capabilities
        app = self.app or next(
            (capabilities[key] for name in names for key in (f"appium:{name}", name) if capabilities.get(key)), None
        )
        if not app:
            raise InvalidArgument(f"{self.action} needs app.", hint=_LIST_APPS)
        return str(app)


def _named(scene: Scene, app: str) -> dict[str, str]:
    return {"bundleId" if scene.record.type is SessionType.IOS else "appId": app}


def _state(action: ManageApp, scene: Scene) -> AppManaged:
    """Ask separately for apps that are not installed: XCUITest's `queryAppState` does not report them."""
    from orchestrator.webdriver.app_driver import APP_STATES  # noqa: PLC0415 — Appium's client loads with apps

    app = action.target_app(scene)
    if not _is_installed(scene, app):
        return AppManaged(app=app, state="not installed")
    state = run_mobile_command(scene, "queryAppState", _named(scene, app))
    return AppManaged(app=app, state=APP_STATES.get(state, "unknown") if isinstance(state, int) else "unknown")


def _is_installed(scene: Scene, app: str) -> bool:
    return run_mobile_command(scene, "isAppInstalled", _named(scene, app)) is not False


def _activate(action: ManageApp, scene: Scene) -> AppManaged:
    """Activate the app; on iOS by `launchApp`, after which XCUITest expects the app to run."""
    app = action.target_app(scene)
    command = "launchApp" if scene.record.type is SessionType.IOS else "activateApp"
    try:
        run_mobile_command(scene, command, _named(scene, app))
    except RemoteFailure as error:
        raise _missing(scene, app) or error from error
    return AppManaged(app=app)


def _terminate(action: ManageApp, scene: Scene) -> AppManaged:
    app = action.target_app(scene)
    limit = {"timeout": _ENDS_WITHIN_MS} if scene.record.type is SessionType.ANDROID else {}
    ended = run_mobile_command(scene, "terminateApp", {**_named(scene, app), **limit})
    if ended is False and (missing := _missing(scene, app)):
        raise missing
    return AppManaged(app=app, warnings=[] if ended is not False else [f"{app} was not running."])


def _install(action: ManageApp, scene: Scene) -> AppManaged:
    given = str(action.app)
    path = Path(given).expanduser()
    app = str(path.absolute()) if path.exists() else given
    name = "app" if scene.record.type is SessionType.IOS else "appPath"
    run_mobile_command(scene, "installApp", {name: app}, limit=scene.settings.start_timeout)
    return AppManaged(app=given)


def _remove(action: ManageApp, scene: Scene) -> AppManaged:
    if not action.app:
        raise InvalidArgument("remove needs app.", hint=_LIST_APPS)
    removed = run_mobile_command(scene, "removeApp", _named(scene, action.app))
    return AppManaged(app=action.app, warnings=[] if removed is not False else [f"{action.app} was not installed."])


def _background(action: ManageApp, scene: Scene) -> AppManaged:
    seconds = _FOREVER if action.seconds is None else action.seconds
    run_mobile_command(
        scene, "backgroundApp", {"seconds": seconds}, limit=scene.settings.command_timeout + max(seconds, 0)
    )
    return AppManaged()


def _list(_: ManageApp, scene: Scene) -> AppManaged:
    apps = run_mobile_command(scene, "listApps")
    return AppManaged(apps=sorted(apps) if isinstance(apps, dict | list) else [])


def _missing(scene: Scene, app: str) -> InvalidArgument | None:
    """The error for an app that is not installed; None for an installed one."""
    if _is_installed(scene, app):
        return None
    return InvalidArgument(f"No app {app!r} is installed.", hint=_LIST_APPS)


_HANDLERS = {
    "activate": _activate,
    "terminate": _terminate,
    "install": _install,
    "remove": _remove,
    "background": _background,
    "state": _state,
    "list": _list,
}

ACTIONS: list[type[Action[Any]]] = [ManageApp]
