"""Session rows inside a transaction: reading, writing, refusing and closing records."""

from __future__ import annotations

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from pydantic import ValidationError

from orchestrator.errors import (
    OrchestratorError,
    RecordUnreadable,
    SessionExists,
    SessionLimit,
    SessionLost,
    SessionNotFound,
    StoreFailed,
)
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.sessions.store import leases
from orchestrator.sessions.store.database import file_of
from orchestrator.sessions.store.types import Change, Ticket

_READ = "SELECT seq, record, replaced, id, state FROM sessions WHERE "
_Columns = tuple[int, str, str | None, str, str]
"""A row of `_READ`."""


class RecordRow(NamedTuple):
    """A life of an id, and its record; `replaced` is the session that was current before it."""

    seq: int
    record: SessionRecord
    replaced: str | None


def find(db: sqlite3.Connection, namespace: str, session_id: str) -> RecordRow | None:
    """Return the row of an id, also of a closed session."""
    return _row(db, db.execute(_READ + "namespace = ? AND id = ?", (namespace, session_id)).fetchone())


def by_seq(db: sqlite3.Connection, seq: int) -> RecordRow | None:
    """Return the row of one life of an id; None if a later session has taken the id."""
    return _row(db, db.execute(_READ + "seq = ?", (seq,)).fetchone())


def open_rows(db: sqlite3.Connection, namespace: str | None = None) -> list[RecordRow]:
    """List the open rows of one namespace or of all, in order of creation.

    Unreadable rows are omitted, here and in every other list, so that they do not affect the other sessions.
    """
    return [row for row in open_or_unreadable(db, namespace) if isinstance(row, RecordRow)]


def unreadable(db: sqlite3.Connection, namespace: str | None = None) -> list[RecordUnreadable]:
    """List an error for each open row that cannot be read."""
    return [error for error in open_or_unreadable(db, namespace) if isinstance(error, RecordUnreadable)]


def give_up(db: sqlite3.Connection, namespace: str, session_id: str, now: float) -> None:
    """Expire a session whose record cannot be read, for the keeper to end: it reads fewer of the record's fields."""
    if session_id not in {error.session_id for error in unreadable(db, namespace)}:
        return  # another process closed it
    over = "json_set(record, '$.parkedUntil', ?1, '$.lostReason', 'it was closed')"
    where = "namespace = ?2 AND id = ?3"
    change = f"UPDATE sessions SET owner = '', record = iif(json_valid(record), {over}, record) WHERE {where}"  # noqa: S608 - ours
    db.execute(change, (now, namespace, session_id))
    db.execute(
        "DELETE FROM tickets WHERE session = (SELECT seq FROM sessions WHERE namespace = ? AND id = ?)",
        (namespace, session_id),
    )


def without_shared(record: SessionRecord, every: Iterable[SessionRecord]) -> SessionRecord:
    """Return the record without the processes and folders that another living session's record names, too."""
    key = record.namespace, record.id
    living = [other for other in every if other.state is not SessionState.LOST and (other.namespace, other.id) != key]
    others = [process for other in living for process in other.processes]
    own, places = leases.select_unshared(record.processes, others)
    processes = [
        process if process.folder in places else process.model_copy(update={"folder": None}) for process in own
    ]
    return record.with_changes(processes=processes)


def any_open(db: sqlite3.Connection) -> bool:
    """Return True if a session of any namespace is open."""
    return db.execute("SELECT 1 FROM sessions WHERE state <> 'closed' LIMIT 1").fetchone() is not None


def open_ids(db: sqlite3.Connection, namespace: str) -> list[str]:
    """List the ids of the open sessions, in order of creation."""
    rows = db.execute("SELECT id FROM sessions WHERE namespace = ? AND state <> 'closed' ORDER BY seq", (namespace,))
    return [str(id_) for (id_,) in rows]


def owned(db: sqlite3.Connection, namespace: str, owner: str) -> list[str]:
    """List the ids of the owner's open sessions, in order of creation."""
    query = "SELECT id FROM sessions WHERE namespace = ? AND owner = ? AND state <> 'closed' ORDER BY seq"
    return [str(id_) for (id_,) in db.execute(query, (namespace, owner))]


def is_open(db: sqlite3.Connection, namespace: str, session_id: str) -> bool:
    """Return True if a session of this id is open."""
    query = "SELECT 1 FROM sessions WHERE namespace = ? AND id = ? AND state <> 'closed'"
    return db.execute(query, (namespace, session_id)).fetchone() is not None


def get_open(db: sqlite3.Connection, namespace: str, session_id: str) -> RecordRow:
    """Return the row of an open session.

    Raises:
        SessionNotFound: The session is closed, or never existed.
    """
    row = find(db, namespace, session_id)
    if row is None or row.record.state is SessionState.CLOSED:
        raise not_found(db, namespace, session_id, row.record if row else None)
    return row


def get_usable(db: sqlite3.Connection, namespace: str, session_id: str) -> RecordRow:
    """Return the row of a session that is open and not lost.

    Raises:
        SessionNotFound: The session is closed, or never existed.
        SessionLost: The session is lost.
    """
    row = get_open(db, namespace, session_id)
    if row.record.state is SessionState.LOST:
        raise lost(row.record)
    return row


def not_found(
    db: sqlite3.Connection, namespace: str, session_id: str, record: SessionRecord | None = None
) -> SessionNotFound:
    """Make the error for an id that is not open; its hint has the reason of the session's end, if there is one."""
    error = SessionNotFound(session_id, open_ids(db, namespace))
    if record is not None and record.lost_reason and not record.remote_session_id:
        error.hint = f"Its start failed: {record.lost_reason.rstrip('.')}. Start it again."
    elif record is not None and record.lost_reason:
        error.hint = f"It is closed: {record.lost_reason.rstrip('.')}. Start it again."
    return error


def lost(record: SessionRecord) -> SessionLost:
    """Make the error for a session whose remote end is gone."""
    return SessionLost(record.id, record.lost_reason or "its remote end is gone")


def refusal(db: sqlite3.Connection, ticket: Ticket, row: RecordRow | None) -> OrchestratorError | None:
    """Return the error for calls with this ticket if its session was closed or lost, else None."""
    if row is None or row.record.state is SessionState.CLOSED:
        return not_found(db, ticket.namespace, ticket.id, row.record if row else None)
    return lost(row.record) if row.record.state is SessionState.LOST else None


def of_ticket(db: sqlite3.Connection, ticket: Ticket) -> RecordRow:
    """Return the row of a ticket's session.

    Raises:
        SessionNotFound: The session was closed.
        SessionLost: The session was lost.
    """
    row = by_seq(db, ticket.session)
    refused = refusal(db, ticket, row)
    if refused or row is None:
        raise refused or not_found(db, ticket.namespace, ticket.id)
    return row


def claim(db: sqlite3.Connection, row: RecordRow, name: str, now: float) -> SessionRecord | None:
    """Claim a resource for a session alone; returns the session of this home that holds it already, None on success."""
    for other in open_rows(db):
        if name in other.record.claims and other.seq != row.seq and other.record.state is not SessionState.LOST:
            return other.record
    apply(db, row, lambda record: record.with_changes(claims=(*record.claims, name)), now)
    return None


def make_room(db: sqlite3.Connection, namespace: str, max_sessions: int | None) -> None:
    """Refuse a session beyond the limit; if none is open, restart the numbers of ids.

    Raises:
        SessionLimit: The largest number of sessions is open.
    """
    ids = open_ids(db, namespace)
    if max_sessions is not None and len(ids) >= max_sessions:
        raise SessionLimit.of_namespace(max_sessions, ids)
    if not ids:
        db.execute("DELETE FROM counters WHERE namespace = ?", (namespace,))


def next_id(db: sqlite3.Connection, namespace: str, type_: str) -> str:
    """Return the next free id of this type, such as `browser-2`, and count up."""
    key = (namespace, type_)
    row = db.execute("SELECT next FROM counters WHERE namespace = ? AND type = ?", key).fetchone()
    number = int(row[0]) if row else 1
    while is_open(db, namespace, f"{type_}-{number}"):
        number += 1
    db.execute("INSERT OR REPLACE INTO counters (namespace, type, next) VALUES (?, ?, ?)", (*key, number + 1))
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
    """Insert a new session for a free id, and remove the closed one that had it before."""
    db.execute("DELETE FROM sessions WHERE namespace = ? AND id = ?", (record.namespace, record.id))
    cursor = db.execute(
        "INSERT INTO sessions (namespace, id, state, owner, record, replaced) VALUES (?, ?, ?, ?, ?, ?)",
        (record.namespace, record.id, record.state, record.owner, record.model_dump_json(by_alias=True), replaced),
    )
    return int(cursor.lastrowid or 0)


def apply(db: sqlite3.Connection, row: RecordRow, change: Change, now: float) -> SessionRecord:
    """Write a change of an open row; a change that closes or loses the session also drops its lane."""
    after = change(row.record)
    if (after.namespace, after.id) != (row.record.namespace, row.record.id):
        raise ValueError("a change of a record keeps its namespace and id")
    if after.state is SessionState.CLOSED:
        after = after.with_changes(**leases.build_closed_fields(after.lost_reason))
    values = (after.state, after.owner, after.model_dump_json(by_alias=True), row.seq)
    db.execute("UPDATE sessions SET state = ?, owner = ?, record = ? WHERE seq = ?", values)
    if after.state in {SessionState.CLOSED, SessionState.LOST}:
        db.execute("DELETE FROM tickets WHERE session = ?", (row.seq,))
    if after.state is SessionState.CLOSED:
        db.execute("UPDATE sessions SET closed_at = ? WHERE seq = ?", (now, row.seq))
        _hand_on_current(db, row)
    return after


def _hand_on_current(db: sqlite3.Connection, row: RecordRow) -> None:
    record, before = row.record, row.replaced
    if record.state is SessionState.STARTING and before and is_open(db, record.namespace, before):
        values = (before, record.owner, record.id)
        db.execute("UPDATE callers SET current = ? WHERE key = ? AND current = ?", values)
    leases.hand_on_current(db, record.namespace, record.id)


def open_or_unreadable(db: sqlite3.Connection, namespace: str | None) -> list[RecordRow | RecordUnreadable]:
    """List the open rows in order of creation, and for each one that cannot be read an error."""
    where, values = ("", ()) if namespace is None else ("namespace = ? AND ", (namespace,))
    rows: list[_Columns] = db.execute(f"{_READ}{where}state <> 'closed' ORDER BY seq", values).fetchall()
    store = file_of(db)
    if namespace is None:
        _CACHE.keep_only(store, {seq for seq, *_ in rows})
    return [_read(store, columns) for columns in rows]


def _row(db: sqlite3.Connection, columns: _Columns | None) -> RecordRow | None:
    """Read a row; None if there is none, or if it is closed and unreadable.

    Raises:
        RecordUnreadable: The session is open, and its record cannot be read.
    """
    if columns is None:
        return None
    row = _read(file_of(db), columns)
    if isinstance(row, RecordRow):
        return row
    if columns[-1] == SessionState.CLOSED:
        return None
    raise row


def _read(store: str, columns: _Columns) -> RecordRow | RecordUnreadable:
    seq, record, replaced, session_id, _ = columns
    try:
        return RecordRow(seq, _CACHE.parse(store, seq, record), replaced)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "all of it"
        return RecordUnreadable(session_id, f"{field}: {first['msg']}")


def last_read(file: str, namespace: str, session_id: str, failure: StoreFailed) -> SessionRecord:
    """Return the record of an open session as this process read it last, since the store cannot be read now.

    Raises:
        StoreFailed: The failure: the session was closed then, or this process did not read it lately.
    """
    found = (one for one in list_last_read(file) if (one.namespace, one.id) == (namespace, session_id))
    if (record := next(found, None)) is None:
        raise failure
    return record


def list_last_read(file: str) -> list[SessionRecord]:
    """List the open and not lost sessions of a store as this process read them last."""
    return [one for one in _CACHE.records(file) if one.state not in {SessionState.CLOSED, SessionState.LOST}]


class RecordCache:
    """The parsed record of each row: as long as its text is the same it is the same object, since records are values.

    Rows are those of a store, which its path names. Bounded in characters, of all stores together. When it is full, no
    further row is kept, so that a list of more than fit drops none.
    """

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self._kept: dict[str, dict[int, tuple[str, SessionRecord]]] = defaultdict(dict)
        self._size = 0
        self._lock = threading.Lock()

    def records(self, store: str) -> list[SessionRecord]:
        """List the records of a store, those that were read first at the beginning."""
        with self._lock:
            return [record for _, record in self._kept[store].values()]

    def parse(self, store: str, seq: int, text: str) -> SessionRecord:
        """Return the record that the text of a store's row says.

        Raises:
            ValidationError: It says none.
        """
        with self._lock:
            known, record = self._kept[store].get(seq, ("", None))
        if record is not None and known == text:
            return record
        record = SessionRecord.model_validate_json(text)
        with self._lock:
            known, of_other_thread = self._kept[store].get(seq, ("", None))
            if of_other_thread is not None and known == text:
                return of_other_thread
            self._drop(store, seq)
            if self._size + len(text) <= self._characters:
                self._kept[store][seq] = text, record
                self._size += len(text)
        return record

    def keep_only(self, store: str, rows: Collection[int]) -> None:
        """Forget all other rows of a store."""
        with self._lock:
            for seq in self._kept[store].keys() - rows:
                self._drop(store, seq)

    def _drop(self, store: str, seq: int) -> None:
        self._size -= len(self._kept[store].pop(seq, ("", None))[0])


_CACHE = RecordCache(64_000_000)
"""About 17,000 sessions, which take 300 MB; a hundred take 2 MB."""
