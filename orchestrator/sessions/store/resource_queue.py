"""The queue for scarce resources, such as phones, inside a transaction.

Starts get one in the order of their tickets. A start that waits says so in its record; its place is the ticket of its
turn, so that a dead process waits no longer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.sessions.store import leases, records
from orchestrator.sessions.store.types import Holder, Ticket


class QueuePlace(NamedTuple):
    """A place in the queue for one of several resources.

    Attributes:
        taken: The resource that the session has now; None while it waits.
        ahead: The number of starts that asked for one of them earlier, and wait, too.
        holders: The sessions of this home that have the resources, by resource.
    """

    taken: str | None
    ahead: int
    holders: dict[str, SessionRecord]


def claim_one(
    db: sqlite3.Connection, ticket: Ticket, names: Sequence[str], holder: Holder, now: float, tick: float
) -> QueuePlace:
    """Claim the first of these resources that is free and that no earlier start gets; queue for them if there is none.

    `holder` is this process, `now` the time of the store, `tick` that of heartbeats.
    """
    row = records.of_ticket(db, ticket)
    others = [other for other in records.open_rows(db) if other.seq != row.seq]
    living = [other.record for other in others if other.record.state is not SessionState.LOST]
    holders = {name: record for record in living for name in record.claims}
    waiting = [other for other in others if not set(names).isdisjoint(other.record.waits_for)]
    earlier = sorted(
        (number, other.record.waits_for)
        for other in waiting
        if (number := _first_ticket(db, other.seq)) < ticket.number and leases.in_use(db, other.seq, tick, holder)
    )
    promised = set(holders)
    for _, wanted in earlier:
        promised.update([name for name in wanted if name not in promised][:1])
    taken = next((name for name in names if name not in promised), None)
    record = row.record
    changed = (
        record.with_changes(waits_for=tuple(names))
        if taken is None
        else record.with_changes(claims=(*record.claims, taken), waits_for=())
    )
    if (changed.claims, changed.waits_for) != (record.claims, record.waits_for):
        records.apply(db, row, lambda _: changed, now)
    return QueuePlace(taken, len(earlier), {name: holders[name] for name in names if name in holders})


def _first_ticket(db: sqlite3.Connection, session: int) -> int:
    """Return the number of the call that runs in a session's lane; 0 if there is none, which waits for nothing."""
    found = db.execute("SELECT min(number) FROM tickets WHERE session = ?", (session,)).fetchone()
    return int(found[0] or 0)
