"""The store in one SQLite file: every method is one transaction, from any thread of any process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from orchestrator import leases
from orchestrator.errors import OrchestratorError, RecordUnreadable
from orchestrator.models import Caller, SessionRecord, SessionState, SessionType
from orchestrator.store import callers, rows, tickets
from orchestrator.store.base import Change, ChangeAmong, Entry, Holder, Ticket
from orchestrator.store.database import Database

FILE_NAME = "sessions.db"
_REMEMBERED = 7 * 86_400.0
"""How long a closed id is remembered, in seconds."""


class SqliteStore:
    """Records, lanes and callers of one home.

    Callables that are handed in run inside the transaction and must not call the store.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the store of this home, making it where it is missing.

        Raises:
            InvalidArgument: It cannot be opened, is damaged, or is of a newer version; the message names the file.
        """
        self._clock = clock
        self._ticks = ticks
        self._database = Database(home / FILE_NAME)
        with self._database.write() as db:
            db.execute("DELETE FROM sessions WHERE closed_at < ?", (clock() - _REMEMBERED,))

    def disconnect(self) -> None:
        """Close the file."""
        self._database.close()

    # Records

    def reserve(
        self,
        namespace: str,
        type_: SessionType,
        wanted: str | None,
        draft: Callable[[str], SessionRecord],
        *,
        max_sessions: int | None,
        holder: Holder,
    ) -> tuple[SessionRecord, Ticket]:
        """Take an id and the first place of its lane, before anything is launched.

        `wanted` is a checked id; without one the next `{type}-{n}` is taken. The session becomes its owner's
        current one when it has no name of the caller's choice, or when the owner has none.

        Raises:
            SessionExists: The id is not free.
            SessionLimit: As many sessions as allowed are open.
        """
        with self._database.write() as db:
            if wanted is not None:
                rows.require_free(db, namespace, wanted)
            rows.make_room(db, namespace, max_sessions)
            record = draft(wanted or rows.next_id(db, namespace, type_))
            before = callers.current(db, record.owner)
            session = rows.insert(db, record, before)
            if wanted is None or before is None:
                callers.set_current(db, record.owner, record.id)
            return record, tickets.take(db, session, record, holder, self._ticks())

    def get(self, namespace: str, session_id: str) -> SessionRecord | None:
        """The record of an id, closed ones too."""
        with self._database.read() as db:
            row = rows.find(db, namespace, session_id)
        return row.record if row else None

    def open(self, namespace: str) -> list[SessionRecord]:
        """Every record that is not closed, in order of creation."""
        with self._database.read() as db:
            return [row.record for row in rows.open_rows(db, namespace)]

    def usage(self, namespace: str, holder: Holder) -> list[tuple[SessionRecord, bool]]:
        """Those records, each with whether a call of anybody alive runs or waits in its lane."""
        with self._database.read() as db:
            tick = self._ticks()
            return [(row.record, leases.in_use(db, row.seq, tick, holder)) for row in rows.open_rows(db, namespace)]

    def update(self, namespace: str, session_id: str, change: Change) -> SessionRecord:
        """Change a record that is not closed; returns it as it now stands.

        Raises:
            SessionNotFound: It is closed, or was never there.
        """
        with self._database.write() as db:
            return rows.apply(db, rows.get_open(db, namespace, session_id), change, self._clock())

    def close(
        self,
        namespace: str,
        session_id: str,
        *,
        when: Callable[[SessionRecord, bool], bool] | None = None,
        because: str | None = None,
        holder: Holder | None = None,
    ) -> SessionRecord | None:
        """Close a session, dropping its lane; returns the record as it was, or None when nothing was closed.

        What it returns lacks the processes that a session which lives names, too: they end with the last of those.
        `when(record, in_use)` is asked at the moment of closing whether to close at all; `because` is told to who asks
        for the session later. Of several who close one session at once exactly one gets the record.

        Raises:
            SessionNotFound: The id was never open here.
        """
        with self._database.write() as db:
            row = rows.find(db, namespace, session_id)
            if row is None:
                raise rows.not_found(db, namespace, session_id)
            if row.record.state is SessionState.CLOSED:
                return None
            if when and not when(row.record, leases.in_use(db, row.seq, self._ticks(), holder or Holder.here())):
                return None
            closed = {"state": SessionState.CLOSED, "lost_reason": because or row.record.lost_reason}
            rows.apply(db, row, lambda record: record.changed(**closed), self._clock())
            return rows.without_shared(row.record, [other.record for other in rows.open_rows(db)])

    def reserve_refs(self, namespace: str, session_id: str, count: int) -> tuple[int, int]:
        """Set `count` element ref numbers apart; returns the first and the one after the last.

        Raises:
            SessionNotFound: It is closed, or was never there.
        """
        after = self.update(namespace, session_id, lambda record: record.changed(ref_next=record.ref_next + count))
        return after.ref_next - count, after.ref_next

    def every(self) -> list[SessionRecord]:
        """Every record that is not closed, in any namespace of this home."""
        with self._database.read() as db:
            return [row.record for row in rows.open_rows(db)]

    def unreadable(self, namespace: str | None = None) -> list[RecordUnreadable]:
        """Why the records cannot be read that are not closed and that all others of these methods leave out."""
        with self._database.read() as db:
            return rows.unreadable(db, namespace)

    def give_up(self, namespace: str, session_id: str) -> None:
        """Leave a session whose record cannot be read to the keeper, which ends what the record names."""
        with self._database.write() as db:
            rows.give_up(db, namespace, session_id, self._clock())

    # Lanes

    def enter(self, namespace: str, session_id: str | None, holder: Holder, key: str | None = None) -> Entry:
        """Take the last place of a session's lane: of the one given, else of the current one of the caller `key`.

        Raises:
            NoSession: None was given and the caller has no current one.
            SessionNotFound: It is closed, or was never there.
            SessionLost: It is lost; no place was taken.
        """
        with self._database.write() as db:
            row = rows.get_usable(db, namespace, callers.meant(db, namespace, key, session_id))
            tick = self._ticks()
            ticket = tickets.take(db, row.seq, row.record, holder, tick)
            return Entry(row.record, ticket, tickets.is_first(db, ticket, holder, tick))

    def look(self, ticket: Ticket) -> Entry | None:
        """The record and the place as they are now; None when the place is gone."""
        with self._database.write() as db:
            holder = tickets.holder_of(db, ticket)
            row = rows.by_seq(db, ticket.session)
            if holder is None or row is None:
                return None
            return Entry(row.record, ticket, tickets.is_first(db, ticket, holder, self._ticks()))

    def leave(self, ticket: Ticket, change: Change | None = None) -> SessionRecord | None:
        """Give a place back and change the record with it; None when the session was closed or lost meanwhile."""
        with self._database.write() as db:
            db.execute("DELETE FROM tickets WHERE number = ?", (ticket.number,))
            row = rows.by_seq(db, ticket.session)
            if row is None or row.record.state in {SessionState.CLOSED, SessionState.LOST}:
                return None
            return rows.apply(db, row, change, self._clock()) if change else row.record

    def refusal(self, ticket: Ticket) -> OrchestratorError | None:
        """Why a ticket's session takes no more calls: it was closed or lost; None when it does take them."""
        with self._database.read() as db:
            return rows.refusal(db, ticket, rows.by_seq(db, ticket.session))

    def write(self, ticket: Ticket, change: Change) -> SessionRecord:
        """Change the record at once, whether or not the place is still held; a later life of the id is untouched.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
        """
        with self._database.write() as db:
            return rows.apply(db, rows.of_ticket(db, ticket), change, self._clock())

    def among(self, ticket: Ticket, change: ChangeAmong) -> SessionRecord:
        """As `write`, for a change that depends on the other sessions of this home that live, in any namespace."""
        with self._database.write() as db:
            return callers.change_among(db, rows.of_ticket(db, ticket), change, self._clock(), self._ticks())

    def claim(self, ticket: Ticket, name: str) -> SessionRecord | None:
        """Give something to a ticket's session alone, such as a device or a port, for as long as the session lives.

        Returns the session of this home, in any namespace, that has it already; None when it is this one's now.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
        """
        with self._database.write() as db:
            return rows.claim(db, rows.of_ticket(db, ticket), name, self._clock())

    def restore(self, ticket: Ticket, key: str, ttl: float | None = None) -> SessionRecord:
        """Make a parked session active, to live `ttl` seconds when it is parked again; `key` owns it if nobody does.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
        """
        with self._database.write() as db:
            return callers.restore(db, rows.of_ticket(db, ticket), key, ttl, self._clock())

    def beat(self, holder: Holder) -> None:
        """Say that this process still holds its places."""
        with self._database.write() as db:
            values = (self._ticks(), *holder)
            db.execute("UPDATE tickets SET beat = ? WHERE pid = ? AND created = ?", values)

    # Callers

    def register(self, caller: Caller, namespace: str) -> None:
        """Remember a caller, keeping its current session if it is known."""
        with self._database.write() as db:
            callers.register(db, caller, namespace)

    def adopt(self, caller: Caller, namespace: str) -> list[str]:
        """Register a caller and give it the namespace's sessions whose caller is dead; returns what it now owns.

        If it then owns exactly one, that is its current one. A session whose start died with its caller is lost.
        """
        with self._database.write() as db:
            callers.register(db, caller, namespace)
            alive = leases.living(db) | {caller.key}
            callers.remove_dead(db, alive)
            own = callers.take_over(db, caller, namespace, alive, self._clock())
            if len(own) == 1:
                callers.set_current(db, caller.key, own[0])
            return own

    def park(self, key: str, which: Callable[[SessionRecord], bool]) -> list[SessionRecord]:
        """Park what a caller owns and what may live on without it; returns those that are parked now."""
        with self._database.write() as db:
            return callers.park(db, key, which, self._clock())

    def lacks_keeper(self) -> bool:
        """Whether there is something to keep in this home, and no keeper."""
        with self._database.read() as db:
            return leases.keeper(db) is None and rows.any_open(db)

    def forget(self, key: str) -> None:
        """Remove a caller; what it still owns counts as a dead caller's."""
        with self._database.write() as db:
            db.execute("DELETE FROM callers WHERE key = ?", (key,))

    def current(self, key: str) -> str | None:
        """The caller's current session."""
        with self._database.read() as db:
            return callers.current(db, key)

    def resolve(self, namespace: str, key: str, session_id: str | None, *, choose: bool = False) -> str:
        """The id that a caller means: the given one, else its current one; `choose` makes it current.

        Raises:
            NoSession: None was given and the caller has no current one.
            SessionNotFound: It is not open in this namespace.
        """
        with self._database.write() if choose else self._database.read() as db:
            wanted = callers.meant(db, namespace, key, session_id)
            rows.get_open(db, namespace, wanted)
            if choose:
                callers.set_current(db, key, wanted)
            return wanted

    def listing(self, namespace: str, key: str) -> tuple[list[SessionRecord], str | None]:
        """Every record of the namespace that is not closed, and the caller's current session."""
        with self._database.read() as db:
            return [row.record for row in rows.open_rows(db, namespace)], callers.current(db, key)
