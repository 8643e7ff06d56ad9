"""Lanes: one queue of calls per session, within and across processes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost, SessionNotFound, StoreFailed
from orchestrator.models.identifiers import split_claim
from orchestrator.models.session import Caller, ProcessInfo, SessionRecord, SessionState
from orchestrator.sessions.calls import AnyCall, Call, Queues
from orchestrator.sessions.id_guard import SessionIdGuard
from orchestrator.sessions.meter import Meter, TurnNote
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store.leases import STARTER_DIED
from orchestrator.sessions.store.types import Closer, LanePosition, Ticket
from orchestrator.sessions.turn import CallCancelled, Turn
from orchestrator.system import processes

ResultT = TypeVar("ResultT")

_SHORTEST, _LONGEST = 0.005, 0.05
"""Seconds between two reads of a lane in which another process is ahead."""

_INSPECTION = 0.25
"""Seconds between two inspections of the running calls."""
_LAST_WORD = 1.0
"""Seconds in which work may still answer by itself after a process of its session died."""


class ServerEnding(RemoteFailure):
    """The server ended before the call was over; the session is parked. `mayHaveRun` says that the call had begun."""

    retryable = True

    @classmethod
    def of(cls, call: AnyCall) -> ServerEnding:
        """Return the error of a call that had not ended."""
        began = call.turn is not None and not call.looks
        hint = (
            "The call had begun: look what it did before you call again." if began else "Nothing was run: call again."
        )
        error = cls(f"The server ended before the call on '{call.session_id}' was over.", hint=hint)
        error.details |= {"mayHaveRun": True} if began else {}
        return error


class Lanes:
    """Runs calls on sessions: in order of arrival on each, in parallel on different ones.

    Calls run in tasks of `group`, so that a call whose caller is gone still leaves its lane. End them by cancelling the
    group: running work is asked to stop, and is not waited for.

    Attributes:
        id_guard: Refuses calls without a session id where that is not safe; none by default.
        meter: Measures turns, starts and losses; nothing unless `measured_by` says so.
    """

    def __init__(
        self,
        registry: SessionRegistry,
        group: anyio.abc.TaskGroup,
        *,
        id_guard: SessionIdGuard | None = None,
        alive: Callable[[ProcessInfo], bool] = processes.alive,
        beat_every: float = 5.0,
        on_lost: Callable[[SessionRecord, str], None] = lambda _record, _reason: None,
    ) -> None:
        self._registry = registry
        self._store = registry.store
        self._group = group
        self.id_guard = id_guard or SessionIdGuard("never", registry)
        self.meter = Meter()
        self._alive = alive
        self._beat_every = beat_every
        self._on_lost = on_lost
        self._threads = anyio.CapacityLimiter(math.inf)
        self._queues = Queues()
        self._owed: list[Ticket] = []
        self._watching = False

    @contextmanager
    def measured_by(self, meter: Meter) -> Iterator[None]:
        """Have turns, starts and losses measured while the block runs."""
        before, self.meter = self.meter, meter
        try:
            yield
        finally:
            self.meter = before

    async def run_turn(
        self,
        session_id: str | None,
        work: Callable[[Turn], ResultT],
        *,
        caller: Caller | None = None,
        ticket: Ticket | None = None,
        renews: bool = True,
        looks: bool = False,
        name: str = "",
    ) -> ResultT:
        """Run blocking work in a worker thread when its turn on the session comes; returns the work's result.

        If work raises `SessionLost`, the session is marked as lost.

        Args:
            session_id: The session; if omitted, the caller's current one.
            work: The work, which runs whole in one thread.
            caller: The caller; the connection or script itself if omitted.
            ticket: The ticket of a reservation: the work then starts the session, and unless it makes it active, the
                id is free again afterwards.
            renews: If false, the call does not count as use of the session.
            looks: If true, it changes nothing, and may use a session that someone else has claimed.
            name: Its name for the calls that wait behind it.

        Raises:
            InvalidArgument: It is no session id.
            NoSession: The id was omitted and the caller has no current session.
            SessionNotFound: The session is not open, or was closed before the turn came.
            SessionLost: The session is lost, or was lost or closed while the work ran.
        """
        if session_id is None and not looks:
            await self.id_guard.require_id(caller or self._registry.caller)
        wanted, suffix = (None, "") if session_id is None else split_claim(session_id)
        call = Call(wanted, work, ticket, caller=caller or self._registry.caller, renews=renews, name=name)
        call.claims = call.caller.claims | ({wanted: suffix} if wanted and suffix else {})
        call.looks = looks or not renews
        if ticket:
            self._line_up(call)
        self._group.start_soon(self._drive, call)
        if not renews:  # maintenance
            return await _await_answer(call)
        note = TurnNote(name)
        with self.meter.measure_turn(note):
            try:
                return await _await_answer(call)
            finally:
                note.session_id, note.waited = call.wanted or "", call.seconds_waited

    async def give_up_start(self, ticket: Ticket) -> None:
        """Give back the ticket of a reservation whose session is not started after all; its id is free again."""

        def unused(record: SessionRecord) -> SessionRecord:
            return record.with_changes(state=SessionState.CLOSED, lost_reason="it was not started")

        await self._registry.call_store(self._store.leave_lane, ticket, unused)

    async def close(
        self,
        session_id: str,
        reason: str = "it was closed",
        *,
        when: Callable[[SessionRecord, bool], bool] | None = None,
        because: str | None = None,
        family: Collection[str] | None = None,
        closer: Closer | None = None,
    ) -> SessionRecord | None:
        """Close a session without queueing: its running and waiting calls are answered at once.

        Returns the record as it was, by which the remote end can be ended; None if there was nothing to close.

        Args:
            session_id: The session.
            reason: The reason that running calls get.
            when: Decides in the closing transaction, given the record and if it is in use, if it is closed at all.
            because: The reason that later calls for the id get.
            family: Keys of callers whose calls do not count as use for `when`; nor does maintenance then.
            closer: Who closes it; maintenance if omitted, which closes claimed sessions, too.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The id was never open in this namespace.
        """
        record = await self._registry.close(session_id, when=when, because=because, family=family, closer=closer)
        if record is not None:
            left, _ = await self._registry.list_with_current()
            not_found = functools.partial(SessionNotFound, record.id, [other.id for other in left])
            closed = functools.partial(SessionLost, record.id, reason, closed=True)
            self._queues.answer_all(record, closed, not_found)
        return record

    async def mark_lost(self, seen: SessionRecord, reason: str) -> None:
        """Mark a session as lost, but no later session of its id: its calls get `SessionLost` at once.

        Raises:
            SessionNotFound: The session is closed.
        """

        def change(record: SessionRecord) -> SessionRecord:
            return _as_lost(record, reason=reason) if record.created_at == seen.created_at else record

        record = await self._registry.update(seen.id, change)
        if record.created_at == seen.created_at:
            self._end_lost(record, record.lost_reason or reason)

    # The course of one call: join a lane, wait for the turn, perform, leave the lane.

    async def _drive(self, call: AnyCall) -> None:
        try:
            if await self._wait_for_turn(call):
                await self._perform(call)
        except Exception as error:  # noqa: BLE001 (raised again for the caller)
            call.fail(error)
        finally:
            if call.ticket and call.ticket.is_written and not call.turn:
                await self._leave_unused(call)
            self._queues.release(call)
            if not call.answered.is_set():
                call.stop(lambda: ServerEnding.of(call))

    async def _wait_for_turn(self, call: AnyCall) -> bool:
        """Wait until the call is the first in its lane; returns False if it was answered meanwhile."""
        with call.waiting:
            entry = await self._join(call)
            pause = _SHORTEST
            while not entry.first:
                ahead = self._queues.ahead(call)
                call.wait_for(_cause_of_wait(call, ahead))
                if ahead:
                    await ahead[-1].left_lane.wait()
                    pause = _SHORTEST
                else:
                    await anyio.sleep(pause)
                    pause = min(2 * pause, _LONGEST)
                entry = await self._read_position(call)
                if entry.first:
                    call.wait_for("")
            call.record = entry.record
            if entry.record.state is SessionState.STARTING and not call.starts:
                await self._lose(call, STARTER_DIED)
        return not call.answered.is_set()

    async def _join(self, call: AnyCall) -> LanePosition:
        if call.ticket:
            return await self._read_position(call)
        entry = await self._registry.call_store(self._enter, call)
        call.record = entry.record
        self._line_up(call)
        return entry

    def _enter(self, call: AnyCall) -> LanePosition:
        try:
            entry = self._take_place(call)
        except StoreFailed as failure:
            entry = self._look_without_place(call, failure)
        call.ticket = entry.ticket  # set in this thread, so that a cancellation on the way back does not lose it
        call.wanted = entry.ticket.id
        return entry

    def _take_place(self, call: AnyCall) -> LanePosition:
        while self._owed:
            self._store.leave_lane(self._owed[-1])
            self._owed.pop()
        self._registry.admit(call.caller)
        key = call.caller.key if call.renews else None
        return self._store.join_lane(
            self._registry.namespace, call.wanted, self._registry.holder, key, suffixes=call.claims, looks=call.looks
        )

    def _look_without_place(self, call: AnyCall, failure: StoreFailed) -> LanePosition:
        """Let a call that only looks go on while the store cannot be written: in turn with those of this process.

        Raises:
            StoreFailed: The call may change something, or the session is parked, and restored by writing.
        """
        namespace = self._registry.namespace
        if not call.looks:
            raise failure
        wanted = call.wanted or self._store.resolve(namespace, call.caller.key, None)
        record = self._store.get_without_writing(namespace, wanted)
        if record.state is not SessionState.ACTIVE:
            raise failure
        return LanePosition(record, Ticket.unwritten(namespace, record.id), first=False)

    async def _read_position(self, call: AnyCall) -> LanePosition:
        if not call.place.is_written and call.record is not None:
            return LanePosition(call.record, call.place, first=not self._queues.ahead(call))
        entry = await self._registry.call_store(self._store.read_position, call.place)
        if entry:
            call.record = entry.record
            return entry
        refusal = await self._registry.call_store(self._store.refusal, call.place)
        if refusal:
            raise refusal
        self._queues.remove(call)  # the ticket was removed as a dead process's: this one was stopped for a while
        call.ticket = None
        return await self._join(call)

    async def _perform(self, call: AnyCall) -> None:
        ticket, record = call.place, call.record
        if record is None:
            raise RuntimeError("a turn comes with its record")
        turn = call.turn = Turn(self._store, ticket, record, caller=call.caller, renews=call.renews)
        await anyio.to_thread.run_sync(call.perform, turn, self._store, abandon_on_cancel=True, limiter=self._threads)
        if call.has_lost_session:
            self.meter.count_loss(record)
        if call.owes_ticket:
            self._owed.append(ticket)
        call.settle()

    async def _leave_unused(self, call: AnyCall) -> None:
        """Return the ticket of a call whose work never ran; a start that was cancelled closes its session."""

        def cancelled(record: SessionRecord) -> SessionRecord:
            return (
                record.with_changes(state=SessionState.CLOSED, lost_reason="it was cancelled")
                if call.starts
                else record
            )

        with anyio.CancelScope(shield=True):
            try:
                await self._registry.call_store(self._store.leave_lane, call.place, cancelled)
            except OrchestratorError:
                self._owed.append(call.place)

    def _line_up(self, call: AnyCall) -> None:
        self._queues.add(call)
        if not self._watching:
            self._watching = True
            self._group.start_soon(self._watch)

    def _end_lost(self, record: SessionRecord, reason: str) -> None:
        lost = functools.partial(SessionLost, record.id, reason)
        self._queues.answer_all(record, lost, lost)
        self.meter.count_loss(record)
        self._on_lost(record, reason)

    # Heartbeat and inspection while calls wait or run

    async def _watch(self) -> None:
        beat_at = anyio.current_time() + self._beat_every
        while self._queues:
            with anyio.move_on_after(_INSPECTION):
                await self._queues.wait_until_empty()
                continue
            try:
                if anyio.current_time() >= beat_at:
                    await self._registry.call_store(self._store.beat, self._registry.holder)
                    beat_at = anyio.current_time() + self._beat_every
                await self._inspect()
            except OrchestratorError:
                continue  # the store failed: the calls themselves will meet and report that
        self._watching = False

    async def _inspect(self) -> None:
        """End calls whose session was closed or lost by another process, or whose processes died."""
        running = self._queues.running()
        if not running:
            return
        symptoms = await anyio.to_thread.run_sync(self._symptoms, running, limiter=self._threads)
        now = anyio.current_time()
        for call, refusal, dead in symptoms:
            if call.left_lane.is_set() or call.record is None:
                continue
            if refusal:
                reason = refusal.reason if isinstance(refusal, SessionLost) else None
                lost = functools.partial(SessionLost, call.session_id, reason or "it was closed", closed=reason is None)
                self._queues.answer_all(call.record, lost, functools.partial(_same, refusal))
            elif dead is None:
                call.dying_since = None
            elif call.dying_since is None:
                call.dying_since = now
            elif now - call.dying_since >= _LAST_WORD:
                await self._lose(call, f"its process {dead.name} ({dead.pid}) ended")

    def _symptoms(self, running: list[AnyCall]) -> list[tuple[AnyCall, OrchestratorError | None, ProcessInfo | None]]:
        """Find for each call the refusal of its ticket and a dead process of its session, if any."""
        symptoms = []
        for call in running:
            refusal = self._store.refusal(call.place) if call.place.is_written else None
            watched = [*call.turn.watched_processes] if call.turn else []
            symptoms.append((call, refusal, next((process for process in watched if not self._alive(process)), None)))
        return symptoms

    async def _lose(self, call: AnyCall, reason: str) -> None:
        record = await self._registry.call_store(
            self._store.write, call.place, functools.partial(_as_lost, reason=reason), needs_place=False
        )
        self._end_lost(record, record.lost_reason or reason)


async def _await_answer(call: Call[ResultT]) -> ResultT:
    """Wait for a call's answer; a caller that goes away stops it."""
    try:
        await call.answered.wait()
    except BaseException:
        call.stop(CallCancelled)
        raise
    return call.result()


def _cause_of_wait(call: AnyCall, ahead: list[AnyCall]) -> str:
    """Return what a call waits for, as progress; the calls ahead are those of this process."""
    if not ahead:
        return f"waiting behind a call of another process on {call.session_id}"
    first, others = ahead[0], f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
    agent = first.caller.agent if first.caller.key != call.caller.key else ""
    whose = f"{agent} in {call.session_id}" if agent else call.session_id
    return f"waiting behind {first.name or 'a call'} of {whose}{others}"


def _same(error: Exception) -> Exception:
    return error


def _as_lost(record: SessionRecord, *, reason: str) -> SessionRecord:
    if record.state is SessionState.LOST:
        return record
    return record.with_changes(state=SessionState.LOST, lost_reason=reason)
