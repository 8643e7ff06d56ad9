"""The store as the keeper reads it: rows of JSON, without the models."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator import leases
from orchestrator.living import Process

_BUSY = 5.0
"""Seconds that another process may hold the store."""
_OPEN = "SELECT seq, namespace, id, owner, record FROM sessions WHERE state <> 'closed'"
_DAMAGED = "its record is damaged"
_NAMES = {
    "parked_at": "parkedAt",
    "parked_until": "parkedUntil",
    "lost_reason": "lostReason",
}
"""The names of fields in a record's JSON, where they are others."""


class Placed(NamedTuple):
    """A process as a record names it."""

    pid: int
    created: float
    folder: str | None
    beside: bool


class Row(NamedTuple):
    """One session that is not closed; its record is empty where it is damaged."""

    seq: int
    namespace: str
    id: str
    owner: str
    record: Mapping[str, Any]

    @property
    def until(self) -> float | None:
        """When its time without a caller is over."""
        return self.record.get("parkedUntil")

    @property
    def processes(self) -> list[Placed]:
        """What runs for it on this machine."""
        told = self.record.get("processes", ())
        return [Placed(one["pid"], one["created"], one.get("folder"), bool(one.get("beside"))) for one in told]


class Over(NamedTuple):
    """A session that was closed because its time was over, and what is to be ended with it."""

    row: Row
    why: str
    processes: list[Placed]
    places: set[str]


class Book:
    """The store of one home, for its keeper."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.stat().st_ino
        self._me = Process.here()
        self._db = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_BUSY, isolation_level=None)
        self._seen: tuple[int, list[Row]] | None = None
        self.last: list[Row] = []
        """The sessions as they were last read."""

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def is_there(self) -> bool:
        """Whether the file is still the one that was opened."""
        try:
            return self._path.stat().st_ino == self._file
        except OSError:
            return False

    def enter(self) -> bool:
        """Become the keeper of this home; False when there is one."""
        with self._write() as db:
            if leases.keeper(db) is not None:
                return False
            db.execute("INSERT OR REPLACE INTO keeper (id, pid, created) VALUES (1, ?, ?)", self._me)
        return True

    def leave(self) -> bool:
        """Be the keeper no longer; False when there is something to keep, or another one is the keeper."""
        if self.rows():
            return False
        with self._write() as db:
            if db.execute(_OPEN).fetchone() is not None:
                return False
            db.execute("DELETE FROM keeper WHERE pid = ? AND created = ?", self._me)
        return True

    def rows(self) -> list[Row]:
        """Every session that is not closed; read again only when somebody wrote."""
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        if self._seen is None or self._seen[0] != version:
            self._seen = version, self._read()
            self.last = self._seen[1]
        return self._seen[1]

    def begin_leases(self) -> None:
        """Have the time begin of those whose caller is dead, unless a call runs on them."""
        alive = leases.living(self._db)
        if not any(_is_left(row, alive) for row in self.rows()):
            return
        with self._write() as db:
            alive = leases.living(db)
            for row in self._read():
                if _is_left(row, alive) and not leases.in_use(db, row.seq, time.monotonic()):
                    told = row.record
                    self._change(row, leases.begun(told["state"], told.get("limits", {}), row.until, time.time()))

    def close_over(self) -> list[Over]:
        """Close those whose time is over and on which no call runs; each is somebody else's once it is restored."""
        alive = leases.living(self._db)
        if not any(_why_over(row, alive) for row in self.rows()):
            return []
        closed = []
        with self._write() as db:
            alive = leases.living(db)
            for row in self._read():
                why = _why_over(row, alive)
                if why and not leases.in_use(db, row.seq, time.monotonic()):
                    self._change(row, leases.closed(why))
                    db.execute("UPDATE sessions SET closed_at = ? WHERE seq = ?", (time.time(), row.seq))
                    db.execute("DELETE FROM tickets WHERE session = ?", (row.seq,))
                    leases.hand_on_current(db, row.namespace, row.id)
                    closed.append((row, why))
            others = [process for row in self._read() for process in row.processes]
        return [Over(row, why, *leases.alone(row.processes, others)) for row, why in closed]

    def _change(self, row: Row, fields: Mapping[str, Any]) -> None:
        record = {**row.record, **{_NAMES.get(name, name): value for name, value in fields.items()}}
        values = record["state"], json.dumps(record, ensure_ascii=False), row.seq
        self._db.execute("UPDATE sessions SET state = ?, record = ? WHERE seq = ?", values)

    def _read(self) -> list[Row]:
        with closing(self._db.execute(_OPEN)) as found:
            return [Row(seq, space, name, owner, _parsed(record)) for seq, space, name, owner, record in found]

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


def _parsed(record: str) -> Mapping[str, Any]:
    """What is said of a session, whichever version wrote it; nothing where what the keeper goes by is not in it."""
    try:
        told = json.loads(record)
        times = told["createdAt"], told["lastActiveAt"], told.get("parkedUntil") or 0
        named = [number for one in told.get("processes", ()) for number in (one["pid"], one["created"])]
        numbers = [*times, *told.get("limits", {}).values(), *named]
        return told if "state" in told and all(isinstance(one, int | float) for one in numbers) else {}
    except (ValueError, TypeError, LookupError, AttributeError):
        return {}


def _why_over(row: Row, alive: set[str]) -> str:
    """Why its time is over, empty where it is not: nobody came back to it, or it is too old, and no server has it."""
    told, now = row.record, time.time()
    if not told:
        return "" if row.owner in alive else _DAMAGED
    if leases.is_over(row.until, now):
        return told.get("lostReason") or leases.NOBODY_CAME
    parked = told["state"] == "parked" and told.get("remoteSessionId") and row.owner not in alive
    since = told.get("freshSince") or told["createdAt"]
    return leases.TOO_OLD if parked and leases.is_too_old(since, told.get("limits", {}), now) else ""


def _is_left(row: Row, alive: set[str]) -> bool:
    """Whether its caller is dead and its time has not begun."""
    if not row.record or row.owner in alive:
        return False
    return row.until is None or row.record["state"] in {"starting", "active"}
