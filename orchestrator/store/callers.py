"""Callers inside a transaction: who is there, what is current for each, and what the dead leave."""

from __future__ import annotations

import sqlite3

from orchestrator.errors import NoSession
from orchestrator.models import Caller, SessionRecord, SessionState
from orchestrator.store import rows
from orchestrator.store.base import Holder

STARTER_DIED = "the server that was starting it ended before it was ready"


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


def living(db: sqlite3.Connection) -> set[str]:
    """The keys of the callers whose process is alive."""
    found = db.execute("SELECT key, pid, created FROM callers").fetchall()
    alive = {holder: holder.alive() for holder in {Holder(pid, created) for _, pid, created in found}}
    return {key for key, pid, created in found if alive[Holder(pid, created)]}


def living_rows(db: sqlite3.Connection) -> list[rows.Row]:
    """The rows whose sessions live: not closed, not lost, and not left half started by a caller that died."""
    found = [row for row in rows.open_rows(db) if row.record.state is not SessionState.LOST]
    starts = any(row.record.state is SessionState.STARTING for row in found)
    alive = living(db) if starts else set()
    return [row for row in found if row.record.state is not SessionState.STARTING or row.record.owner in alive]


def remove_dead(db: sqlite3.Connection, alive: set[str]) -> None:
    """Forget the callers whose process is gone."""
    for (key,) in db.execute("SELECT key FROM callers").fetchall():
        if key not in alive:
            db.execute("DELETE FROM callers WHERE key = ?", (key,))


def take_over(db: sqlite3.Connection, caller: Caller, namespace: str, alive: set[str], now: float) -> list[str]:
    """Give the caller the namespace's sessions that nobody alive owns; returns what it now owns."""
    for row in rows.open_rows(db, namespace):
        if row.record.owner not in alive:
            rows.apply(db, row, lambda record: _inherited(record, caller), now)
    return rows.owned(db, namespace, caller.key)


def _inherited(record: SessionRecord, caller: Caller) -> SessionRecord:
    if record.state is SessionState.STARTING:
        return record.changed(owner=caller.key, state=SessionState.LOST, lost_reason=STARTER_DIED)
    return record.changed(owner=caller.key)
