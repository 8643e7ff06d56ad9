"""A handle on one session: what can be done in it as methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from orchestrator.actions.base import Action, ResultT
from orchestrator.arguments import read
from orchestrator.mark import Status
from orchestrator.methods import SessionMethods
from orchestrator.rows import Closed, SessionFacts
from orchestrator.sequence import SequenceResult, Steps


class Home(ABC):
    """Where a handle's calls go: what of the façade a handle needs."""

    @abstractmethod
    async def session(self, session_id: str | None = None) -> Session:
        """A handle on an open session of the namespace, whoever started it; on the current one unless given."""

    @abstractmethod
    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Do one thing in a session."""

    @abstractmethod
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
        """Run several steps in one session."""

    @abstractmethod
    async def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> Closed:
        """End a session, or leave it alive at its remote end."""


class Session(SessionMethods):
    """One open session, whoever started it. As an async context manager it is closed at the end of the block.

    Attributes:
        id: Its name.
        facts: Type, provider, capabilities, remote URL and so on, as they were when the handle was made.
    """

    def __init__(self, home: Home, facts: SessionFacts) -> None:
        self._home = home
        self.id = facts.session_id
        self.facts = facts

    async def refresh(self) -> SessionFacts:
        """Look up the facts of now, without a round trip to the browser.

        Raises:
            SessionNotFound: It is closed.
        """
        self.facts = (await self._home.session(self.id)).facts
        return self.facts

    async def perform(self, action: Action[ResultT]) -> ResultT:
        """Do one thing that is declared as an object, such as `ClickElement(selector="#save")`.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        return await self._home.perform(action, self.id)

    async def execute_sequence(
        self,
        actions: Steps,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps without anything in between, and wait until the page has settled.

        Args:
            actions: The steps, in order, as mappings or as actions.
            stability_ms: How long nothing may change.
            stability_timeout_ms: How long that is waited for; past it `stable` is False, which is no error.
            timeout: ms for the whole.
            verbose: Report each step, too.

        Raises:
            InvalidArgument: A step is unknown or wrong; nothing was run.
            OrchestratorError: What stopped it; `error.details["result"]` says how far it came.
        """
        return await self._home.execute_sequence(
            actions,
            self.id,
            stability_ms=stability_ms,
            stability_timeout_ms=stability_timeout_ms,
            timeout=timeout,
            verbose=verbose,
        )

    async def close(self, *, detach: bool = False, status: Status | None = None, reason: str | None = None) -> Closed:
        """End it with all that belongs to it, or leave it alive at its remote end; one that is closed stays so.

        A cloud is told `status` (passed or failed) and `reason`; without them the session stays unmarked there.
        """
        return await self._home.close_session(self.id, detach=detach, status=status, reason=reason)

    async def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        return await self.perform(read(declared, fields))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id!r}: {self.facts.type} at {self.facts.provider}>"
