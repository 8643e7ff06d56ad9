"""Callers inside a transaction: their current sessions, and adoption from dead callers."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable

from orchestrator.errors import NoSession
from orchestrator.models.session import Caller, SessionRecord, SessionState
from orchestrator.sessions.store import leases, records
from orchestrator.sessions.store.types import ChangeAmong, Holder


def register(db: sqlite3.Connection, caller: Caller, namespace: str) -> None:
    """Insert or update a caller; one that is already registered keeps its current session."""
    db.execute(
        "INSERT INTO callers (key, namespace, pid, created, started, named, parent) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET namespace = excluded.namespace, pid = excluded.pid, "
        "created = excluded.created, started = excluded.started, parent = coalesce(excluded.parent, parent)",
        (caller.key, namespace, caller.pid, caller.created, caller.started, caller.named, caller.parent),
    )


def forget(db: sqlite3.Connection, key: str) -> None:
    """Remove a caller, whose sessions then count as a dead one's; one that its host names may come back."""
    db.execute("DELETE FROM callers WHERE key = ? AND NOT named", (key,))
    db.execute("UPDATE callers SET pid = 0, created = 0, started = '' WHERE key = ?", (key,))


def family(db: sqlite3.Connection, key: str) -> set[str]:
    """Return the keys of a caller and of all that descend from it."""
    query = (
        "WITH RECURSIVE family (key) AS "
        "(SELECT ? UNION SELECT callers.key FROM callers JOIN family ON callers.parent = family.key) "
        "SELECT key FROM family"
    )
    return {member for (member,) in db.execute(query, (key,))}


def current(db: sqlite3.Connection, key: str) -> str | None:
    """Return the id of the caller's current session, None without one."""
    row = db.execute("SELECT current FROM callers WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def resolve_session_id(db: sqlite3.Connection, namespace: str, key: str | None, session_id: str | None) -> str:
    """Return the given id or, if omitted, that of the caller's current session.

    Raises:
        NoSession: The id was omitted and the caller has no current session.
    """
    wanted = session_id or (current(db, key) if key else None)
    if wanted is None:
        raise NoSession(records.open_ids(db, namespace))
    return wanted


def set_current(db: sqlite3.Connection, key: str, session_id: str | None) -> None:
    """Make this session the caller's current one."""
    db.execute("UPDATE callers SET current = ? WHERE key = ?", (session_id, key))


def change_among(
    db: sqlite3.Connection, row: records.RecordRow, change: ChangeAmong, now: float, tick: float
) -> SessionRecord:
    """Write a change that depends on the other living sessions: not lost, nor half started by a dead caller."""
    others = [other for other in records.open_rows(db) if other.seq != row.seq]
    starting = any(other.record.state is SessionState.STARTING for other in others)
    alive = leases.find_living_callers(db) if starting else set()

    def lives(other: records.RecordRow) -> bool:
        record = other.record
        if record.state is SessionState.STARTING:
            return record.owner in alive
        # A session that is being restarted is in use, though its browser is not ready.
        ready = record.instance is None or record.instance.ready or leases.in_use(db, other.seq, tick, Holder.current())
        return ready and record.state is not SessionState.LOST

    living = [other.record for other in others if lives(other)]
    return records.apply(db, row, lambda record: change(record, living), now)


def remove_dead(db: sqlite3.Connection, alive: set[str]) -> None:
    """Remove the callers whose process is dead, but those that may come back for a session."""
    owners = "SELECT owner FROM sessions WHERE state <> 'closed'"
    gone = f"NOT named OR (current IS NULL AND key NOT IN ({owners}))"
    for (key,) in db.execute(f"SELECT key FROM callers WHERE {gone}").fetchall():  # noqa: S608 - ours
        if key not in alive:
            db.execute("DELETE FROM callers WHERE key = ?", (key,))


def take_over(db: sqlite3.Connection, caller: Caller, namespace: str, alive: set[str], now: float) -> list[str]:
    """Give the caller the namespace's sessions that no living caller owns; returns the ids that it now owns.

    They are parked until they are used. Expired ones are not taken over, but ended elsewhere; those of a caller that
    its host names wait for that one, and those that run in another pid namespace for one there.
    """
    waiting = {key for (key,) in db.execute("SELECT key FROM callers WHERE named")} - {caller.key}
    for row in records.open_rows(db, namespace):
        is_free = row.record.owner not in alive | waiting and not leases.runs_elsewhere(row.record.processes)
        if is_free and not leases.is_over(row.record.parked_until, now):
            records.apply(db, row, lambda record: _inherited(record, caller, now), now)
    return records.owned(db, namespace, caller.key)


def welcome(db: sqlite3.Connection, caller: Caller, namespace: str, connection: str, now: float) -> None:
    """Register a caller that its host names: it gets back what it owned when its process died.

    The first one of a connection continues it: it also gets the sessions that the connection has adopted.
    """
    alive = leases.find_living_callers(db)
    alone = "SELECT NOT EXISTS (SELECT 1 FROM callers AS other WHERE named AND other.pid = ? AND other.created = ?)"
    is_first = bool(db.execute(alone, (caller.pid, caller.created)).fetchone()[0]) and caller.parent is None
    register(db, caller, namespace)
    for row in records.open_rows(db, namespace):
        record = row.record
        if record.owner == caller.key and caller.key not in alive and not leases.is_over(record.parked_until, now):
            records.apply(db, row, lambda record: _inherited(record, caller, now), now)
        elif record.owner == connection and record.state is SessionState.PARKED and is_first:
            records.apply(db, row, operator.methodcaller("with_changes", owner=caller.key), now)
    own = records.owned(db, namespace, caller.key)
    if len(own) == 1 and current(db, caller.key) is None:
        set_current(db, caller.key, own[0])


def _inherited(record: SessionRecord, caller: Caller, now: float) -> SessionRecord:
    taken = record.with_changes(
        owner=caller.key, **leases.build_lease_fields(record.state, record.limits, record.parked_until, now)
    )
    return taken if taken.state is SessionState.PARKED else taken.with_changes(**leases.NONE)


def park(db: sqlite3.Connection, key: str, which: Callable[[SessionRecord], bool], now: float) -> list[SessionRecord]:
    """Park the caller's active sessions that may live on without it; returns those that are then parked."""
    parked = []
    for row in records.open_rows(db):
        record = row.record
        if record.owner != key:
            continue
        if record.state is SessionState.ACTIVE and record.limits.get("park") and which(record):
            lease = leases.build_lease_fields(record.state, record.limits, record.parked_until, now)
            record = records.apply(db, row, operator.methodcaller("with_changes", **lease), now)
        if record.state is SessionState.PARKED and which(record):
            parked.append(record)
    return parked


def restore(db: sqlite3.Connection, row: records.RecordRow, key: str, ttl: float | None, now: float) -> SessionRecord:
    """Make a parked session active; the caller `key` becomes its owner if the present owner is dead."""
    owner = row.record.owner if row.record.owner in leases.find_living_callers(db) else key
    limits = row.record.limits if ttl is None else {**row.record.limits, "park": ttl}
    active = {"state": SessionState.ACTIVE, "owner": owner, "limits": limits, **leases.NONE}
    return records.apply(db, row, lambda record: record.with_changes(**active), now)
