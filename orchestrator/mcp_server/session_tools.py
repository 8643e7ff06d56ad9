"""The tools that start, list, choose and close sessions, and those that run several steps, each declared once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from orchestrator.actions.results import Outcome
from orchestrator.api import Orchestrator
from orchestrator.models import SessionType, StartRequest, Viewport, Wire
from orchestrator.parallel import ExecuteParallel, ParallelResult
from orchestrator.rows import Closed, Current, Row, SessionList
from orchestrator.sequence import ExecuteSequence, SequenceResult

TARGET = "Target session. If omitted, the current session."


class SessionTool(Wire, ABC):
    """A tool that is no action: it works on sessions as a whole.

    The docstring of a subclass is its description, its fields are its parameters, `run` is what it does.
    """

    verb: ClassVar[str]
    title: ClassVar[str]
    reads: ClassVar[bool] = False
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    outside: ClassVar[bool] = False
    """It reaches what lies outside this machine, such as web sites."""
    result: ClassVar[type[Outcome]]
    structured: ClassVar[bool] = True
    nullable: ClassVar[tuple[str, ...]] = ()
    """Properties of the result that are there even when they are null."""

    @abstractmethod
    async def run(self, orchestrator: Orchestrator) -> Outcome:
        """Do it; nothing may be awaited before the call of the façade, or calls would change places.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """


Named = Annotated[str | None, Field(description="Name for the new session, such as alice; browser-1, … unless given.")]
Chrome = Literal["chrome"]
Headless = Annotated[bool | None, Field(description="Without a window; a setting (true) unless given.")]
Address = Annotated[str | None, Field(description="Open this URL first.")]
Capabilities = Annotated[dict[str, Any], Field(default_factory=dict, description="W3C capabilities; yours win.")]
ProviderOptions = Annotated[dict[str, Any], Field(default_factory=dict, description="The provider's own options.")]
Wait = Annotated[bool, Field(description="false: answer at once; later calls queue until it has started.")]


class _Starting(SessionTool):
    """What the tools that start a session have in common."""

    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Row

    session_id: Named = None
    browser: Chrome = "chrome"
    headless: Headless = None
    navigation_url: Address = None
    capabilities: Capabilities
    options: ProviderOptions
    wait: Wait = True

    async def run(self, orchestrator: Orchestrator) -> Row:
        """Start it."""
        return await orchestrator.start(self.request(), wait=self.wait)

    def request(self) -> StartRequest:
        """The wish for a session that these parameters stand for; what was left out has its defaults there."""
        given = {name: getattr(self, name) for name in self.model_fields_set if name in StartRequest.model_fields}
        return StartRequest(**given, type=self.kind)

    @property
    def kind(self) -> SessionType:
        """What kind of session it is."""
        return SessionType.BROWSER


class StartBrowser(_Starting):
    """Start a browser session (open Chrome), optionally under a name of your own and at a URL.

    Start several to act as several users side by side: each has its own cookies and storage.
    """

    verb: ClassVar[str] = "start_browser"
    title: ClassVar[str] = "Start a browser"

    viewport: Viewport | None = Field(default=None, description="Size of the page area in CSS pixels; 1280 x 720.")
    args: list[str] = Field(default_factory=list, description="Further switches of the browser.")


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class StartSession(_Starting):
    """Start a session at a provider by its name.

    For a browser on this machine, start_browser is simpler.
    """

    verb: ClassVar[str] = "start_session"
    title: ClassVar[str] = "Start a session at a provider"

    provider: str = Field(description="local, or another installed provider.")
    platform: Annotated[Literal["browser"], BeforeValidator(_lower)]

    @property
    def kind(self) -> SessionType:
        """The platform."""
        return SessionType(self.platform)


class ListSessions(SessionTool):
    """List the open sessions with their state, browser and URL, and which one is current."""

    verb: ClassVar[str] = "list_sessions"
    title: ClassVar[str] = "List sessions"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionList
    nullable: ClassVar[tuple[str, ...]] = ("currentSession",)

    prefix: str | None = Field(default=None, description="Only ids that begin with it.")

    async def run(self, orchestrator: Orchestrator) -> SessionList:
        """Read what is recorded."""
        return await orchestrator.list_sessions(self.prefix)


class SetCurrentSession(SessionTool):
    """Choose the session that calls without sessionId go to."""

    verb: ClassVar[str] = "set_current_session"
    title: ClassVar[str] = "Set the current session"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Current

    session_id: str

    async def run(self, orchestrator: Orchestrator) -> Current:
        """Choose it."""
        return await orchestrator.set_current_session(self.session_id)


Detach = Annotated[bool, Field(description="Leave it alive at its remote end, and say how to attach to it.")]


class CloseSession(SessionTool):
    """Close a session: its browser, tabs and processes end, and its name is free again."""

    verb: ClassVar[str] = "close_session"
    title: ClassVar[str] = "Close a session"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Closed

    session_id: str | None = Field(default=None, description="If omitted, the current session.")
    detach: Detach = False

    async def run(self, orchestrator: Orchestrator) -> Closed:
        """Close it."""
        return await orchestrator.close_session(self.session_id, detach=self.detach)


class CloseSessions(SessionTool):
    """Close every session that meets all the selectors given; at least one of prefix, idleMs and all is required."""

    verb: ClassVar[str] = "close_sessions"
    title: ClassVar[str] = "Close several sessions"
    destructive: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Closed

    prefix: str | None = Field(default=None, description="Ids that begin with it.")
    idle_ms: int | None = Field(default=None, ge=0, description="Unused for at least so many ms.")
    all: bool | None = Field(default=None, description="true: any session, other clients' too.")
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


class SequenceTool(SessionTool, ExecuteSequence):
    """Run several steps in one call (fill in a form, click, wait), without a call of anybody else between them.

    It stops at the first failure, waits until the page has settled, and answers with what changed.
    """

    verb: ClassVar[str] = "execute_sequence"
    title: ClassVar[str] = "Run steps in order"
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SequenceResult
    nullable: ClassVar[tuple[str, ...]] = ("stateChange",)

    session_id: str | None = Field(default=None, description=TARGET)

    async def run(self, orchestrator: Orchestrator) -> SequenceResult:
        """Run them."""
        return await orchestrator.run_sequence(self)


class ParallelTool(SessionTool, ExecuteParallel):
    """Run one sequence a session at the same time, for example two users who chat.

    The step {action: "sync", name} is a barrier: all sequences that have it go on together.
    """

    verb: ClassVar[str] = "execute_parallel"
    title: ClassVar[str] = "Run sequences side by side"
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ParallelResult

    async def run(self, orchestrator: Orchestrator) -> ParallelResult:
        """Run them."""
        return await orchestrator.run_parallel(self)


SESSION_TOOLS: tuple[type[SessionTool], ...] = (
    StartBrowser,
    StartSession,
    ListSessions,
    SetCurrentSession,
    CloseSession,
    CloseSessions,
    CloseAllSessions,
    SequenceTool,
    ParallelTool,
)
"""In the order in which they are listed; the actions follow them."""
