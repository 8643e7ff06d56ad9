"""The store in a SQLite file: each method is one transaction, from any thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from orchestrator.errors import OrchestratorError, RecordUnreadable, StoreFailed
from orchestrator.models.session import Caller, SessionRecord, SessionState, SessionType
from orchestrator.sessions.store import callers, claims, leases, records, resource_queue, tickets
from orchestrator.sessions.store.clock import open_clock
from orchestrator.sessions.store.database import Database
from orchestrator.sessions.store.resource_queue import QueuePlace
from orchestrator.sessions.store.types import Change, ChangeAmong, Closer, Holder, LanePosition, Overview, Ticket
from orchestrator.system.host import life_locks

FILE_NAME = "sessions.db"
_REMEMBERED = 7 * 86_400.0
"""Seconds for which a closed session is remembered."""


class SqliteStore:
    """Records, lanes and callers of one home.

    Callables given to its methods run inside the transaction and must not call the store.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], float] | None = None,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the store of this home, creating it if it is missing.

        Args:
            home: The data folder.
            clock: The clock of all times in the store, instead of the one that `now` tells.
            ticks: The clock of heartbeats.

        Raises:
            InvalidArgument: It cannot be opened, is damaged, or is of a newer version; the message names the file.
        """
        self._ticks = ticks
        self._database = Database(home / FILE_NAME)
        me = Holder.current()
        life_locks.hold(home, me.pid, me.started)
        with self._database.write() as db:
            self._clock = clock or open_clock(db)
        self.forget_long_closed()

    def forget_long_closed(self) -> None:
        """Forget the sessions that were closed long ago."""
        with self._database.write() as db:
            db.execute("DELETE FROM sessions WHERE closed_at < ?", (self._clock() - _REMEMBERED,))

    def now(self) -> float:
        """Return the time in seconds since the epoch, by the clock that all times of records are of.

        It goes on evenly when the wall clock is set, until the machine is started anew.
        """
        return self._clock()

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
        check_room: Callable[[Sequence[SessionRecord]], None] | None = None,
    ) -> tuple[SessionRecord, Ticket]:
        """Reserve an id and the first place of its lane, before anything is launched.

        `wanted` is a checked id; if omitted, the next `{type}-{n}` is taken. The session becomes its owner's current
        one if the id was omitted, or if the owner has no current session.

        Raises:
            SessionExists: The id is not free.
            SessionLimit: The largest number of sessions is open, or `check_room`, given all of them, found no room.
        """
        with self._database.write() as db:
            if wanted is not None:
                records.require_free(db, namespace, wanted)
            records.make_room(db, namespace, max_sessions)
            if check_room is not None:
                check_room([row.record for row in records.open_rows(db)])
            record = draft(wanted or records.next_id(db, namespace, type_))
            before = callers.current(db, record.owner)
            session = records.insert(db, record, before)
            if wanted is None or before is None:
                callers.set_current(db, record.owner, record.id)
            return record, tickets.take(db, session, record, holder, self._ticks(), record.owner)

    def get(self, namespace: str, session_id: str) -> SessionRecord | None:
        """Return the record of an id, also of a closed session."""
        with self._database.read() as db:
            row = records.find(db, namespace, session_id)
        return row.record if row else None

    def get_without_writing(self, namespace: str, session_id: str) -> SessionRecord:
        """Return the record of an open session; as this process read it last if the store cannot even be read.

        Raises:
            SessionNotFound, SessionLost: The session is closed, lost, or never existed.
            StoreFailed: The store cannot be read, and this process never read the record.
        """
        try:
            with self._database.read() as db:
                return records.get_usable(db, namespace, session_id).record
        except StoreFailed as failure:
            return records.last_read(self._database.file, namespace, session_id, failure)

    def get_to_end(self, namespace: str, session_id: str, closer: Closer | None) -> SessionRecord:
        """Return the record of a session that is to be ended while it cannot be closed, as `close` would.

        Raises:
            SessionNotFound: The session is closed, or never existed.
            SessionClaimed: It is claimed.
            StoreFailed: The store cannot be read, and this process never read the record.
        """
        try:
            with self._database.read() as db:
                row = records.get_open(db, namespace, session_id)
                if closer and closer.key not in {None, row.record.owner}:
                    claims.check(db, row.seq, session_id, "", self._times())
                return records.without_shared(row.record, [other.record for other in records.open_rows(db)])
        except StoreFailed as failure:
            file = self._database.file
            known = records.last_read(file, namespace, session_id, failure)
            return records.without_shared(known, records.list_last_read(file))

    def list_open(self, namespace: str) -> list[SessionRecord]:
        """List the open records of a namespace, in order of creation."""
        with self._database.read() as db:
            return [row.record for row in records.open_rows(db, namespace)]

    def usage(self, namespace: str, holder: Holder) -> list[tuple[SessionRecord, bool]]:
        """List the open records, each with True if a call of a living process runs or waits in its lane."""
        with self._database.read() as db:
            tick = self._ticks()
            return [(row.record, leases.in_use(db, row.seq, tick, holder)) for row in records.open_rows(db, namespace)]

    def update(self, namespace: str, session_id: str, change: Change) -> SessionRecord:
        """Change the record of an open session; returns the changed record.

        Raises:
            SessionNotFound: The session is closed, or never existed.
        """
        with self._database.write() as db:
            return records.apply(db, records.get_open(db, namespace, session_id), change, self._clock())

    def close(
        self,
        namespace: str,
        session_id: str,
        *,
        when: Callable[[SessionRecord, bool], bool] | None = None,
        because: str | None = None,
        holder: Holder | None = None,
        family: Collection[str] | None = None,
        suffix: str = "",
        closer: Closer | None = None,
    ) -> SessionRecord | None:
        """Close a session and drop its lane; returns the record as it was, None if nothing was closed.

        The returned record lacks the processes that another living session needs, too: they end with the last of
        these. If several callers close a session at once, exactly one gets the record.

        Args:
            namespace: The session's namespace.
            session_id: The session.
            when: Decides in the transaction, given the record and if it is in use, if it is closed at all.
            because: The reason that later calls for the id get.
            holder: The process whose own calls count as use.
            family: Keys of callers whose calls do not count as use; nor does maintenance then.
            suffix: That of the name of a claim under which it is closed.
            closer: Who closes it; maintenance if omitted, which closes claimed sessions, too.

        Raises:
            SessionNotFound: The id was never open in this namespace, or the claim is over.
            SessionClaimed: It is claimed.
        """
        with self._database.write() as db:
            row = records.find(db, namespace, session_id)
            if row is None:
                raise records.not_found(db, namespace, session_id)
            if row.record.state is SessionState.CLOSED:
                return None
            times = self._times()
            if suffix or (closer and closer.key not in {None, row.record.owner}):
                claims.check(db, row.seq, session_id, suffix, times)
            place = row.seq, self._ticks(), holder or Holder.current()
            used = leases.in_use(db, *place) if family is None else leases.in_use_by_others(db, *place, family)
            if when and not when(row.record, used):
                return None
            claim = None if suffix or closer is None else claims.find(db, row.seq, times)
            if claim and closer and because is None:
                because = claims.describe_end(claim, closer.label, times.now)
            closed = {"state": SessionState.CLOSED, "lost_reason": because or row.record.lost_reason}
            records.apply(db, row, lambda record: record.with_changes(**closed), self._clock())
            return records.without_shared(row.record, [other.record for other in records.open_rows(db)])

    def reserve_refs(self, namespace: str, session_id: str, count: int) -> tuple[int, int]:
        """Reserve `count` element ref numbers; returns the first one and the one after the last.

        Raises:
            SessionNotFound: The session is closed, or never existed.
        """
        after = self.update(namespace, session_id, lambda record: record.with_changes(ref_next=record.ref_next + count))
        return after.ref_next - count, after.ref_next

    def list_all_open(self) -> list[SessionRecord]:
        """List the open records of all namespaces of this home."""
        with self._database.read() as db:
            return [row.record for row in records.open_rows(db)]

    def unreadable(self, namespace: str | None = None) -> list[RecordUnreadable]:
        """List an error for each open record that cannot be read; other methods omit these records."""
        with self._database.read() as db:
            return records.unreadable(db, namespace)

    def leave_to_keeper(self, namespace: str, session_id: str) -> None:
        """Leave a session whose record cannot be read to the keeper, which ends its processes."""
        with self._database.write() as db:
            records.give_up(db, namespace, session_id, self._clock())

    # Lanes

    def join_lane(
        self,
        namespace: str,
        session_id: str | None,
        holder: Holder,
        key: str | None = None,
        *,
        suffixes: Mapping[str, str] = MappingProxyType({}),
        looks: bool = False,
    ) -> LanePosition:
        """Take the last place in the lane of the given session or, if omitted, of the caller's current one.

        `suffixes` are those of the names of claims, by session id; the session's own claim is renewed. A call that only
        `looks` needs none.

        Raises:
            NoSession: The id was omitted and the caller `key` has no current session.
            SessionNotFound: The session is closed, or never existed, or the claim is over.
            SessionClaimed: It is claimed.
            SessionLost: The session is lost; no place was taken.
        """
        with self._database.write() as db:
            row = records.get_usable(db, namespace, callers.resolve_session_id(db, namespace, key, session_id))
            suffix = suffixes.get(row.record.id, "")
            if suffix or not looks:
                claims.check(db, row.seq, row.record.id, suffix, self._times())
                claims.renew(db, row.seq, suffix, self._clock())
            tick = self._ticks()
            ticket = tickets.take(db, row.seq, row.record, holder, tick, key, claim=suffix)
            return LanePosition(row.record, ticket, tickets.is_first(db, ticket, holder, tick))

    def read_position(self, ticket: Ticket) -> LanePosition | None:
        """Read the record and the place in the lane; None if the place is gone."""
        with self._database.write() as db:
            holder = tickets.holder_of(db, ticket)
            row = records.by_seq(db, ticket.session)
            if holder is None or row is None:
                return None
            return LanePosition(row.record, ticket, tickets.is_first(db, ticket, holder, self._ticks()))

    def leave_lane(self, ticket: Ticket, change: Change | None = None) -> SessionRecord | None:
        """Give up a place and change the record in the same transaction.

        Returns None and changes nothing if the session was closed or lost, or the place was lost to another process.
        """
        with self._database.write() as db:
            had_place = db.execute("DELETE FROM tickets WHERE number = ?", (ticket.number,)).rowcount
            if ticket.claim:
                claims.renew(db, ticket.session, ticket.claim, self._clock())
            row = records.by_seq(db, ticket.session)
            if row is None or not had_place or row.record.state in {SessionState.CLOSED, SessionState.LOST}:
                return None
            return records.apply(db, row, change, self._clock()) if change else row.record

    def has_lost_place(self, ticket: Ticket) -> bool:
        """Return True if the place in an open session's lane was given away: its process had no heartbeat for long."""
        with self._database.read() as db:
            if tickets.holder_of(db, ticket) is not None:
                return False
            return records.refusal(db, ticket, records.by_seq(db, ticket.session)) is None

    def refusal(self, ticket: Ticket) -> OrchestratorError | None:
        """Return the error for calls with this ticket if its session was closed or lost, else None."""
        with self._database.read() as db:
            return records.refusal(db, ticket, records.by_seq(db, ticket.session))

    def write(self, ticket: Ticket, change: Change, *, needs_place: bool = True) -> SessionRecord:
        """Change the record of a ticket's session at once; never that of a later session.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
            TurnLost: The place in its lane is lost, and the change `needs_place`.
        """
        find = tickets.row_of_held if needs_place else records.of_ticket
        with self._database.write() as db:
            return records.apply(db, find(db, ticket), change, self._clock())

    def change_among(self, ticket: Ticket, change: ChangeAmong) -> SessionRecord:
        """Change the record at once, given the other living sessions of this home, in any namespace."""
        with self._database.write() as db:
            return callers.change_among(db, tickets.row_of_held(db, ticket), change, self._clock(), self._ticks())

    def claim(self, ticket: Ticket, name: str) -> SessionRecord | None:
        """Claim a resource, such as a device or a port, for a ticket's session alone and for its life.

        Returns the session of this home, in any namespace, that holds it already; None on success.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
        """
        with self._database.write() as db:
            return records.claim(db, tickets.row_of_held(db, ticket), name, self._clock())

    def claim_one(self, ticket: Ticket, names: Sequence[str], holder: Holder) -> QueuePlace:
        """Claim one of several resources as `claim` does, or tell the place in the queue for them.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
        """
        with self._database.write() as db:
            tickets.row_of_held(db, ticket)
            return resource_queue.claim_one(db, ticket, names, holder, self._clock(), self._ticks())

    def restore(self, ticket: Ticket, key: str, ttl: float | None = None) -> SessionRecord:
        """Make a parked session active; when parked again, it lives `ttl` seconds.

        The caller `key` owns it if no living caller does.

        Raises:
            SessionNotFound, SessionLost: It was closed, or lost.
        """
        with self._database.write() as db:
            return callers.restore(db, tickets.row_of_held(db, ticket), key, ttl, self._clock())

    def beat(self, holder: Holder) -> None:
        """Record a heartbeat: this process still holds its places."""
        with self._database.write() as db:
            values = (self._ticks(), *holder)
            db.execute("UPDATE tickets SET beat = ? WHERE pid = ? AND created = ? AND started = ?", values)

    # Claims

    def claim_session(self, namespace: str, session_id: str, suffix: str, caller: Caller, ttl: float) -> claims.Claim:
        """Claim an open session for a caller; under the name of a claim in force, that is prolonged by `ttl`.

        Raises:
            SessionNotFound: The session is closed, or never existed, or the claim is over.
            SessionClaimed: Someone has claimed it.
        """
        with self._database.write() as db:
            row, times = records.get_open(db, namespace, session_id), self._times()
            claim = claims.check(db, row.seq, session_id, suffix, times)
            if claim is None:
                return claims.make(db, row.seq, caller, ttl, times.now)
            until = times.now + ttl
            db.execute("UPDATE claims SET ttl = ?, until = ? WHERE session = ?", (ttl, until, row.seq))
            return claim._replace(ttl=ttl, until=until)

    def release_session(
        self, namespace: str, session_id: str, suffix: str, *, force: Callable[[SessionRecord], bool], told: Change
    ) -> bool:
        """End a claim under its own name, or that of someone else if `force` allows it; False if there is none.

        A release by force changes the record by `told`, for those who have used the session.

        Raises:
            SessionNotFound: The session is closed, or never existed, or the claim is over.
            SessionClaimed: Someone else has claimed it, and it may not be released by force.
        """
        with self._database.write() as db:
            row, times = records.get_open(db, namespace, session_id), self._times()
            forced = not suffix and force(row.record) and claims.find(db, row.seq, times) is not None
            claim = None if forced else claims.check(db, row.seq, session_id, suffix, times)
            if forced:
                records.apply(db, row, told, times.now)
            claims.end(db, row.seq)
            return forced or claim is not None

    # Callers

    def register(self, caller: Caller, namespace: str) -> None:
        """Insert or update a caller; one that is already registered keeps its current session."""
        with self._database.write() as db:
            callers.register(db, caller, namespace)

    def adopt(self, caller: Caller, namespace: str) -> list[str]:
        """Register a caller and give it the sessions of the namespace's dead callers; returns the ids that it owns.

        If it then owns exactly one, that is its current one. A session whose start died with its caller is lost.
        """
        with self._database.write() as db:
            callers.register(db, caller, namespace)
            alive = leases.find_living_callers(db) | {caller.key}
            callers.remove_dead(db, alive)
            own = callers.take_over(db, caller, namespace, alive, self._clock())
            if len(own) == 1:
                callers.set_current(db, caller.key, own[0])
            return own

    def welcome(self, caller: Caller, namespace: str, connection: str) -> None:
        """Register a caller that its host names, and give it the sessions that it owned in a process that died.

        `connection` is the key of the caller that it comes in by, whose adopted sessions the first one continues.
        """
        with self._database.write() as db:
            callers.welcome(db, caller, namespace, connection, self._clock())

    def family(self, key: str) -> set[str]:
        """Return the keys of a caller and of all that descend from it."""
        with self._database.read() as db:
            return callers.family(db, key)

    def park(self, key: str, which: Callable[[SessionRecord], bool]) -> list[SessionRecord]:
        """Park those of a caller's sessions that may live on without it; returns their records."""
        with self._database.write() as db:
            return callers.park(db, key, which, self._clock())

    def park_unused(self, key: str, holder: Holder) -> tuple[list[SessionRecord], bool]:
        """Park a caller's sessions that no call uses; returns their records, and True if there are others.

        Maintenance is no use. `holder` is the process whose own calls count.
        """
        with self._database.write() as db:
            own = [row for row in records.open_rows(db) if row.record.owner == key]
            tick = self._ticks()
            used = {row.record.id for row in own if leases.in_use_by_others(db, row.seq, tick, holder, ())}
            return callers.park(db, key, lambda record: record.id not in used, self._clock()), bool(used)

    def lacks_keeper(self) -> bool:
        """Return True if this home has open sessions and no keeper."""
        with self._database.read() as db:
            return leases.keeper(db) is None and records.any_open(db)

    def forget(self, key: str) -> None:
        """Remove a caller; the sessions that it still owns count as a dead caller's."""
        with self._database.write() as db:
            callers.forget(db, key)

    def resolve(
        self, namespace: str, key: str, session_id: str | None, *, choose: bool = False, suffix: str = ""
    ) -> str:
        """Return the given id or, if omitted, that of the caller's current session; `choose` makes it current.

        Raises:
            NoSession: The id was omitted and the caller has no current session.
            SessionNotFound: The session is not open in this namespace.
        """
        with self._database.write() if choose else self._database.read() as db:
            wanted = callers.resolve_session_id(db, namespace, key, session_id)
            row = records.get_open(db, namespace, wanted)
            if suffix:
                claims.check(db, row.seq, wanted, suffix, self._times())
            if choose:
                callers.set_current(db, key, wanted)
            return wanted

    def list_with_current(self, namespace: str, key: str) -> tuple[list[SessionRecord], str | None]:
        """List the open records of a namespace; returns the id of the caller's current session, too."""
        with self._database.read() as db:
            return [row.record for row in records.open_rows(db, namespace)], callers.current(db, key)

    def read_overview(self, namespace: str, key: str) -> Overview:
        """List what is open in a namespace; what this process read last and the failure if the store cannot be read."""
        try:
            with self._database.read() as db:
                rows = records.open_or_unreadable(db, namespace)
                current = callers.current(db, key)
        except StoreFailed as failure:
            known = [one for one in records.list_last_read(self._database.file) if one.namespace == namespace]
            return Overview(known, [], None, failure)
        readable = [row.record for row in rows if isinstance(row, records.RecordRow)]
        return Overview(readable, [row for row in rows if isinstance(row, RecordUnreadable)], current)

    def _times(self) -> claims.Times:
        return claims.Times(self._clock(), self._ticks())
