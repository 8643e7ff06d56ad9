"""The handle on one session, with every action as a method."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from orchestrator.actions.base import Action, ResultT
from orchestrator.execution.sequence import SequenceResult, Steps
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.test_status import Status
from orchestrator.session_methods import SessionMethods
from orchestrator.sessions.rows import CloseResult, SessionFacts


class SessionBackend(Protocol):
    """The methods of an orchestrator that a session's handle calls."""

    async def session(self, session_id: str | None = None) -> Session:
        """Return a handle on an open session."""

    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Perform an action in a session."""

    async def execute_sequence(
        self,
        actions: Steps,
        session_id: str | None = None,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps in a session."""

    async def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> CloseResult:
        """End a session, or leave it alive at its remote end."""


class Session(SessionMethods):
    """An open session. As an async context manager it is closed at the end of the block.

    Attributes:
        id: Its name.
        facts: Type, provider, capabilities, remote URL and so on, as of the handle's creation or last `refresh`.
    """

    def __init__(self, backend: SessionBackend, facts: SessionFacts) -> None:
        self._backend = backend
        self.id = facts.session_id
        self.facts = facts

    async def refresh(self) -> SessionFacts:
        """Read the current facts from the session's record, without a round trip to the browser.

        Raises:
            SessionNotFound: It is closed.
        """
        self.facts = (await self._backend.session(self.id)).facts
        return self.facts

    async def perform(self, action: Action[ResultT]) -> ResultT:
        """Perform an action that is given as an object, such as `ClickElement(selector="#save")`.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        return await self._backend.perform(action, self.id)

    async def execute_sequence(
        self,
        actions: Steps,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps without other calls in between, then wait until the page has settled.

        Args:
            actions: The steps, in order, as mappings or as actions.
            stability_ms: Milliseconds without a change after which the page counts as settled.
            stability_timeout_ms: Maximum wait for that; past it `stable` is False, which is no error.
            timeout: Milliseconds for the whole.
            verbose: Report each step, too.

        Raises:
            InvalidArgument: A step is invalid; nothing was run.
            OrchestratorError: The failed step's error; `error.details["result"]` is the result up to it.
        """
        return await self._backend.execute_sequence(
            actions,
            self.id,
            stability_ms=stability_ms,
            stability_timeout_ms=stability_timeout_ms,
            timeout=timeout,
            verbose=verbose,
        )

    async def close(
        self, *, detach: bool = False, status: Status | None = None, reason: str | None = None
    ) -> CloseResult:
        """End it with its browser and processes; with `detach` leave it alive at its remote end. May be repeated.

        `status` (passed or failed) and `reason` are reported to a cloud; without them it stays unmarked there.
        """
        return await self._backend.close_session(self.id, detach=detach, status=status, reason=reason)

    async def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        return await self.perform(parse_arguments(declared, fields))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id!r}: {self.facts.type} at {self.facts.provider}>"
