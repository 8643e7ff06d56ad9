"""Calls in a session's lane, and their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import anyio

from orchestrator.errors import OrchestratorError, SessionLost, SessionNotFound
from orchestrator.models.session import Caller, SessionRecord
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Ticket
from orchestrator.sessions.turn import Turn

ResultT = TypeVar("ResultT")


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
        left_lane: Set when the call no longer blocks those behind it.
        dying_since: Time at which a process of the session was first seen dead.
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
        self.answered = anyio.Event()
        self.left_lane = anyio.Event()
        self.dying_since: float | None = None
        self.owes_ticket = False
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

    def stop(self, reason: Callable[[], Exception]) -> None:
        """Answer with this error at once, whether the call waits or runs, and ask its work to end."""
        if self.turn:
            self.turn.halt(reason)
        self.fail(reason())
        self.waiting.cancel()

    def fail(self, error: BaseException) -> None:
        """Answer with an error, unless the call was answered before."""
        if not self.answered.is_set():
            self._failure = error
            self.answered.set()

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
        try:
            after = store.leave_lane(turn.ticket, lambda record: turn.build_final_record(record, self.error))
        except Exception as error:  # noqa: BLE001 (the ticket is returned later, so that the lane does not block)
            self.error = self.error or error
            self.owes_ticket = True
        else:
            if self.starts and after is None:
                self.error = self.error or store.refusal(turn.ticket) or SessionNotFound(self.session_id)
            elif after is None and self.error:  # the error comes from the session's end under the work
                refusal = store.refusal(turn.ticket)
                closed = SessionLost(self.session_id, "it was closed")
                self.error = refusal if isinstance(refusal, SessionLost) else closed


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
