"""One call on its way through a lane: it waits, works, and is answered, each exactly once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

import anyio

from orchestrator.errors import OrchestratorError, SessionLost, SessionNotFound
from orchestrator.models import SessionRecord
from orchestrator.sessions.turn import Turn
from orchestrator.store import SqliteStore, Ticket

ResultT = TypeVar("ResultT")


class Call(Generic[ResultT]):
    """A call; all but `perform` belongs to the event loop.

    Attributes:
        wanted: The session that the caller named; without one it is set when the call takes its place.
        starts: Whether it is the call that starts the session, whose place was taken with the reservation.
        renews: Whether it counts as using the session.
        waiting: The scope in which it waits for its turn.
        left: Set when it stands in nobody's way any more.
        dying_since: When a process of the session was first seen dead.
    """

    def __init__(
        self, wanted: str | None, work: Callable[[Turn], ResultT], ticket: Ticket | None, *, renews: bool = True
    ) -> None:
        self.wanted = wanted
        self.starts = ticket is not None
        self.renews = renews
        self.ticket = ticket
        self.record: SessionRecord | None = None
        self.turn: Turn | None = None
        self.waiting = anyio.CancelScope()
        self.answered = anyio.Event()
        self.left = anyio.Event()
        self.dying_since: float | None = None
        self.owes_ticket = False
        self.error: BaseException | None = None
        self._work = work
        self._result: ResultT | None = None
        self._failure: BaseException | None = None

    @property
    def session_id(self) -> str:
        """The session whose lane it stands in; before that, what was asked for."""
        return self.wanted or "the current session"

    @property
    def place(self) -> Ticket:
        """Its ticket; a call that stands in a lane has one."""
        if self.ticket is None:
            raise RuntimeError("a call that stands in a lane has a ticket")
        return self.ticket

    def stop(self, reason: Callable[[], Exception]) -> None:
        """Answer with this error at once, wherever the call is, and tell its work to end."""
        if self.turn:
            self.turn.halt(reason)
        self.fail(reason())
        self.waiting.cancel()

    def fail(self, error: BaseException) -> None:
        """Answer with an error, unless the call has been answered."""
        if not self.answered.is_set():
            self._failure = error
            self.answered.set()

    def settle(self) -> None:
        """Answer with what the work returned or raised, unless the call has been answered."""
        if self.error:
            self.fail(self.error)
        self.answered.set()

    def result(self) -> ResultT:
        """The answer."""
        if isinstance(self._failure, OrchestratorError):
            # It is for the caller, whose own lines would be lost among those of the thread that found it out.
            raise self._failure.with_traceback(None)
        if self._failure:
            raise self._failure
        return cast("ResultT", self._result)

    def perform(self, turn: Turn, store: SqliteStore) -> None:
        """Work and give the turn back, both in this thread: so the lane passes on even when the event loop is gone."""
        try:
            self._result = self._work(turn)
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is the caller's)
            self.error = error
        try:
            after = store.leave(turn.ticket, lambda record: turn.settle(record, self.error))
        except Exception as error:  # noqa: BLE001 (a lane must not stand still for it)
            self.error = self.error or error
            self.owes_ticket = True
        else:
            if self.starts and after is None:
                self.error = self.error or store.refusal(turn.ticket) or SessionNotFound(self.session_id)
            elif after is None and self.error:  # what it met was the end of its browser, or came to the same
                refusal = store.refusal(turn.ticket)
                closed = SessionLost(self.session_id, "it was closed")
                self.error = refusal if isinstance(refusal, SessionLost) else closed
