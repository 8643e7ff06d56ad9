"""Tickets inside a transaction: who stands where in a session's lane."""

from __future__ import annotations

import sqlite3

from orchestrator import leases
from orchestrator.models import SessionRecord
from orchestrator.store.base import Holder, Ticket


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
        if Holder(pid, created) == holder or leases.holds(Holder(pid, created), beat, tick):
            return False
        db.execute("DELETE FROM tickets WHERE number = ?", (number,))
    return True
