"""The store as the keeper reads it: rows of JSON, without the models."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.sessions.store import leases
from orchestrator.sessions.store.clock import open_clock
from orchestrator.system import boot
from orchestrator.system.host import life_locks
from orchestrator.system.process_identity import ProcessKey

_BUSY = 5.0
"""Seconds that another process may hold the store."""
_OPEN = "SELECT seq, namespace, id, owner, record FROM sessions WHERE state <> 'closed'"
_DAMAGED = "its record is damaged"
_NAMES = {
    "parked_at": "parkedAt",
    "parked_until": "parkedUntil",
    "lost_reason": "lostReason",
    "screen_refs": "screenRefs",
}
"""Names of record fields that differ in the record's JSON."""


class RecordedProcess(NamedTuple):
    """A process as a record names it."""

    pid: int
    created: float
    started: str
    program: str
    folder: str | None
    beside: bool


class OpenSessionRow(NamedTuple):
    """A session that is not closed; a damaged record is empty."""

    seq: int
    namespace: str
    id: str
    owner: str
    record: Mapping[str, Any]

    @property
    def until(self) -> float | None:
        """The time at which its lease without a caller ends."""
        return self.record.get("parkedUntil")

    @property
    def processes(self) -> list[RecordedProcess]:
        """Its processes on this machine."""
        return [
            RecordedProcess(
                one["pid"],
                one["created"],
                started=str(one.get("started", "")),
                program=str(one.get("program", "")),
                folder=one.get("folder"),
                beside=bool(one.get("beside")),
            )
            for one in self.record.get("processes", ())
        ]


class ExpiredSession(NamedTuple):
    """A session that was closed because it expired, with the processes and folders to end."""

    row: OpenSessionRow
    why: str
    processes: list[RecordedProcess]
    places: set[str]


class KeeperStore:
    """The store of one home, for its keeper."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.stat().st_ino
        self._me = ProcessKey.current()
        life_locks.hold(path.parent, self._me.pid, self._me.started)
        self._db = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_BUSY, isolation_level=None)
        with self._write():
            self.now = open_clock(self._db)
            """The time in seconds since the epoch, by the clock that all times of records are of."""
        self._seen: tuple[int, list[OpenSessionRow]] | None = None
        self.last: list[OpenSessionRow] = []
        """The sessions as they were last read."""

    def close(self) -> None:
        """Close the store."""
        self._db.close()

    def is_there(self) -> bool:
        """Return True while the file is still the one that was opened."""
        try:
            return self._path.stat().st_ino == self._file
        except OSError:
            return False

    def become_keeper(self) -> bool:
        """Register as the keeper of this data folder in this pid namespace; False when there is one."""
        with self._write() as db:
            if leases.keeper(db) is not None:
                return False
            me = boot.place(), *self._me
            db.execute("INSERT OR REPLACE INTO keepers (place, pid, created, started) VALUES (?, ?, ?, ?)", me)
        return True

    def resign(self) -> bool:
        """Unregister as the keeper; False while a session is open."""
        if self.read_sessions():
            return False
        with self._write() as db:
            if db.execute(_OPEN).fetchone() is not None:
                return False
            db.execute("DELETE FROM keepers WHERE pid = ? AND created = ? AND started = ?", self._me)
        return True

    def read_sessions(self) -> list[OpenSessionRow]:
        """Return every session that is not closed; read again only after the store was written to."""
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        if self._seen is None or self._seen[0] != version:
            self._seen = version, self._read()
            self.last = self._seen[1]
        return self._seen[1]

    def begin_leases(self) -> None:
        """Begin the leases of sessions whose caller is dead, unless a call runs on them."""
        alive = leases.find_living_callers(self._db)
        if not any(_needs_lease(row, alive) for row in self.read_sessions()):
            return
        with self._write() as db:
            alive = leases.find_living_callers(db)
            for row in self._read():
                if _needs_lease(row, alive) and not leases.in_use(db, row.seq, time.monotonic()):
                    state, limits = row.record["state"], row.record.get("limits", {})
                    self._change(row, leases.build_lease_fields(state, limits, row.until, self.now()))

    def close_expired(self) -> list[ExpiredSession]:
        """Close the sessions that expired and on which no call runs, in one transaction; a restored one is spared."""
        alive = leases.find_living_callers(self._db)
        if not any(_why_expired(row, alive, self.now()) for row in self.read_sessions()):
            return []
        closed = []
        with self._write() as db:
            alive = leases.find_living_callers(db)
            for row in self._read():
                why = _why_expired(row, alive, self.now())
                if why and not leases.in_use(db, row.seq, time.monotonic()):
                    self._change(row, leases.build_closed_fields(why))
                    db.execute("UPDATE sessions SET closed_at = ? WHERE seq = ?", (self.now(), row.seq))
                    db.execute("DELETE FROM tickets WHERE session = ?", (row.seq,))
                    leases.hand_on_current(db, row.namespace, row.id)
                    closed.append((row, why))
            others = [process for row in self._read() for process in row.processes]
        return [ExpiredSession(row, why, *leases.select_unshared(row.processes, others)) for row, why in closed]

    def _change(self, row: OpenSessionRow, fields: Mapping[str, Any]) -> None:
        record = {**row.record, **{_NAMES.get(name, name): value for name, value in fields.items()}}
        values = record["state"], json.dumps(record, ensure_ascii=False), row.seq
        self._db.execute("UPDATE sessions SET state = ?, record = ? WHERE seq = ?", values)

    def _read(self) -> list[OpenSessionRow]:
        with closing(self._db.execute(_OPEN)) as rows:
            return [OpenSessionRow(seq, space, name, owner, _parse(record)) for seq, space, name, owner, record in rows]

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        self._seen = None
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            self._db.rollback()
            raise


def _parse(text: str) -> Mapping[str, Any]:
    """Return a record of whichever version, empty if it lacks a field that the keeper needs."""
    try:
        record = json.loads(text)
        times = record["createdAt"], record["lastActiveAt"], record.get("parkedUntil") or 0
        of_processes = [number for one in record.get("processes", ()) for number in (one["pid"], one["created"])]
        numbers = [*times, *record.get("limits", {}).values(), *of_processes]
        return record if "state" in record and all(isinstance(one, int | float) for one in numbers) else {}
    except (ValueError, TypeError, LookupError, AttributeError):
        return {}


def _why_expired(row: OpenSessionRow, alive: set[str], now: float) -> str:
    """Return the reason for which a session expired; empty while it lives on."""
    record = row.record
    if not record:
        return "" if row.owner in alive else _DAMAGED
    if leases.runs_elsewhere(row.processes):
        return ""
    if leases.is_over(row.until, now):
        return record.get("lostReason") or leases.NOBODY_CAME
    is_unattended = record["state"] == "parked" and record.get("remoteSessionId") and row.owner not in alive
    since = record.get("freshSince") or record["createdAt"]
    return leases.TOO_OLD if is_unattended and leases.is_too_old(since, record.get("limits", {}), now) else ""


def _needs_lease(row: OpenSessionRow, alive: set[str]) -> bool:
    """Return True if the caller is dead and the lease has not begun."""
    if not row.record or row.owner in alive:
        return False
    return row.until is None or row.record["state"] in {"starting", "active"}
