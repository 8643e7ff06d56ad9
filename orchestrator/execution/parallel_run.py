"""Runs parallel sequences side by side; starts sessions for them, and closes some."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import anyio

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionNotFound
from orchestrator.execution.parallel import BarrierGroup, ParallelResult, result_data
from orchestrator.execution.runner import Runner
from orchestrator.execution.sequence import SequenceResult, SequenceTask
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.requests import (
    StartAppParameters,
    StartBrowserParameters,
    StartParameters,
    StartRequest,
    StartSessionParameters,
)
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.sessions.rows import CloseResult, SessionRow


class ReservedSession(Protocol):
    """A session whose id is reserved, and which is not launched yet."""

    @property
    def record(self) -> SessionRecord:
        """Its record."""
        ...

    async def release(self) -> None:
        """Free the id again, instead of launching it."""
        ...


ReservedT = TypeVar("ReservedT", bound=ReservedSession)


@dataclass(frozen=True)
class ParallelSessions(Generic[ReservedT]):
    """The ways to reserve, launch and close the sessions of a call."""

    reserve: Callable[[StartRequest], Awaitable[ReservedT]]
    launch: Callable[[ReservedT], Awaitable[SessionRow]]
    close: Callable[[str], Awaitable[CloseResult]]


def name_start_tool(start: Mapping[str, Any]) -> str:
    """Return the tool that takes the parameters of a sequence's `start`."""
    if "provider" in start:
        return "start_session"
    return "start_app_session" if "platform" in start else "start_browser"


def parse_start(index: int, start: Mapping[str, Any]) -> StartRequest:
    """Check the `start` of the sequence with this index.

    Raises:
        InvalidArgument: It is wrong; the sequence is named.
    """
    models: dict[str, type[StartParameters]] = {
        "start_browser": StartBrowserParameters,
        "start_app_session": StartAppParameters,
        "start_session": StartSessionParameters,
    }
    try:
        parameters = parse_arguments(models[name_start_tool(start)], start)
    except InvalidArgument as error:
        message = f"Sequence {index}: start: {error.message}"
        raise InvalidArgument(message, hint=f"{error.hint} Nothing was run.".strip()) from None
    if parameters.claim:
        raise InvalidArgument(f"Sequence {index}: start takes no claim.", hint="Omit it. Nothing was run.")
    return parameters.to_start_request()


async def reserve_all(
    sessions: ParallelSessions[ReservedT], requests: Mapping[int, StartRequest]
) -> dict[int, ReservedT]:
    """Reserve the sessions of all requests, or none.

    Raises:
        OrchestratorError: One cannot be started; none of the others is reserved any more.
    """
    reserved: dict[int, ReservedT] = {}
    try:
        for index, request in requests.items():
            reserved[index] = await sessions.reserve(request)
    except BaseException:
        with anyio.CancelScope(shield=True):
            for one in reserved.values():
                await one.release()
        raise
    return reserved


class ParallelRun(Generic[ReservedT]):
    """The progress of parallel sequences. They begin together, once all sessions have started or failed to.

    Args:
        caller: The caller.
        runner: Runs the sequences.
        tasks: The sequence of each session.
        group: The points at which they wait for each other.
        sessions: The ways to launch and close sessions.
        reserved: The sessions to launch first.
        closing: The sessions to close when their sequence has ended, with the names by which the caller knows them.
    """

    def __init__(
        self,
        caller: Caller,
        runner: Runner,
        tasks: Mapping[str, SequenceTask],
        group: BarrierGroup,
        *,
        sessions: ParallelSessions[ReservedT],
        reserved: Mapping[str, ReservedT],
        closing: Mapping[str, str],
    ) -> None:
        self._caller = caller
        self._runner = runner
        self._tasks = tasks
        self._group = group
        self._sessions = sessions
        self._reserved = reserved
        self._closing = closing
        self._starting = set(reserved)
        self._all_started = anyio.Event()
        self._finished: dict[str, SequenceResult | OrchestratorError] = {}
        self._closed: set[str] = set()
        self._warnings: list[str] = []
        self._events: list[str] = []

    async def run(self) -> ParallelResult:
        """Run all; the result has each session's result or error."""
        began = time.monotonic()
        async with anyio.create_task_group() as group:
            for session_id in self._tasks:
                group.start_soon(self._run_one, session_id)
        ordered = {session_id: self._finished[session_id] for session_id in self._tasks}
        return ParallelResult(
            results={
                session_id: result_data(one) | ({"closed": True} if session_id in self._closed else {})
                for session_id, one in ordered.items()
            },
            divergence=self._group.divergence,
            wall_ms=round((time.monotonic() - began) * 1000),
            sequences=ordered,
            warnings=[*dict.fromkeys(self._warnings)],
            events=self._events,
        )

    async def _run_one(self, session_id: str) -> None:
        """Launch the session if that is to be done, run its sequence, and close it if that is to be done."""
        error = None
        is_open = session_id not in self._reserved
        try:
            await self._launch(session_id)
            is_open = True
            await self._all_started.wait()
            self._finished[session_id] = await self._runner.run(self._caller, session_id, self._tasks[session_id])
        except OrchestratorError as raised:
            self._finished[session_id] = error = raised
        finally:
            self._group.mark_ended(session_id, error)
            if is_open and session_id in self._closing:
                with anyio.CancelScope(shield=True):
                    await self._close(session_id)

    async def _launch(self, session_id: str) -> None:
        try:
            if session_id in self._reserved:
                row = await self._sessions.launch(self._reserved[session_id])
                self._warnings += row.warnings
                self._events += [f"{session_id}: {event}" for event in row.events]
        finally:
            self._starting.discard(session_id)
            if not self._starting:
                self._all_started.set()

    async def _close(self, session_id: str) -> None:
        """Close a session that may be gone by now."""
        try:
            closed = await self._sessions.close(self._closing[session_id])
        except SessionNotFound:
            return
        except OrchestratorError as error:
            self._warnings.append(f"{session_id} was not closed: {error}")
            return
        self._closed.update(closed.closed)
        self._warnings += [f"{one.session_id} was not ended: {one.reason}" for one in closed.failed]
        self._warnings += closed.warnings
