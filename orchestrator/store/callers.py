"""Callers inside a transaction: who is there, what is current for each, and what the dead leave."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable

from orchestrator import leases
from orchestrator.errors import NoSession
from orchestrator.models import Caller, SessionRecord, SessionState
from orchestrator.store import rows
from orchestrator.store.base import ChangeAmong, Holder


def register(db: sqlite3.Connection, caller: Caller, namespace: str) -> None:
    """Remember a caller, keeping its current session if it is known."""
    db.execute(
        "INSERT INTO callers (key, namespace, pid, created) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE "
        "SET namespace = excluded.namespace, pid = excluded.pid, created = excluded.created",
        (caller.key, namespace, caller.pid, caller.created),
    )


def current(db: sqlite3.Connection, key: str) -> str | None:
    """The caller's current session, if it is known and has one."""
    found = db.execute("SELECT current FROM callers WHERE key = ?", (key,)).fetchone()
    return found[0] if found else None


def meant(db: sqlite3.Connection, namespace: str, key: str | None, session_id: str | None) -> str:
    """The id that a caller means: the given one, else its current one.

    Raises:
        NoSession: None was given and the caller has no current one.
    """
    wanted = session_id or (current(db, key) if key else None)
    if wanted is None:
        raise NoSession(rows.open_ids(db, namespace))
    return wanted


def set_current(db: sqlite3.Connection, key: str, session_id: str | None) -> None:
    """Make this session the caller's current one."""
    db.execute("UPDATE callers SET current = ? WHERE key = ?", (session_id, key))


def change_among(db: sqlite3.Connection, row: rows.Row, change: ChangeAmong, now: float, tick: float) -> SessionRecord:
    """Write a change that depends on the other sessions that live: not lost, nor half started by one who died."""
    found = [one for one in rows.open_rows(db) if one.seq != row.seq]
    starting = any(one.record.state is SessionState.STARTING for one in found)
    alive = leases.living(db) if starting else set()

    def lives(one: rows.Row) -> bool:
        record = one.record
        if record.state is SessionState.STARTING:
            return record.owner in alive
        # One that is started again is in a turn for as long as its browser is not ready.
        ready = record.instance is None or record.instance.ready or leases.in_use(db, one.seq, tick, Holder.here())
        return ready and record.state is not SessionState.LOST

    others = [one.record for one in found if lives(one)]
    return rows.apply(db, row, lambda record: change(record, others), now)


def remove_dead(db: sqlite3.Connection, alive: set[str]) -> None:
    """Forget the callers whose process is gone."""
    for (key,) in db.execute("SELECT key FROM callers").fetchall():
        if key not in alive:
            db.execute("DELETE FROM callers WHERE key = ?", (key,))


def take_over(db: sqlite3.Connection, caller: Caller, namespace: str, alive: set[str], now: float) -> list[str]:
    """Give the caller the namespace's sessions that nobody alive owns; returns what it now owns.

    They are parked until they are used. Those whose time is over are left to whoever ends them.
    """
    for row in rows.open_rows(db, namespace):
        if row.record.owner not in alive and not leases.is_over(row.record.parked_until, now):
            rows.apply(db, row, lambda record: _inherited(record, caller, now), now)
    return rows.owned(db, namespace, caller.key)


def _inherited(record: SessionRecord, caller: Caller, now: float) -> SessionRecord:
    taken = record.changed(owner=caller.key, **leases.begun(record.state, record.limits, record.parked_until, now))
    return taken if taken.state is SessionState.PARKED else taken.changed(**leases.NONE)


def park(db: sqlite3.Connection, key: str, which: Callable[[SessionRecord], bool], now: float) -> list[SessionRecord]:
    """Park the caller's active sessions that may live on without it; returns those that are parked now."""
    parked = []
    for row in rows.open_rows(db):
        record = row.record
        if record.owner != key:
            continue
        if record.state is SessionState.ACTIVE and record.limits.get("park") and which(record):
            lease = leases.begun(record.state, record.limits, record.parked_until, now)
            record = rows.apply(db, row, operator.methodcaller("changed", **lease), now)
        if record.state is SessionState.PARKED and which(record):
            parked.append(record)
    return parked


def restore(db: sqlite3.Connection, row: rows.Row, key: str, ttl: float | None, now: float) -> SessionRecord:
    """Make a session active that was parked: its owner's, or the caller's `key` if that one is dead."""
    owner = row.record.owner if row.record.owner in leases.living(db) else key
    limits = row.record.limits if ttl is None else {**row.record.limits, "park": ttl}
    back = {"state": SessionState.ACTIVE, "owner": owner, "limits": limits, **leases.NONE}
    return rows.apply(db, row, lambda record: record.changed(**back), now)
