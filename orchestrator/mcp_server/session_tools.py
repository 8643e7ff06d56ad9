"""The tools that start, attach, list, choose and close sessions, each declared once."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from orchestrator.actions.results import Outcome
from orchestrator.api import Orchestrator
from orchestrator.emulation import Viewport
from orchestrator.mark import Status
from orchestrator.mcp_server.app_tools import ListApps, ListDevices, UploadApp
from orchestrator.mcp_server.joint_tools import CompareTool, ParallelTool, SequenceTool
from orchestrator.mcp_server.session_tool import SessionTool
from orchestrator.models import APPS, AttachRequest, Mode, SessionType, StartRequest, chosen
from orchestrator.rows import Closed, Current, Row, SessionList
from orchestrator.settings import ToolSet

_ROOM = 0.9
"""The share of `max_output` that rows may take; the rest is for what stands around them."""


Named = Annotated[str | None, Field(description="Its name.")]


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _platform(*known: str) -> Any:
    """One of these in any case; the schema has no list of them, for some clients would refuse another case."""
    words = ", ".join(f"'{one}'" for one in known)

    def check(value: Any) -> SessionType:
        if _lower(value) not in known:
            raise ValueError(f"it is one of {words}")
        return SessionType(_lower(value))

    return BeforeValidator(check)


Browser = Literal["chrome", "firefox", "edge", "safari", "webkitgtk"]
Platform = Annotated[
    SessionType, _platform(*SessionType), WithJsonSchema({"type": "string"}), Field(description="browser, ios, android")
]
AppPlatform = Annotated[SessionType, _platform(*APPS), WithJsonSchema({"type": "string"})]
Headless = bool | None
Address = str | None
Wanted = Annotated[Mode | None, Field(description="incognito unless given.")]
Profile = Annotated[str | None, Field(description="Its name, for persistent.")]
Capabilities = Annotated[dict[str, Any], Field(default_factory=dict, description="W3C.")]
ProviderOptions = Annotated[dict[str, Any], Field(default_factory=dict)]
StorageState = Annotated[str | dict[str, Any] | None, Field(description="A file, or its JSON.", repr=False)]
Wait = Annotated[bool, Field(description="false: answer at once.")]


class _Starting(SessionTool):
    """What the tools that start a session have in common."""

    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Row

    session_id: Named = None
    capabilities: Capabilities
    options: ProviderOptions
    wait: Wait = True

    async def run(self, orchestrator: Orchestrator) -> Row:
        """Start it."""
        return await orchestrator.start(self.request(), wait=self.wait)

    def request(self) -> StartRequest:
        """The wish for a session that these parameters stand for; what was left out has its defaults there."""
        given = {name: getattr(self, name) for name in self.model_fields_set if name in StartRequest.model_fields}
        return StartRequest(**given)


class StartBrowser(_Starting):
    """Start a browser session (open Chrome), under a name of your own if you like.

    Start several to act as several users: each has its own cookies and storage.
    """

    verb: ClassVar[str] = "start_browser"
    title: ClassVar[str] = "Start a browser"
    toolset: ClassVar[ToolSet] = "core"

    browser: Browser = "chrome"
    headless: Headless = None
    navigation_url: Address = None
    device: str | None = Field(default=None, description="Such as Pixel 7.")
    viewport: Viewport | None = None
    mode: Wanted = None
    profile: Profile = None
    debugger_address: str | None = None
    args: list[str] = Field(default_factory=list)
    storage_state: StorageState = None


class StartAppSession(_Starting):
    """Start an app or mobile browser on an iOS or Android device, simulator or emulator (Appium).

    An installed app needs only bundleId or appPackage.
    """

    verb: ClassVar[str] = "start_app_session"
    title: ClassVar[str] = "Start an app"
    toolset: ClassVar[ToolSet] = "mobile"

    platform: AppPlatform
    app_path: str | None = Field(default=None, description="On this machine.")
    app: str | None = Field(default=None, description="URL or path, as Appium finds it.")
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

    def request(self) -> StartRequest:
        """The wish for an app, at the provider that apps come from."""
        return super().request().model_copy(update={"type": self.platform, "provider": "appium"})


class StartSession(_Starting):
    """Start a session at a provider: a cloud, a Grid. Here start_browser and start_app_session are simpler."""

    verb: ClassVar[str] = "start_session"
    title: ClassVar[str] = "Start a session at a provider"

    provider: str = Field(
        description="local, appium, selenium_grid, remote_url, browserstack, sauce_labs, testmu, testingbot, digitalai."
    )
    platform: Platform
    browser: str | None = None
    browser_version: str | None = None
    headless: bool | None = None
    device_name: str | None = None
    platform_version: str | None = None
    app: str | None = None
    navigation_url: Address = None
    device: str | None = None
    mode: Wanted = None
    profile: str | None = None
    debugger_address: str | None = None
    storage_state: StorageState = None

    def request(self) -> StartRequest:
        """The wish for a session; on a device a browser is one of the apps."""
        wish = super().request().model_dump(exclude_unset=True, exclude={"browser"})
        return StartRequest(**wish, **chosen(self.platform, self.browser), type=self.platform)


class AttachSession(SessionTool):
    """Drive a session that a script started, at its WebDriver endpoint; closing it only detaches."""

    verb: ClassVar[str] = "attach_session"
    title: ClassVar[str] = "Attach to a session"
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Row

    remote_url: str
    remote_session_id: str
    session_id: Named = None
    platform: Platform = SessionType.BROWSER
    capabilities: Capabilities

    async def run(self, orchestrator: Orchestrator) -> Row:
        """Attach to it."""
        return await orchestrator.attach(AttachRequest(**dict(self)))


class ListSessions(SessionTool):
    """List the open sessions with their state, browser and URL, and which one is current."""

    verb: ClassVar[str] = "list_sessions"
    title: ClassVar[str] = "List sessions"
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionList
    nullable: ClassVar[tuple[str, ...]] = ("currentSession",)

    prefix: str | None = None

    async def run(self, orchestrator: Orchestrator) -> SessionList:
        """Read what is recorded."""
        listed = await orchestrator.list_sessions(self.prefix)
        return listed.fitting(round(orchestrator.settings.max_output * _ROOM))


class SetCurrentSession(SessionTool):
    """Choose the session that calls without sessionId go to."""

    verb: ClassVar[str] = "set_current_session"
    title: ClassVar[str] = "Set the current session"
    toolset: ClassVar[ToolSet] = "core"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Current

    session_id: str

    async def run(self, orchestrator: Orchestrator) -> Current:
        """Choose it."""
        return await orchestrator.set_current_session(self.session_id)


Detach = Annotated[bool, Field(description="Leave it alive.")]


class CloseSession(SessionTool):
    """Close a session: its browser, tabs and processes end, and its name is free again."""

    verb: ClassVar[str] = "close_session"
    title: ClassVar[str] = "Close a session"
    toolset: ClassVar[ToolSet] = "core"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Closed

    session_id: str | None = Field(default=None, description="If omitted, the current session.")
    detach: Detach = False
    status: Status | None = None
    reason: str | None = None

    async def run(self, orchestrator: Orchestrator) -> Closed:
        """Close it."""
        return await orchestrator.close_session(
            self.session_id, detach=self.detach, status=self.status, reason=self.reason
        )


class CloseSessions(SessionTool):
    """Close every session that meets all that is given of prefix, idleMs and all; give at least one."""

    verb: ClassVar[str] = "close_sessions"
    title: ClassVar[str] = "Close several sessions"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Closed

    prefix: str | None = None
    idle_ms: int | None = Field(default=None, ge=0)
    all: bool | None = Field(default=None, description="Other clients' too.")
    detach: Detach = False

    async def run(self, orchestrator: Orchestrator) -> Closed:
        """Close them."""
        return await orchestrator.close_sessions(
            prefix=self.prefix, idle_ms=self.idle_ms, all=self.all, detach=self.detach
        )


class CloseAllSessions(SessionTool):
    """Close all sessions that you started."""

    verb: ClassVar[str] = "close_all_sessions"
    title: ClassVar[str] = "Close all sessions"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Closed

    detach: Detach = False

    async def run(self, orchestrator: Orchestrator) -> Closed:
        """Close them."""
        return await orchestrator.close_all_sessions(detach=self.detach)


SESSION_TOOLS: tuple[type[SessionTool], ...] = (
    StartBrowser,
    StartAppSession,
    StartSession,
    AttachSession,
    ListSessions,
    ListDevices,
    UploadApp,
    ListApps,
    SetCurrentSession,
    CloseSession,
    CloseSessions,
    CloseAllSessions,
    SequenceTool,
    ParallelTool,
    CompareTool,
)
"""In the order in which they are listed; the actions follow them."""
