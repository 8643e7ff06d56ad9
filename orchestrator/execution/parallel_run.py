"""Runs parallel sequences side by side; starts sessions for them, and closes some."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import anyio

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionNotFound
from orchestrator.execution.parallel import BarrierGroup, ParallelResult, result_data
from orchestrator.execution.runner import Runner
from orchestrator.execution.sequence import SequenceResult, SequenceTask
from orchestrator.execution.timing import Moments, StepKey
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


@dataclass(frozen=True)
class ParallelCaller(Generic[ReservedT]):
    """The caller of parallel sequences, with what runs them and the ways to its sessions."""

    caller: Caller
    runner: Runner
    sessions: ParallelSessions[ReservedT]


@dataclass(frozen=True)
class Round:
    """A run: the sequence of each session, where they meet, and the order of their steps if a seed chose it."""

    tasks: Mapping[str, SequenceTask]
    group: BarrierGroup
    moments: Moments
    seed: int | None
    order: Sequence[StepKey]


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
        await release_all(reserved.values())
        raise
    return reserved


async def release_all(reserved: Iterable[ReservedSession]) -> None:
    """Free the ids of sessions that are not to be launched after all."""
    with anyio.CancelScope(shield=True):
        for one in reserved:
            await one.release()


class ParallelRun(Generic[ReservedT]):
    """The progress of parallel sequences. They begin together, once all sessions have started or failed to.

    Args:
        caller: The caller, and what runs its sequences.
        planned: The sequences.
        reserved: The sessions to launch first.
        closing: The sessions to close when their sequence has ended, with the names by which the caller knows them.
    """

    def __init__(
        self,
        caller: ParallelCaller[ReservedT],
        planned: Round,
        *,
        reserved: Mapping[str, ReservedT],
        closing: Mapping[str, str],
    ) -> None:
        self._caller = caller
        self._planned = planned
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
            for session_id in self._planned.tasks:
                group.start_soon(self._run_one, session_id)
        ordered = {session_id: self._finished[session_id] for session_id in self._planned.tasks}
        return ParallelResult(
            results={
                session_id: result_data(one) | ({"closed": True} if session_id in self._closed else {})
                for session_id, one in ordered.items()
            },
            divergence=self._planned.group.divergence,
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
            call, task = self._caller, self._planned.tasks[session_id]
            self._finished[session_id] = await call.runner.run(call.caller, session_id, task)
        except OrchestratorError as raised:
            self._finished[session_id] = error = raised
        finally:
            self._planned.group.mark_ended(session_id, error)
            self._planned.moments.mark_ended(session_id)
            if is_open and session_id in self._closing:
                with anyio.CancelScope(shield=True):
                    await self._close(session_id)

    async def _launch(self, session_id: str) -> None:
        try:
            if session_id in self._reserved:
                row = await self._caller.sessions.launch(self._reserved[session_id])
                self._warnings += row.warnings
                self._events += [f"{session_id}: {event}" for event in row.events]
        finally:
            self._starting.discard(session_id)
            if not self._starting:
                self._all_started.set()

    async def _close(self, session_id: str) -> None:
        closed, warnings = await close_if_open(self._caller.sessions, self._closing[session_id])
        self._closed.update(closed)
        self._warnings += warnings


async def close_if_open(sessions: ParallelSessions[ReservedT], session_id: str) -> tuple[list[str], list[str]]:
    """Close a session that may be gone by now; the ids that were closed, and warnings."""
    try:
        closed = await sessions.close(session_id)
    except SessionNotFound:
        return [], []
    except OrchestratorError as error:
        return [], [f"{session_id} was not closed: {error.sentence}"]
    not_ended = [f"{one.session_id} was not ended: {one.reason}" for one in closed.failed]
    return closed.closed, [*not_ended, *closed.warnings]
