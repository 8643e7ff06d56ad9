"""The turn of one call on a session: reads and changes the record, and learns when to stop."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.errors import OrchestratorError, SessionLost, TurnLost
from orchestrator.models.session import Caller, ProcessInfo, SessionRecord, SessionState
from orchestrator.sessions.store.records import without_shared
from orchestrator.sessions.store.resource_queue import QueuePlace
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import ChangeAmong, Holder, Ticket

_UNCHECKED = 1.0
"""Seconds without a look after which a turn may be over: a place is given away after 30 s without a heartbeat."""


class CallCancelled(Exception):
    """Raised in work whose caller went away; it never reaches a caller.

    Attributes:
        where: Where the work stopped, as the end of a sentence; empty if it cannot be said.
    """

    where = ""


class Turn:
    """A call's exclusive use of a session until its work returns.

    Attributes:
        record: The record as read at the beginning of the turn, with the changes of this turn.
        caller: The caller whose turn it is.
        watched_processes: Processes without which the session is lost; their end is noticed while the work runs.
        stop: Set when the work should end; `check` raises the reason.
    """

    def __init__(
        self, store: SqliteStore, ticket: Ticket, record: SessionRecord, *, caller: Caller, renews: bool = True
    ) -> None:
        self.record = record
        self.caller = caller
        self.ticket = ticket
        self.watched_processes: list[ProcessInfo] = list(record.processes)
        self.stop = threading.Event()
        self._store = store
        self._renews = renews
        self._changes: dict[str, Any] = {}
        self._reason: Callable[[], Exception] = CallCancelled
        self._checked_at = time.monotonic()
        self._is_lost = False

    def check(self) -> None:
        """Raise the reason if the work should end; called in every loop that waits.

        Raises:
            CallCancelled: The caller went away.
            SessionLost: The session was closed or lost meanwhile.
            TurnLost: Another process has the lane, since this one stood still.
        """
        if self.stop.is_set():
            raise self._reason()
        self.check_place()

    def check_place(self) -> None:
        """Raise if another process may have got the lane since the last look: this one may have stood still.

        Called before each command of the work, so that none is sent in another one's turn.

        Raises:
            TurnLost: Another process has the lane.
        """
        since, self._checked_at = self._checked_at, time.monotonic()
        if self._checked_at - since >= _UNCHECKED and not self._is_lost and self.ticket.is_written:
            self._is_lost = self._store.has_lost_place(self.ticket)
        if self._is_lost:
            raise TurnLost(self.ticket.id)

    def change(self, **fields: Any) -> None:
        """Change the record in the transaction that ends the turn, also if the work fails."""
        self.record = self.record.with_changes(**fields)
        self._changes.update(fields)

    def write(self, **fields: Any) -> SessionRecord:
        """Change the record at once, so that the change survives the death of this process.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        self._store.write(self.ticket, lambda record: record.with_changes(**fields))
        self.record = self.record.with_changes(**fields)
        return self.record

    def change_among(self, change: ChangeAmong) -> SessionRecord:
        """Change the record at once, given the other living sessions of this home.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        self.record = self._store.change_among(self.ticket, change).with_changes(**self._changes)
        self.watched_processes[:] = self.record.processes
        return self.record

    def release_browser(self) -> set[str]:
        """Remove browser and processes from the session's record; returns the folders that other sessions need."""
        with contextlib.suppress(OrchestratorError):
            self.write(processes=(), instance=None)
        processes = (process for record in self._store.list_all_open() for process in record.processes)
        return {process.folder for process in processes if process.folder}

    def without_shared_processes(self) -> SessionRecord:
        """Return the record with only the processes and folders that no other session needs."""
        return without_shared(self.record, self._store.list_all_open())

    def restore(self, ttl: float | None) -> SessionRecord:
        """Make the parked session active at once.

        When parked again, it lives `ttl` seconds, or as long as before. The turn's caller owns it from now on, unless
        a living caller does.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        self.record = self._store.restore(self.ticket, self.caller.key, ttl)
        return self.record

    def claim(self, name: str) -> SessionRecord | None:
        """Claim a resource for this session alone; returns the session that holds it already, None on success.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        holder = self._store.claim(self.ticket, name)
        if holder is None:
            self.record = self.record.with_changes(claims=(*self.record.claims, name))
        return holder

    def claim_one(self, names: Sequence[str]) -> QueuePlace:
        """Claim one of several resources for this session alone, or tell its place in the queue for them.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        place = self._store.claim_one(self.ticket, names, Holder.current())
        if place.taken is None:
            self.record = self.record.with_changes(waits_for=tuple(names))
        else:
            self.record = self.record.with_changes(claims=(*self.record.claims, place.taken), waits_for=())
        return place

    def now(self) -> float:
        """Return the time by the clock of the store, in seconds since the epoch."""
        return self._store.now()

    def halt(self, reason: Callable[[], Exception]) -> None:
        """Ask the work to end; the first reason counts."""
        if not self.stop.is_set():
            self._reason = reason
            self.stop.set()

    def leave_event(self, event: str) -> None:
        """Leave an event for the next call's result, as this one's reaches nobody."""
        self.change(events=(*self.record.events, event))

    def build_final_record(self, record: SessionRecord, error: BaseException | None) -> SessionRecord:
        """Return the record as this turn leaves it; a session that is still starting has failed to start."""
        used = {"last_active_at": self.now()} if self._renews else {}
        after = record.with_changes(**self._changes, **used)
        if after.state is SessionState.STARTING:
            return after.with_changes(state=SessionState.CLOSED, lost_reason=_sentence(error))
        if isinstance(error, SessionLost):
            return after.with_changes(state=SessionState.LOST, lost_reason=error.reason)
        return after


def _sentence(error: BaseException | None) -> str:
    if error is None:
        return "it did not become active"
    return "it was cancelled" if isinstance(error, CallCancelled) else str(getattr(error, "message", error))
