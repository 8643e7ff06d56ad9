"""Tickets inside a transaction: who stands where in a session's lane."""

from __future__ import annotations

import sqlite3

from orchestrator.models import SessionRecord
from orchestrator.store.base import Holder, Ticket

SILENCE = 30.0
"""A holder whose heartbeat is older than this, in seconds, has lost its place."""


def take(db: sqlite3.Connection, session: int, record: SessionRecord, holder: Holder, tick: float) -> Ticket:
    """The last place of the lane."""
    cursor = db.execute(
        "INSERT INTO tickets (session, pid, created, beat) VALUES (?, ?, ?, ?)", (session, *holder, tick)
    )
    return Ticket(int(cursor.lastrowid or 0), session, record.namespace, record.id)


def holder_of(db: sqlite3.Connection, ticket: Ticket) -> Holder | None:
    """Who holds this place; none when it is gone."""
    found = db.execute("SELECT pid, created FROM tickets WHERE number = ?", (ticket.number,)).fetchone()
    return Holder(*found) if found else None


def is_first(db: sqlite3.Connection, ticket: Ticket, holder: Holder, tick: float) -> bool:
    """Whether nobody alive stands before this place; the dead who do are removed."""
    query = "SELECT number, pid, created, beat FROM tickets WHERE session = ? AND number < ? ORDER BY number"
    for number, pid, created, beat in db.execute(query, (ticket.session, ticket.number)).fetchall():
        if _counts(Holder(pid, created), beat, holder, tick):
            return False
        db.execute("DELETE FROM tickets WHERE number = ?", (number,))
    return True


def in_use(db: sqlite3.Connection, session: int, holder: Holder, tick: float) -> bool:
    """Whether a call of anybody alive runs or waits in this lane."""
    found = db.execute("SELECT pid, created, beat FROM tickets WHERE session = ?", (session,)).fetchall()
    return any(_counts(Holder(pid, created), beat, holder, tick) for pid, created, beat in found)


def _counts(other: Holder, beat: float, me: Holder, tick: float) -> bool:
    # Ticks are a monotonic clock's: neither a changed wall clock nor a laptop that slept makes anyone look silent.
    # They begin anew when the machine does, so a beat from the future is one from before that.
    return other == me or (0 <= tick - beat <= SILENCE and other.alive())
