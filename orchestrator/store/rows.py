"""Session rows inside a transaction: how a record is read, written, refused and ended."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import ValidationError

from orchestrator import leases
from orchestrator.errors import (
    OrchestratorError,
    RecordUnreadable,
    SessionExists,
    SessionLimit,
    SessionLost,
    SessionNotFound,
)
from orchestrator.models import SessionRecord, SessionState
from orchestrator.store.base import Change, Ticket

_READ = "SELECT seq, record, replaced, id, state FROM sessions WHERE "
_Found = tuple[int, str, str | None, str, str]


class Row(NamedTuple):
    """One life of an id, and its record."""

    seq: int
    record: SessionRecord
    replaced: str | None


def find(db: sqlite3.Connection, namespace: str, session_id: str) -> Row | None:
    """The row of this id, closed ones too."""
    return _row(db.execute(_READ + "namespace = ? AND id = ?", (namespace, session_id)).fetchone())


def by_seq(db: sqlite3.Connection, seq: int) -> Row | None:
    """The row of this one life of an id; none when the id was given to a later one."""
    return _row(db.execute(_READ + "seq = ?", (seq,)).fetchone())


def open_rows(db: sqlite3.Connection, namespace: str | None = None) -> list[Row]:
    """Every row that is not closed, in order of creation; without a namespace those of all.

    Those that cannot be read are left out, here and wherever there are several: they are no hindrance to the others.
    """
    return [one for one in _each(db, namespace) if isinstance(one, Row)]


def unreadable(db: sqlite3.Connection, namespace: str | None = None) -> list[RecordUnreadable]:
    """Why each row cannot be read that is not closed and is left out for that."""
    return [one for one in _each(db, namespace) if isinstance(one, RecordUnreadable)]


def give_up(db: sqlite3.Connection, namespace: str, session_id: str, now: float) -> None:
    """Leave a session whose record cannot be read to the keeper: it goes by less, and ends what the record names."""
    if session_id not in {one.session_id for one in unreadable(db, namespace)}:
        return  # somebody else closed it
    over = "json_set(record, '$.parkedUntil', ?1, '$.lostReason', 'it was closed')"
    where = "namespace = ?2 AND id = ?3"
    change = f"UPDATE sessions SET owner = '', record = iif(json_valid(record), {over}, record) WHERE {where}"  # noqa: S608 - ours
    db.execute(change, (now, namespace, session_id))
    db.execute(
        "DELETE FROM tickets WHERE session = (SELECT seq FROM sessions WHERE namespace = ? AND id = ?)",
        (namespace, session_id),
    )


def without_shared(record: SessionRecord, every: Iterable[SessionRecord]) -> SessionRecord:
    """The record without the processes and folders that another record names, which is not closed or lost."""
    me = record.namespace, record.id
    lives = [one for one in every if one.state is not SessionState.LOST and (one.namespace, one.id) != me]
    others = [process for one in lives for process in one.processes]
    own, places = leases.alone(record.processes, others)
    ours = [one if one.folder in places else one.model_copy(update={"folder": None}) for one in own]
    return record.changed(processes=ours)


def any_open(db: sqlite3.Connection) -> bool:
    """Whether a session of any namespace is not closed."""
    return db.execute("SELECT 1 FROM sessions WHERE state <> 'closed' LIMIT 1").fetchone() is not None


def open_ids(db: sqlite3.Connection, namespace: str) -> list[str]:
    """The ids that are not closed, in order of creation."""
    found = db.execute("SELECT id FROM sessions WHERE namespace = ? AND state <> 'closed' ORDER BY seq", (namespace,))
    return [str(id_) for (id_,) in found]


def owned(db: sqlite3.Connection, namespace: str, owner: str) -> list[str]:
    """The ids of the owner's sessions that are not closed, in order of creation."""
    query = "SELECT id FROM sessions WHERE namespace = ? AND owner = ? AND state <> 'closed' ORDER BY seq"
    return [str(id_) for (id_,) in db.execute(query, (namespace, owner))]


def is_open(db: sqlite3.Connection, namespace: str, session_id: str) -> bool:
    """Whether this id is there and not closed."""
    query = "SELECT 1 FROM sessions WHERE namespace = ? AND id = ? AND state <> 'closed'"
    return db.execute(query, (namespace, session_id)).fetchone() is not None


def get_open(db: sqlite3.Connection, namespace: str, session_id: str) -> Row:
    """The row of an id that is not closed.

    Raises:
        SessionNotFound: It is closed, or was never there.
    """
    row = find(db, namespace, session_id)
    if row is None or row.record.state is SessionState.CLOSED:
        raise not_found(db, namespace, session_id, row.record if row else None)
    return row


def get_usable(db: sqlite3.Connection, namespace: str, session_id: str) -> Row:
    """The row of an id whose remote end is there, or about to be.

    Raises:
        SessionNotFound: It is closed, or was never there.
        SessionLost: It is lost.
    """
    row = get_open(db, namespace, session_id)
    if row.record.state is SessionState.LOST:
        raise lost(row.record)
    return row


def not_found(
    db: sqlite3.Connection, namespace: str, session_id: str, record: SessionRecord | None = None
) -> SessionNotFound:
    """The error for an id that is not open; it says why, where there is a reason that its caller may not know."""
    error = SessionNotFound(session_id, open_ids(db, namespace))
    if record is not None and record.lost_reason and not record.remote_session_id:
        error.hint = f"Its start failed: {record.lost_reason.rstrip('.')}. Start it again."
    elif record is not None and record.lost_reason:
        error.hint = f"It is closed: {record.lost_reason.rstrip('.')}. Start it again."
    return error


def lost(record: SessionRecord) -> SessionLost:
    """The error for a session whose remote end is gone."""
    return SessionLost(record.id, record.lost_reason or "its remote end is gone")


def refusal(db: sqlite3.Connection, ticket: Ticket, row: Row | None) -> OrchestratorError | None:
    """Why the life to which a ticket belongs takes no more calls; None when it does take them."""
    if row is None or row.record.state is SessionState.CLOSED:
        return not_found(db, ticket.namespace, ticket.id, row.record if row else None)
    return lost(row.record) if row.record.state is SessionState.LOST else None


def of_ticket(db: sqlite3.Connection, ticket: Ticket) -> Row:
    """The row of the life to which a ticket belongs.

    Raises:
        SessionNotFound: It was closed.
        SessionLost: It was lost.
    """
    row = by_seq(db, ticket.session)
    refused = refusal(db, ticket, row)
    if refused or row is None:
        raise refused or not_found(db, ticket.namespace, ticket.id)
    return row


def claim(db: sqlite3.Connection, row: Row, name: str, now: float) -> SessionRecord | None:
    """Give something to a session alone; returns the one of this home that has it already."""
    for other in open_rows(db):
        if name in other.record.claims and other.seq != row.seq and other.record.state is not SessionState.LOST:
            return other.record
    apply(db, row, lambda record: record.changed(claims=(*record.claims, name)), now)
    return None


def make_room(db: sqlite3.Connection, namespace: str, max_sessions: int | None) -> None:
    """Refuse one session more than the limit; begin to count anew when none is left.

    Raises:
        SessionLimit: As many sessions as allowed are open.
    """
    ids = open_ids(db, namespace)
    if max_sessions is not None and len(ids) >= max_sessions:
        raise SessionLimit(max_sessions, ids)
    if not ids:
        db.execute("DELETE FROM counters WHERE namespace = ?", (namespace,))


def next_id(db: sqlite3.Connection, namespace: str, type_: str) -> str:
    """The next id of this type that no open session has, counted up."""
    where = (namespace, type_)
    found = db.execute("SELECT next FROM counters WHERE namespace = ? AND type = ?", where).fetchone()
    number = int(found[0]) if found else 1
    while is_open(db, namespace, f"{type_}-{number}"):
        number += 1
    db.execute("INSERT OR REPLACE INTO counters (namespace, type, next) VALUES (?, ?, ?)", (*where, number + 1))
    return f"{type_}-{number}"


def require_free(db: sqlite3.Connection, namespace: str, session_id: str) -> None:
    """Refuse an id that a session holds.

    Raises:
        SessionExists: The id is not free; a lost session still holds it.
    """
    row = find(db, namespace, session_id)
    if row is not None and row.record.state is not SessionState.CLOSED:
        raise SessionExists(session_id, row.record.state)


def insert(db: sqlite3.Connection, record: SessionRecord, replaced: str | None) -> int:
    """Begin a new life of a free id; what is remembered of the one before goes."""
    db.execute("DELETE FROM sessions WHERE namespace = ? AND id = ?", (record.namespace, record.id))
    cursor = db.execute(
        "INSERT INTO sessions (namespace, id, state, owner, record, replaced) VALUES (?, ?, ?, ?, ?, ?)",
        (record.namespace, record.id, record.state, record.owner, record.model_dump_json(by_alias=True), replaced),
    )
    return int(cursor.lastrowid or 0)


def apply(db: sqlite3.Connection, row: Row, change: Change, now: float) -> SessionRecord:
    """Write a change of an open row; one that closes or loses the session also ends its lane."""
    after = change(row.record)
    if (after.namespace, after.id) != (row.record.namespace, row.record.id):
        raise ValueError("a change of a record keeps its namespace and id")
    if after.state is SessionState.CLOSED:
        after = after.changed(**leases.closed(after.lost_reason))
    values = (after.state, after.owner, after.model_dump_json(by_alias=True), row.seq)
    db.execute("UPDATE sessions SET state = ?, owner = ?, record = ? WHERE seq = ?", values)
    if after.state in {SessionState.CLOSED, SessionState.LOST}:
        db.execute("DELETE FROM tickets WHERE session = ?", (row.seq,))
    if after.state is SessionState.CLOSED:
        db.execute("UPDATE sessions SET closed_at = ? WHERE seq = ?", (now, row.seq))
        _hand_on_current(db, row)
    return after


def _hand_on_current(db: sqlite3.Connection, row: Row) -> None:
    record, before = row.record, row.replaced
    if record.state is SessionState.STARTING and before and is_open(db, record.namespace, before):
        values = (before, record.owner, record.id)
        db.execute("UPDATE callers SET current = ? WHERE key = ? AND current = ?", values)
    leases.hand_on_current(db, record.namespace, record.id)


def _each(db: sqlite3.Connection, namespace: str | None) -> list[Row | RecordUnreadable]:
    where, values = ("", ()) if namespace is None else ("namespace = ? AND ", (namespace,))
    return [*map(_read, db.execute(f"{_READ}{where}state <> 'closed' ORDER BY seq", values).fetchall())]


def _row(found: _Found | None) -> Row | None:
    """The row; none of a closed one that cannot be read.

    Raises:
        RecordUnreadable: The session is open, and its record cannot be read.
    """
    if found is None:
        return None
    row = _read(found)
    if isinstance(row, Row):
        return row
    if found[-1] == SessionState.CLOSED:
        return None
    raise row


def _read(found: _Found) -> Row | RecordUnreadable:
    seq, record, replaced, session_id, _ = found
    try:
        return Row(seq, _parsed(record), replaced)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "all of it"
        return RecordUnreadable(session_id, f"{field}: {first['msg']}")


@functools.lru_cache(maxsize=512)
def _parsed(record: str) -> SessionRecord:
    """Records are values, so that those which did not change since they were last read need not be read again."""
    return SessionRecord.model_validate_json(record)
