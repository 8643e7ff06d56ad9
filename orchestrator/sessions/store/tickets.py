"""Tickets inside a transaction: the order of the calls in a session's lane."""

from __future__ import annotations

import sqlite3

from orchestrator.errors import TurnLost
from orchestrator.models.session import SessionRecord
from orchestrator.sessions.store import leases, records
from orchestrator.sessions.store.types import Holder, Ticket


def take(
    db: sqlite3.Connection,
    session: int,
    record: SessionRecord,
    holder: Holder,
    tick: float,
    key: str | None = None,
    *,
    claim: str = "",
) -> Ticket:
    """Take the last place in a lane, for the caller `key`, None for maintenance; `claim` as in the ticket."""
    cursor = db.execute(
        "INSERT INTO tickets (session, pid, created, started, beat, caller, claim) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, *holder, tick, key, claim),
    )
    return Ticket(int(cursor.lastrowid or 0), session, record.namespace, record.id, claim)


def holder_of(db: sqlite3.Connection, ticket: Ticket) -> Holder | None:
    """Return the process that holds this place; None if the place is gone."""
    row = db.execute("SELECT pid, created, started FROM tickets WHERE number = ?", (ticket.number,)).fetchone()
    return Holder(*row) if row else None


def is_first(db: sqlite3.Connection, ticket: Ticket, holder: Holder, tick: float) -> bool:
    """Return True if no living process is ahead of this place; places of dead ones are removed."""
    query = "SELECT number, pid, created, started, beat FROM tickets WHERE session = ? AND number < ? ORDER BY number"
    for number, *place, beat in db.execute(query, (ticket.session, ticket.number)).fetchall():
        if Holder(*place) == holder or leases.is_held(Holder(*place), beat, tick):
            return False
        db.execute("DELETE FROM tickets WHERE number = ?", (number,))
    return True


def row_of_held(db: sqlite3.Connection, ticket: Ticket) -> records.RecordRow:
    """Return the row of a ticket's session.

    Raises:
        SessionNotFound, SessionLost: It was closed, or lost.
        TurnLost: The place in its lane is lost.
    """
    row = records.of_ticket(db, ticket)
    if holder_of(db, ticket) is None:
        raise TurnLost(ticket.id)
    return row
