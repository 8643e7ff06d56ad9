"""Calls in a session's lane, and their order."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import anyio

from orchestrator.errors import OrchestratorError, SessionLost, TurnLost
from orchestrator.models.session import Caller, SessionRecord, SessionState
from orchestrator.sessions.progress import report_progress
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Ticket
from orchestrator.sessions.turn import Turn

ResultT = TypeVar("ResultT")

_LONG = 2.0
"""Seconds of waiting from which an error of the call says what it waited for."""


class Call(Generic[ResultT]):
    """A call on a session. All methods but `perform` run in the event loop.

    Attributes:
        wanted: Id of the session that the caller named; if omitted, it is set when the call joins a lane.
        claims: Ends of the names of claims under which the caller uses sessions, by their ids.
        looks: True if the call changes nothing.
        caller: The caller, whose current session is meant if it named none.
        starts: True if the call starts the session; its place was taken with the reservation.
        renews: True if the call counts as use of the session.
        name: Its name for the calls that wait behind it.
        waiting: Cancel scope of the wait for its turn.
        waited_for: What it waits or has waited for, as progress; empty if for nothing.
        left_lane: Set when the call no longer blocks those behind it.
        dying_since: Time at which a process of the session was first seen dead.
        has_lost_session: True if the session was lost by its work.
    """

    def __init__(
        self,
        wanted: str | None,
        work: Callable[[Turn], ResultT],
        ticket: Ticket | None,
        *,
        caller: Caller,
        renews: bool = True,
        name: str = "",
    ) -> None:
        self.wanted = wanted
        self.caller = caller
        self.claims: dict[str, str] = {}
        self.looks = False
        self.starts = ticket is not None
        self.renews = renews
        self.name = name
        self.ticket = ticket
        self.record: SessionRecord | None = None
        self.turn: Turn | None = None
        self.waiting = anyio.CancelScope()
        self.waited_for = ""
        self._wait_began: float | None = None
        self._wait_ended: float | None = None
        self.answered = anyio.Event()
        self.left_lane = anyio.Event()
        self.dying_since: float | None = None
        self.owes_ticket = False
        self.has_lost_session = False
        self.error: BaseException | None = None
        self._work = work
        self._result: ResultT | None = None
        self._failure: BaseException | None = None

    @property
    def session_id(self) -> str:
        """The id of the session whose lane the call is in, or that it asked for."""
        return self.wanted or "the current session"

    @property
    def place(self) -> Ticket:
        """The ticket of a call that is in a lane."""
        if self.ticket is None:
            raise RuntimeError("a call in a lane has a ticket")
        return self.ticket

    @property
    def seconds_waited(self) -> float:
        """Seconds for which it has waited for its turn."""
        return 0.0 if self._wait_began is None else (self._wait_ended or anyio.current_time()) - self._wait_began

    def wait_for(self, cause: str) -> None:
        """Wait for its turn because of this; empty when the turn has come."""
        if cause:
            self.waited_for = cause
            self._wait_began = self._wait_began or anyio.current_time()
        else:
            self._wait_ended = anyio.current_time()
        report_progress(cause)

    def stop(self, reason: Callable[[], Exception]) -> None:
        """Answer with this error at once, whether the call waits or runs, and ask its work to end."""
        if self.turn:
            self.turn.halt(reason)
        self.fail(reason())
        self.waiting.cancel()

    def fail(self, error: BaseException) -> None:
        """Answer with an error, unless the call was answered before."""
        if not self.answered.is_set():
            self._failure = self._telling_wait(error)
            self.answered.set()

    def _telling_wait(self, error: BaseException) -> BaseException:
        """Return the error, with what held the call up: its caller's patience may have ended for that."""
        waited = self.seconds_waited
        if waited < _LONG or not isinstance(error, OrchestratorError):
            return error
        told = copy.copy(error)  # the same error may answer other calls
        told.hint = f"{error.hint} The call was {self.waited_for} for {waited:.0f} s.".strip()
        told.__cause__ = error.__cause__
        return told

    def settle(self) -> None:
        """Answer with the work's result or error, unless the call was answered before."""
        if self.error:
            self.fail(self.error)
        self.answered.set()

    def result(self) -> ResultT:
        """Return the answer, or raise it if it is an error."""
        if isinstance(self._failure, OrchestratorError):
            # Without the worker thread's traceback, among whose lines the caller's own would be lost.
            raise self._failure.with_traceback(None)
        if self._failure:
            raise self._failure
        return cast("ResultT", self._result)

    def perform(self, turn: Turn, store: SqliteStore) -> None:
        """Do the work and leave the lane, both in this thread, so that the lane goes on without the event loop."""
        try:
            self._result = self._work(turn)
        except BaseException as error:  # noqa: BLE001 (raised again for the caller)
            self.error = error
        if not turn.ticket.is_written:
            return
        try:
            after = store.leave_lane(turn.ticket, lambda record: self._build_final_record(turn, record))
        except Exception as error:  # noqa: BLE001 (the ticket is returned later, so that the lane does not block)
            self.error = self.error or error
            self.owes_ticket = True
        else:
            if after is None:
                self.error = self._end_without_place(store.refusal(turn.ticket))

    def _build_final_record(self, turn: Turn, record: SessionRecord) -> SessionRecord:
        after = turn.build_final_record(record, self.error)
        self.has_lost_session = after.state is SessionState.LOST and record.state is not SessionState.LOST
        return after

    def _end_without_place(self, refusal: OrchestratorError | None) -> BaseException | None:
        """Return the error of work whose session ended under it, or whose place in the lane was lost; None for none."""
        if refusal is None:
            return self.error if isinstance(self.error, TurnLost) else TurnLost(self.session_id)
        if self.starts:
            return self.error or refusal
        if self.error is None:
            return None
        return refusal if isinstance(refusal, SessionLost) else SessionLost(self.session_id, "it was closed")


AnyCall = Call[Any]


class Queues:
    """The waiting and running calls of this process, by session; used only in the event loop."""

    def __init__(self) -> None:
        self._calls: dict[str, list[AnyCall]] = {}
        self._empty = anyio.Event()

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, call: AnyCall) -> None:
        """Append a call to its session's lane."""
        if not self._calls:
            self._empty = anyio.Event()
        self._calls.setdefault(call.session_id, []).append(call)

    def remove(self, call: AnyCall) -> None:
        """Remove a call from its lane without waking those behind it."""
        calls = self._calls.get(call.session_id, [])
        if call in calls:
            calls.remove(call)
        if not calls:
            self._calls.pop(call.session_id, None)
        if not self._calls:
            self._empty.set()

    def release(self, call: AnyCall) -> None:
        """Remove a call from its lane and wake the next one, which checks if its turn has come."""
        self.remove(call)
        call.left_lane.set()

    async def wait_until_empty(self) -> None:
        """Wait until no call waits or runs."""
        await self._empty.wait()

    def ahead(self, call: AnyCall) -> list[AnyCall]:
        """Return the calls of this process before this one in their order, in the same life of its session."""
        mine = call.place
        before = [
            other
            for other in self._calls.get(call.session_id, ())
            if other.ticket and other.ticket.session == mine.session and other.ticket.number < mine.number
        ]
        return sorted(before, key=lambda other: other.place.number)

    def running(self) -> list[AnyCall]:
        """List the calls whose work runs."""
        return [call for calls in self._calls.values() for call in calls if call.turn]

    def answer_all(
        self, record: SessionRecord, running: Callable[[], Exception], waiting: Callable[[], Exception]
    ) -> None:
        """Answer all calls of a session at once and drop its lane."""
        for call in list(self._calls.get(record.id, ())):
            # A later session may have the same id, but not the same time of creation.
            if call.record and call.record.created_at == record.created_at:
                call.stop(running if call.turn else waiting)
                self.release(call)
