"""The tools that start, attach, list, choose and close sessions."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from orchestrator.models.requests import (
    AttachRequest,
    StartAppParameters,
    StartBrowserParameters,
    StartParameters,
    StartSessionParameters,
)
from orchestrator.models.results import Outcome
from orchestrator.models.test_status import Status
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.sessions.rows import CloseResult, CurrentSession, SessionList, SessionRow
from orchestrator.settings import ToolSet

Browser = Literal["chrome", "firefox", "edge", "safari", "webkitgtk"]


class _StartTool(SessionTool, StartParameters):
    """A tool that starts a session; its parameters are declared in `orchestrator.models.requests`."""

    open_world: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionRow

    def in_sequence(self, of_sequence: str | None, acting: str | None) -> Self:  # noqa: ARG002 (the base's)
        """Start the session that the sequence is for."""
        return self if self.session_id else self.model_copy(update={"session_id": of_sequence})

    async def run(self, backend: ToolBackend) -> SessionRow:
        """Start the session."""
        return await backend.start(self.to_start_request(), wait=self.wait, claim=self.claim)


class StartBrowser(_StartTool, StartBrowserParameters):
    """Start a browser session (open Chrome), under a name you choose.

    Start one for each user or sub-agent: cookies and storage are its own.
    """

    verb: ClassVar[str] = "start_browser"
    title: ClassVar[str] = "Start a browser"
    toolset: ClassVar[ToolSet] = "core"
    always_loaded: ClassVar[bool] = True
    used_sessions: ClassVar[tuple[str, ...]] = ("login_from",)

    browser: Browser = "chrome"


class StartAppSession(_StartTool, StartAppParameters):
    """Start an app or mobile browser on an iOS or Android device, simulator or emulator (Appium).

    Installed apps need only bundleId or appPackage.
    """

    verb: ClassVar[str] = "start_app_session"
    title: ClassVar[str] = "Start an app"
    toolset: ClassVar[ToolSet] = "mobile"
    by_default: ClassVar[bool] = True


class StartSession(_StartTool, StartSessionParameters):
    """Start a session at a provider: a cloud, a Grid."""

    verb: ClassVar[str] = "start_session"
    title: ClassVar[str] = "Start a session at a provider"
    by_default: ClassVar[bool] = True
    used_sessions: ClassVar[tuple[str, ...]] = ("login_from",)


class AttachSession(SessionTool, AttachRequest):
    """Drive a session that a script started, at its WebDriver endpoint; closing it only detaches."""

    verb: ClassVar[str] = "attach_session"
    title: ClassVar[str] = "Attach to a session"
    open_world: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionRow
    described: ClassVar[tuple[str, ...]] = ("sessionId", "state", "url")

    def in_sequence(self, of_sequence: str | None, acting: str | None) -> Self:  # noqa: ARG002 (the base's)
        """Attach the session that the sequence is for."""
        return self if self.session_id else self.model_copy(update={"session_id": of_sequence})

    async def run(self, backend: ToolBackend) -> SessionRow:
        """Attach to it."""
        return await backend.attach(self)


class ListSessions(SessionTool):
    """List the open sessions: state, browser, URL, which one is current."""

    verb: ClassVar[str] = "list_sessions"
    title: ClassVar[str] = "List sessions"
    toolset: ClassVar[ToolSet] = "core"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionList
    nullable: ClassVar[tuple[str, ...]] = ("currentSession",)

    prefix: str | None = None

    async def run(self, backend: ToolBackend) -> SessionList:
        """Read the records."""
        listed = await backend.list_sessions(self.prefix)
        return listed.fitting(backend.settings.body_room)


class SetCurrentSession(SessionTool):
    """Choose the session that calls without sessionId go to."""

    verb: ClassVar[str] = "set_current_session"
    title: ClassVar[str] = "Set the current session"
    toolset: ClassVar[ToolSet] = "core"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = CurrentSession

    session_id: str

    async def run(self, backend: ToolBackend) -> CurrentSession:
        """Set the current session."""
        return await backend.set_current_session(self.session_id)


Detach = Annotated[bool, Field(description="Leave it alive.")]


class CloseSession(SessionTool):
    """Close a session with its browser; its name is free again."""

    verb: ClassVar[str] = "close_session"
    title: ClassVar[str] = "Close a session"
    toolset: ClassVar[ToolSet] = "core"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = CloseResult
    used_sessions: ClassVar[tuple[str, ...]] = ("session_id",)

    session_id: str | None = Field(default=None, description="If omitted, the current session.")
    detach: Detach = False
    status: Status | None = None
    reason: str | None = None

    def in_sequence(self, of_sequence: str | None, acting: str | None) -> Self:  # noqa: ARG002 (the base's)
        """Close the session that the steps before it went to."""
        return self if self.session_id else self.model_copy(update={"session_id": acting})

    async def run(self, backend: ToolBackend) -> CloseResult:
        """Close the session."""
        return await backend.close_session(self.session_id, detach=self.detach, status=self.status, reason=self.reason)


class CloseSessions(SessionTool):
    """Close every session that matches all given of prefix, idleMs and all; give at least one."""

    verb: ClassVar[str] = "close_sessions"
    title: ClassVar[str] = "Close several sessions"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = CloseResult

    prefix: str | None = None
    idle_ms: int | None = Field(default=None, ge=0)
    all: bool | None = Field(default=None, description="Other clients' too.")
    detach: Detach = False

    async def run(self, backend: ToolBackend) -> CloseResult:
        """Close the sessions."""
        return await backend.close_sessions(prefix=self.prefix, idle_ms=self.idle_ms, all=self.all, detach=self.detach)


class CloseAllSessions(SessionTool):
    """Close all sessions that you started; those of others stay."""

    verb: ClassVar[str] = "close_all_sessions"
    title: ClassVar[str] = "Close all sessions"
    by_default: ClassVar[bool] = True
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = CloseResult

    detach: Detach = False

    async def run(self, backend: ToolBackend) -> CloseResult:
        """Close the sessions."""
        return await backend.close_all_sessions(detach=self.detach)
