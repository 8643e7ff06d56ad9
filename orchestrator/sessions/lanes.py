"""Whose turn it is: one queue a session, within and across processes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from orchestrator import processes
from orchestrator.errors import OrchestratorError, SessionLost, SessionNotFound
from orchestrator.ids import session_id as checked
from orchestrator.leases import STARTER_DIED
from orchestrator.models import ProcessInfo, SessionRecord, SessionState
from orchestrator.sessions.book import Book
from orchestrator.sessions.call import Call
from orchestrator.sessions.queues import AnyCall, Queues
from orchestrator.sessions.turn import Stopped, Turn
from orchestrator.store import Entry, Ticket

ResultT = TypeVar("ResultT")

_SHORTEST, _LONGEST = 0.005, 0.05
"""Seconds between two looks at a lane in which another process stands before us."""

_LOOK = 0.25
_LAST_WORD = 1.0
"""Seconds that work whose session's process died has for an answer of its own."""


class Lanes:
    """Runs calls on sessions: in order of arrival on each, side by side on different ones.

    Calls are run in tasks of `group`, so that a call whose caller is gone still gives its turn back. End it by
    cancelling the group: work that runs then is told to stop, and is not waited for.
    """

    def __init__(
        self,
        book: Book,
        group: anyio.abc.TaskGroup,
        *,
        alive: Callable[[ProcessInfo], bool] = processes.alive,
        beat_every: float = 5.0,
        on_lost: Callable[[SessionRecord, str], None] = lambda _record, _reason: None,
    ) -> None:
        self._book = book
        self._store = book.store
        self._group = group
        self._alive = alive
        self._beat_every = beat_every
        self._on_lost = on_lost
        self._threads = anyio.CapacityLimiter(math.inf)
        self._queues = Queues()
        self._owed: list[Ticket] = []
        self._watching = False

    async def run(
        self,
        session_id: str | None,
        work: Callable[[Turn], ResultT],
        *,
        ticket: Ticket | None = None,
        renews: bool = True,
    ) -> ResultT:
        """Run blocking work when the session's turn comes, whole in one worker thread; returns what it returns.

        Without a `session_id` it is the caller's current session. `ticket` is that of a reservation: the work is the
        start, and unless it makes the session active the id is free again when it ends. When work raises
        `SessionLost` the session is lost. What does not count as using the session `renews` nothing.

        Raises:
            InvalidArgument: It is no session id.
            NoSession: None was given and the caller has no current one.
            SessionNotFound: The session is not open, or was closed before its turn came.
            SessionLost: It is lost, or was lost or closed while the work ran.
        """
        call = Call(None if session_id is None else checked(session_id), work, ticket, renews=renews)
        if ticket:
            self._line_up(call)
        self._group.start_soon(self._drive, call)
        try:
            await call.answered.wait()
        except BaseException:
            call.stop(Stopped)
            raise
        return call.result()

    async def close(
        self,
        session_id: str,
        reason: str = "it was closed",
        *,
        when: Callable[[SessionRecord, bool], bool] | None = None,
        because: str | None = None,
    ) -> SessionRecord | None:
        """Close a session without queueing: the running call and those that wait are answered at once.

        Returns the record as it was, for whoever ends the remote end, or None when there was nothing to close.
        `when(record, in_use)` decides at the moment of closing; `because` is told to who asks for it later.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The id was never open here.
        """
        record = await self._book.close(session_id, when=when, because=because)
        if record is not None:
            left, _ = await self._book.rows()
            not_found = functools.partial(SessionNotFound, record.id, [other.id for other in left])
            closed = functools.partial(SessionLost, record.id, reason, closed=True)
            self._queues.end(record, closed, not_found)
        return record

    async def lost(self, seen: SessionRecord, reason: str) -> None:
        """Mark a session as lost: the running call and those that wait get `SessionLost` at once.

        A later session of its id is not meant.

        Raises:
            SessionNotFound: It is closed.
        """

        def change(record: SessionRecord) -> SessionRecord:
            return _as_lost(record, reason=reason) if record.created_at == seen.created_at else record

        record = await self._book.update(seen.id, change)
        if record.created_at == seen.created_at:
            self._end_lost(record, record.lost_reason or reason)

    # One call's way

    async def _drive(self, call: AnyCall) -> None:
        try:
            if await self._wait(call):
                await self._perform(call)
        except Exception as error:  # noqa: BLE001 (the caller's, who waits for it)
            call.fail(error)
        finally:
            if call.ticket and not call.turn:
                await self._step_out(call)
            self._queues.release(call)
            if not call.answered.is_set():
                call.stop(lambda: OrchestratorError(f"Call on '{call.session_id}' dropped: this server is ending."))

    async def _wait(self, call: AnyCall) -> bool:
        with call.waiting:
            entry = await self._join(call)
            pause = _SHORTEST
            while not entry.first:
                ahead = self._queues.ahead(call)
                if ahead:
                    await ahead.left.wait()
                    pause = _SHORTEST
                else:
                    await anyio.sleep(pause)
                    pause = min(2 * pause, _LONGEST)
                entry = await self._look(call)
            call.record = entry.record
            if entry.record.state is SessionState.STARTING and not call.starts:
                await self._lose(call, STARTER_DIED)
        return not call.answered.is_set()

    async def _join(self, call: AnyCall) -> Entry:
        if call.ticket:
            return await self._look(call)
        entry = await self._book.ask(self._enter, call)
        call.record = entry.record
        self._line_up(call)
        return entry

    def _enter(self, call: AnyCall) -> Entry:
        while self._owed:
            self._store.leave(self._owed[-1])
            self._owed.pop()
        entry = self._store.enter(self._book.namespace, call.wanted, self._book.holder, self._book.caller.key)
        call.ticket = entry.ticket  # in this thread: a cancellation on the way back must not lose it
        call.wanted = entry.ticket.id
        return entry

    async def _look(self, call: AnyCall) -> Entry:
        entry = await self._book.ask(self._store.look, call.place)
        if entry:
            call.record = entry.record
            return entry
        refusal = await self._book.ask(self._store.refusal, call.place)
        if refusal:
            raise refusal
        self._queues.remove(call)  # we were taken for dead: the process was stopped for a while
        call.ticket = None
        return await self._join(call)

    async def _perform(self, call: AnyCall) -> None:
        ticket, record = call.place, call.record
        if record is None:
            raise RuntimeError("a turn comes with its record")
        turn = call.turn = Turn(self._store, ticket, record, renews=call.renews)
        await anyio.to_thread.run_sync(call.perform, turn, self._store, abandon_on_cancel=True, limiter=self._threads)
        if call.owes_ticket:
            self._owed.append(ticket)
        call.settle()

    async def _step_out(self, call: AnyCall) -> None:
        def gone(record: SessionRecord) -> SessionRecord:
            return record.changed(state=SessionState.CLOSED, lost_reason="it was cancelled") if call.starts else record

        with anyio.CancelScope(shield=True):
            try:
                await self._book.ask(self._store.leave, call.place, gone)
            except OrchestratorError:
                self._owed.append(call.place)

    def _line_up(self, call: AnyCall) -> None:
        self._queues.add(call)
        if not self._watching:
            self._watching = True
            self._group.start_soon(self._watch)

    def _end_lost(self, record: SessionRecord, reason: str) -> None:
        lost = functools.partial(SessionLost, record.id, reason)
        self._queues.end(record, lost, lost)
        self._on_lost(record, reason)

    # What happens while calls run

    async def _watch(self) -> None:
        beat_at = anyio.current_time() + self._beat_every
        while self._queues:
            with anyio.move_on_after(_LOOK):
                await self._queues.empty()
                continue
            try:
                if anyio.current_time() >= beat_at:
                    await self._book.ask(self._store.beat, self._book.holder)
                    beat_at = anyio.current_time() + self._beat_every
                await self._inspect()
            except OrchestratorError:
                continue  # the store did not answer: the calls themselves will meet and report that
        self._watching = False

    async def _inspect(self) -> None:
        running = self._queues.running()
        if not running:
            return
        found = await anyio.to_thread.run_sync(self._symptoms, running, limiter=self._threads)
        now = anyio.current_time()
        for call, refusal, dead in found:
            if call.left.is_set() or call.record is None:
                continue
            if refusal:
                why = refusal.reason if isinstance(refusal, SessionLost) else None
                lost = functools.partial(SessionLost, call.session_id, why or "it was closed", closed=why is None)
                self._queues.end(call.record, lost, functools.partial(_the, refusal))
            elif dead is None:
                call.dying_since = None
            elif call.dying_since is None:
                call.dying_since = now
            elif now - call.dying_since >= _LAST_WORD:
                await self._lose(call, f"its process {dead.name} ({dead.pid}) ended")

    def _symptoms(self, running: list[AnyCall]) -> list[tuple[AnyCall, OrchestratorError | None, ProcessInfo | None]]:
        found = []
        for call in running:
            refusal = self._store.refusal(call.place)
            watch = call.turn.watch if call.turn else []
            found.append((call, refusal, next((process for process in [*watch] if not self._alive(process)), None)))
        return found

    async def _lose(self, call: AnyCall, reason: str) -> None:
        record = await self._book.ask(self._store.write, call.place, functools.partial(_as_lost, reason=reason))
        self._end_lost(record, record.lost_reason or reason)


def _the(error: Exception) -> Exception:
    return error


def _as_lost(record: SessionRecord, *, reason: str) -> SessionRecord:
    if record.state is SessionState.LOST:
        return record
    return record.changed(state=SessionState.LOST, lost_reason=reason)
