"""One call's turn in a session: what its work may read, change and ask while it runs in its thread."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from orchestrator.errors import OrchestratorError, SessionLost
from orchestrator.models import ProcessInfo, SessionRecord, SessionState
from orchestrator.store import ChangeAmong, SqliteStore, Ticket


class Stopped(Exception):
    """The caller went away: nobody waits for this work's answer. It never reaches a caller."""


class Turn:
    """A session that is one call's alone until its work returns.

    Attributes:
        record: The record as it was read when the turn came, with the changes of this turn.
        watch: The processes without which the session is lost; while the work runs their end is noticed.
        stop: Set when the work should end; `check` raises the reason.
    """

    def __init__(self, store: SqliteStore, ticket: Ticket, record: SessionRecord, *, renews: bool = True) -> None:
        self.record = record
        self.ticket = ticket
        self.watch: list[ProcessInfo] = list(record.processes)
        self.stop = threading.Event()
        self._store = store
        self._renews = renews
        self._changes: dict[str, Any] = {}
        self._reason: Callable[[], Exception] = Stopped

    def check(self) -> None:
        """Call it in every loop that waits.

        Raises:
            Stopped: The caller was cancelled.
            SessionLost: The session was closed or lost meanwhile.
        """
        if self.stop.is_set():
            raise self._reason()

    def change(self, **fields: Any) -> None:
        """Change the record, in the transaction in which the turn ends; also when the work fails."""
        self.record = self.record.changed(**fields)
        self._changes.update(fields)

    def write(self, **fields: Any) -> SessionRecord:
        """Change the record now: for what must be known even if this process dies at the next line.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        self._store.write(self.ticket, lambda record: record.changed(**fields))
        self.record = self.record.changed(**fields)
        return self.record

    def among(self, change: ChangeAmong) -> SessionRecord:
        """As `write`, for a change that depends on the other sessions of this home that live.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        self.record = self._store.among(self.ticket, change).changed(**self._changes)
        self.watch[:] = self.record.processes
        return self.record

    def let_go(self) -> set[str]:
        """Strike the session's browser and processes from its record; the folders that another one needs."""
        with contextlib.suppress(OrchestratorError):
            self.write(processes=(), instance=None)
        return self._store.live_folders()

    def restore(self, key: str, ttl: float | None) -> SessionRecord:
        """Make the session active again, now, to live `ttl` seconds when it is parked again, or as long as before.

        It is the caller's `key` unless somebody alive owns it.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        self.record = self._store.restore(self.ticket, key, ttl)
        return self.record

    def claim(self, name: str) -> SessionRecord | None:
        """Have something for this session alone, now; returns the session that has it already, None when it is ours.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        holder = self._store.claim(self.ticket, name)
        if holder is None:
            self.record = self.record.changed(claims=(*self.record.claims, name))
        return holder

    def refs(self, count: int) -> tuple[int, int]:
        """Set element ref numbers apart for this session; returns the first and the one after the last.

        Raises:
            SessionNotFound: The session was closed meanwhile.
            SessionLost: It was lost meanwhile.
        """
        after = self._store.write(self.ticket, lambda record: record.changed(ref_next=record.ref_next + count))
        self.record = self.record.changed(ref_next=after.ref_next)
        return after.ref_next - count, after.ref_next

    def halt(self, reason: Callable[[], Exception]) -> None:
        """Ask the work to end; the first reason stays."""
        if not self.stop.is_set():
            self._reason = reason
            self.stop.set()

    def settle(self, record: SessionRecord, error: BaseException | None) -> SessionRecord:
        """The record as this turn leaves it. A session that is still starting then has failed to start."""
        used = {"last_active_at": time.time()} if self._renews else {}
        after = record.changed(**self._changes, **used)
        if after.state is SessionState.STARTING:
            return after.changed(state=SessionState.CLOSED, lost_reason=_sentence(error))
        if isinstance(error, SessionLost):
            return after.changed(state=SessionState.LOST, lost_reason=error.reason)
        return after


def _sentence(error: BaseException | None) -> str:
    if error is None:
        return "it did not become active"
    return "it was cancelled" if isinstance(error, Stopped) else str(getattr(error, "message", error))
