"""Requests to start and attach sessions, the tools' parameters, and providers' answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr, WithJsonSchema

from orchestrator.models.base import Wire
from orchestrator.models.emulation import DEFAULT_VIEWPORT, Viewport
from orchestrator.models.paths import AppPath, PageUrl, ReadPath, RemoteAddress
from orchestrator.models.session import APPS, Mode, ProcessInfo, SessionType


def _platform(*names: SessionType) -> Any:
    """Return a validator of these names in any case: models write iOS, ios and IOS."""

    def check(value: Any) -> SessionType:
        name = value.lower() if isinstance(value, str) else value
        if name not in names:
            *others, last = (f"'{known}'" for known in names)
            raise ValueError(f"Input should be {', '.join(others)} or {last}")
        return SessionType(name)

    return BeforeValidator(check)


_ANY_TEXT = WithJsonSchema({"type": "string"})
"""No list of names in the schema: some clients would refuse another case."""

Platform = Annotated[SessionType, _platform(*SessionType), _ANY_TEXT, Field(description="browser, ios, android")]
AppPlatform = Annotated[SessionType, _platform(*APPS), _ANY_TEXT]
SessionId = Annotated[str | None, Field(description="Its name.")]
ProfileMode = Annotated[Mode | None, Field(description="Default incognito.")]
StorageStateInput = Annotated[
    ReadPath | dict[str, Any] | None, _ANY_TEXT, Field(description="File or JSON.", repr=False)
]
LoginFrom = Annotated[str | None, Field(description="A session to log in as.")]
W3cCapabilities = Annotated[dict[str, Any], Field(default_factory=dict)]


class StartRequest(Wire):
    """A request to start a session; `options` are the provider's own and are checked against its model.

    The fields from `browser` to `login_from` are for browsers, those after `options` for apps. `app_path` is a file
    or folder on this machine, `app` anything that the remote end understands. `new_command_timeout` is in seconds.
    """

    session_id: str | None = None
    type: SessionType = SessionType.BROWSER
    provider: str = "local"
    browser: str = "chrome"
    browser_version: str | None = None
    headless: bool | None = None
    navigation_url: PageUrl | None = None
    device: str | None = None
    viewport: Viewport = DEFAULT_VIEWPORT
    mode: Mode | None = None
    profile: str | None = None
    debugger_address: RemoteAddress | None = None
    args: tuple[str, ...] = ()
    storage_state: ReadPath | dict[str, Any] | None = Field(default=None, repr=False)
    login_from: str | None = None
    capabilities: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    app_path: AppPath | None = None
    app: AppPath | None = None
    bundle_id: str | None = None
    app_package: str | None = None
    app_activity: str | None = None
    browser_name: str | None = None
    device_name: str | None = None
    platform_version: str | None = None
    udid: str | None = None
    automation_name: str | None = None
    no_reset: bool | None = None
    full_reset: bool | None = None
    auto_grant_permissions: bool = True
    auto_accept_alerts: bool | None = None
    new_command_timeout: int | None = Field(default=None, ge=0)


class StartParameters(Wire, ABC):
    """The parameters of all tools that start a session.

    A subclass adds those of one tool; its docstring is that of the façade's method, which is generated from it.
    """

    session_id: SessionId = None
    capabilities: W3cCapabilities
    options: dict[str, Any] = Field(default_factory=dict)
    wait: bool = Field(default=True, description="false: answer at once.")
    claim: bool = Field(default=False, description="As claim_session.")

    @abstractmethod
    def to_start_request(self) -> StartRequest:
        """Return the request; what was omitted has the request's defaults."""

    def _given(self) -> dict[str, Any]:
        """Return only the fields that were given: some defaults depend on which were omitted."""
        return {name: getattr(self, name) for name in self.model_fields_set if name in StartRequest.model_fields}


class StartBrowserParameters(StartParameters):
    """Start a browser on this machine."""

    browser: str | None = None
    headless: bool | None = None
    navigation_url: PageUrl | None = None
    device: str | None = Field(default=None, description="Such as Pixel 7.")
    viewport: Viewport | None = None
    mode: ProfileMode = None
    profile: str | None = Field(default=None, description="For persistent.")
    debugger_address: RemoteAddress | None = None
    args: list[str] = Field(default_factory=list)
    storage_state: StorageStateInput = None
    login_from: LoginFrom = None

    def to_start_request(self) -> StartRequest:
        """Return the request for a browser."""
        return StartRequest(**self._given())


class StartAppParameters(StartParameters):
    """Start an app, or a browser, on a device, simulator or emulator, by Appium."""

    platform: AppPlatform
    app_path: AppPath | None = Field(default=None, description="On this machine.")
    app: AppPath | None = Field(default=None, description="URL or path, as Appium finds it.")
    bundle_id: str | None = None
    app_package: str | None = None
    app_activity: str | None = None
    browser_name: str | None = Field(default=None, description="Instead of an app.")
    device_name: str | None = None
    platform_version: str | None = None
    udid: str | None = None
    automation_name: str | None = None
    no_reset: bool | None = None
    full_reset: bool | None = None
    auto_grant_permissions: bool = True
    auto_accept_alerts: bool | None = None
    new_command_timeout: int | None = Field(default=None, ge=0)

    def to_start_request(self) -> StartRequest:
        """Return the request for an app, at the provider of apps."""
        return StartRequest(**self._given(), type=self.platform, provider="appium")


class StartSessionParameters(StartParameters):
    """Start a session at a provider by its name; the other parameters are those of `start_browser`."""

    provider: str = Field(
        description="local, appium, selenium_grid, remote_url, browserstack, sauce_labs, testmu, testingbot, digitalai."
    )
    platform: Platform
    browser: str | None = None
    browser_version: str | None = None
    headless: bool | None = None
    device_name: str | None = None
    platform_version: str | None = None
    app: AppPath | None = None
    navigation_url: PageUrl | None = None
    device: str | None = None
    mode: ProfileMode = None
    profile: str | None = None
    debugger_address: RemoteAddress | None = None
    storage_state: StorageStateInput = None
    login_from: LoginFrom = None

    def to_start_request(self) -> StartRequest:
        """Return the request for a session; on a device the browser is one of the apps."""
        given = self._given()
        if self.platform is not SessionType.BROWSER and self.browser is not None:
            given["browser_name"] = given.pop("browser")
        return StartRequest(**given, type=self.platform)


class AttachRequest(Wire):
    """Drive a session that was started elsewhere; closing it here leaves it alive there."""

    remote_url: RemoteAddress
    remote_session_id: str
    session_id: SessionId = None
    platform: Platform = SessionType.BROWSER
    capabilities: W3cCapabilities


class Endpoint(Wire):
    """The URL to create a session at, and its W3C `alwaysMatch` capabilities.

    `remote_url` may contain user and password; they are sent to the remote end alone. `secret` is the name of the
    secret that the URL was read from, `secrets` are those in the capabilities: no record, log or result shows them.
    With `hang_up` the connection of an abandoned request is closed; otherwise a session that it creates is ended.
    """

    remote_url: str
    capabilities: dict[str, Any]
    secret: str = ""
    secrets: tuple[SecretStr, ...] = ()
    hang_up: bool = False


class Started(Wire):
    """Facts about a session whose remote end has answered, for its record.

    `processes` are those that run for it on this machine, `warnings` are sentences for whoever started it.
    """

    processes: tuple[ProcessInfo, ...] = ()
    warnings: tuple[str, ...] = ()
    remote_end: dict[str, str] = Field(default_factory=dict)
    keep_alive: float | None = None
