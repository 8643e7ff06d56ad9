"""The session registry as a caller sees it: its current session, its namespace's records."""

from __future__ import annotations

import copy
import functools
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

import anyio
import anyio.to_thread

from orchestrator.errors import RecordUnreadable, SessionNotFound, StoreFailed
from orchestrator.models.identifiers import join_claim, split_claim
from orchestrator.models.identifiers import normalize_session_id as checked
from orchestrator.models.session import Caller, Door, SessionRecord, SessionType
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Change, Closer, Holder, Overview, Ticket
from orchestrator.system.deadline import Deadline

ResultT = TypeVar("ResultT")

_KEEPER = 5.0
"""Seconds that the keeper may take to end a session."""
_POLL = 0.05
_MOST_CALLERS = 500
"""Callers of this process that are remembered, as long as no more own sessions: a host may name thousands of agents."""


class SessionRegistry:
    """The store as one caller sees it, used without blocking the event loop.

    Each method is one transaction in a worker thread. They run one at a time, in the order of the calls.

    Attributes:
        caller: The caller; that of a registry that was made for no other is the connection or script itself.
    """

    def __init__(self, store: SqliteStore, caller: Caller, namespace: str, *, max_sessions: int | None = None) -> None:
        self.store = store
        self.caller = caller
        self.namespace = namespace
        self.holder = Holder.current()
        self._max_sessions = max_sessions
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self._connection = caller
        self._callers = {caller.key: caller}

    def for_caller(self, caller: Caller) -> Self:
        """Return the same registry as another caller of this process sees it."""
        if caller is self.caller:
            return self
        other = copy.copy(self)
        other.caller = caller
        return other

    @property
    def callers(self) -> list[Caller]:
        """Every caller of this process so far, the connection itself included."""
        return [*self._callers.values()]

    def admit(self, caller: Caller) -> None:
        """Register a caller at its first call; in the store's thread, so that no later call overtakes it."""
        if caller.key not in self._callers:
            self.store.welcome(caller, self.namespace, self._connection.key)
            self._callers[caller.key] = caller
            if len(self._callers) > _MOST_CALLERS:
                self._forget_oldest_idle_caller()

    def _forget_oldest_idle_caller(self) -> None:
        """Forget the caller that came first and owns no session; its host names it, so it may come back."""
        busy = {self._connection.key, self.caller.key}
        busy.update(record.owner for record in self.store.list_open(self.namespace))
        for key in [*self._callers]:
            if key not in busy:
                del self._callers[key]
                self.store.forget(key)
                return

    async def call_store(self, method: Callable[..., ResultT], /, *args: Any, **kwargs: Any) -> ResultT:
        """Call a method of the store, after the calls that were made before."""
        bound = functools.partial(method, *args, **kwargs)
        return await anyio.to_thread.run_sync(bound, limiter=self._one_at_a_time)

    async def enrol(self, *, adopt_orphans: bool = True) -> list[str]:
        """Register the caller and let it adopt the sessions of dead callers; returns the ids that it adopted.

        One that has a name of its own gets back its own sessions instead: those of others wait for these.
        """
        if self.caller.named:
            await self.call_store(self.store.welcome, self.caller, self.namespace, self.caller.key)
            return []
        if adopt_orphans:
            return await self.call_store(self.store.adopt, self.caller, self.namespace)
        await self.call_store(self.store.register, self.caller, self.namespace)
        return []

    async def forget(self) -> None:
        """Remove the callers of this process; the sessions that they still own can be adopted."""
        for caller in self.callers:
            await self.call_store(self.store.forget, caller.key)

    async def park(self, which: Callable[[SessionRecord], bool]) -> list[SessionRecord]:
        """Park those sessions of this process's callers that may live on without it; returns their records."""
        return [
            record for caller in self.callers for record in await self.call_store(self.store.park, caller.key, which)
        ]

    async def park_unused(self, keys: Collection[str]) -> tuple[list[SessionRecord], set[str]]:
        """Park the sessions of these callers that no call uses at the moment.

        Returns the records of those that are parked now, and the callers with a session that a call uses.
        """
        parked, left = list[SessionRecord](), set[str]()
        for key in keys:
            records, has_more = await self.call_store(self.store.park_unused, key, self.holder)
            parked += records
            left |= {key} if has_more else set()
        return parked, left

    async def resolve(self, session_id: str | None = None) -> str:
        """Return the given id in its one spelling or, if omitted, that of the caller's current session.

        For the name of a claim, that is the id of the session.

        Raises:
            InvalidArgument: It is no session id.
            NoSession: The id was omitted and the caller has no current session.
            SessionNotFound: The session is not open in this namespace.
        """
        wanted, suffix = (None, "") if session_id is None else split_claim(session_id)
        resolve = functools.partial(self.store.resolve, suffix=suffix)
        return await self._call_as_caller(resolve, self.namespace, self.caller.key, wanted)

    async def reserve_session(
        self,
        type_: SessionType,
        wanted: str | None = None,
        *,
        provider: str,
        check_room: Callable[[Sequence[SessionRecord]], None] | None = None,
        **fields: Any,
    ) -> tuple[SessionRecord, Ticket]:
        """Reserve an id and the first turn of its lane, before anything is launched.

        `check_room` may refuse it, given all open sessions of the home. `fields` are fields of the record. Give the
        ticket to `Lanes.run_turn`.

        Raises:
            InvalidArgument: `wanted` is no session id.
            SessionExists: The id is not free.
            SessionLimit: The largest number of sessions is open.
        """
        now = self.store.now()

        def draft(session_id: str) -> SessionRecord:
            return SessionRecord(
                id=session_id,
                namespace=self.namespace,
                type=type_,
                provider=provider,
                owner=self.caller.key,
                started_by=self.caller.label,
                seen={self.caller.key: 0},
                created_at=now,
                last_active_at=now,
                **fields,
            )

        name = None if wanted is None else checked(wanted)
        reserve = functools.partial(
            self.store.reserve, max_sessions=self._max_sessions, holder=self.holder, check_room=check_room
        )
        return await self._call_as_caller(reserve, self.namespace, type_, name, draft)

    async def get(self, session_id: str) -> SessionRecord | None:
        """Return the record of an id, also of a closed session."""
        return await self.call_store(self.store.get, self.namespace, split_claim(session_id)[0])

    async def find(self, session_id: str | None = None) -> SessionRecord:
        """Return the record of an open session; default: the caller's current one.

        Raises:
            InvalidArgument, NoSession, SessionNotFound: As `resolve`.
        """
        chosen = await self.resolve(session_id)
        if (record := await self.get(chosen)) is None:
            raise SessionNotFound(chosen)
        return record

    async def note_consent(self, session_id: str, created_at: float, tools: Iterable[str]) -> None:
        """Note that a person has allowed tools, which the setting `confirm` holds back, for a whole session.

        Raises:
            SessionNotFound: It was closed meanwhile, or its name is another session's now.
        """

        def change(record: SessionRecord) -> SessionRecord:
            if record.created_at != created_at:
                raise SessionNotFound(session_id)
            return record.with_changes(consents=tuple(sorted({*record.consents, *tools})))

        await self.update(session_id, change)

    async def update(self, session_id: str, change: Change) -> SessionRecord:
        """Change the record of an open session, outside its lane.

        Raises:
            SessionNotFound: The session is closed, or never existed.
        """
        return await self.call_store(self.store.update, self.namespace, checked(session_id), change)

    async def list_with_current(self) -> tuple[list[SessionRecord], str | None]:
        """List the open sessions of the namespace; returns the id of the caller's current one, too."""
        return await self._call_as_caller(self.store.list_with_current, self.namespace, self.caller.key)

    async def read_overview(self) -> Overview:
        """List what is open in the namespace, or what is known of it while the store cannot be read."""

        def read() -> Overview:
            with suppress(StoreFailed):  # reading tells what is wrong
                self.admit(self.caller)
            return self.store.read_overview(self.namespace, self.caller.key)

        return await self.call_store(read)

    async def list_owned(self) -> list[SessionRecord]:
        """List the open sessions that the caller owns."""
        records = await self._call_as_caller(self.store.list_open, self.namespace)
        return [record for record in records if self.owns(record)]

    async def list_served(self) -> list[SessionRecord]:
        """List the open sessions that callers of this process own."""
        return [record for record in await self.call_store(self.store.list_open, self.namespace) if self.serves(record)]

    async def family(self) -> set[str]:
        """Return the keys of the caller and, where its host names parents, of all that descend from it."""
        return await self._call_as_caller(self.store.family, self.caller.key)

    async def unreadable(self) -> list[RecordUnreadable]:
        """List an error for each open session whose record cannot be read; other methods omit these sessions."""
        return await self.call_store(self.store.unreadable, self.namespace)

    async def end_unreadable(self, error: RecordUnreadable) -> str:
        """Let the keeper end a session whose record cannot be read; returns its id once that is free.

        Raises:
            RecordUnreadable: The session still exists: no keeper runs.
        """
        session_id = str(error.session_id)
        await self.call_store(self.store.leave_to_keeper, self.namespace, session_id)
        deadline = Deadline(_KEEPER)
        while any(unreadable.session_id == session_id for unreadable in await self.unreadable()):
            if not deadline.seconds_left:
                raise error
            await anyio.sleep(_POLL)
        return session_id

    async def usage(self) -> list[tuple[SessionRecord, bool]]:
        """List the open sessions of the namespace, each with True if a call runs or waits on it."""
        return await self.call_store(self.store.usage, self.namespace, self.holder)

    def owns(self, record: SessionRecord) -> bool:
        """Return True if the caller started, attached or adopted this session."""
        return record.owner == self.caller.key

    def serves(self, record: SessionRecord) -> bool:
        """Return True if a caller of this process owns this session."""
        return record.owner in self._callers

    async def set_current(self, session_id: str) -> str:
        """Make an open session of the namespace, its own or not, the caller's current one; returns its id.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The session is not open in this namespace.
        """
        resolve = functools.partial(self.store.resolve, choose=True)
        return await self._call_as_caller(resolve, self.namespace, self.caller.key, checked(session_id))

    async def claim(self, session_id: str, ttl: float) -> tuple[str, float]:
        """Claim a session; returns the name under which alone it can be changed, and when the claim ends unless used.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The session is not open in this namespace.
            SessionClaimed: Someone has claimed it.
        """
        plain, suffix = split_claim(session_id)
        claim = await self._call_as_caller(self.store.claim_session, self.namespace, plain, suffix, self.caller, ttl)
        return join_claim(plain, claim.suffix), claim.until

    async def release(
        self, session_id: str, *, force: Callable[[SessionRecord], bool], told: Change
    ) -> tuple[str, bool]:
        """End a claim; returns the session's id, and True if there was one. For `force` and `told` see the store.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The session is not open in this namespace, or the claim is over.
            SessionClaimed: Someone else has claimed it, and it may not be released by force.
        """
        plain, suffix = split_claim(session_id)
        release = functools.partial(self.store.release_session, force=force, told=told)
        return plain, await self._call_as_caller(release, self.namespace, plain, suffix)

    async def close(
        self,
        session_id: str,
        *,
        when: Callable[[SessionRecord, bool], bool] | None = None,
        because: str | None = None,
        family: Collection[str] | None = None,
        closer: Closer | None = None,
    ) -> SessionRecord | None:
        """Close a session in the store; returns the record as it was, None if there was nothing to close.

        `Lanes.close` also stops the session's calls. For the conditions see there.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The id was never open in this namespace.
        """
        plain, suffix = split_claim(session_id)
        close = functools.partial(
            self.store.close,
            when=when,
            because=because,
            holder=self.holder,
            family=family,
            suffix=suffix,
            closer=closer,
        )
        return await self.call_store(close, self.namespace, plain)

    async def _call_as_caller(self, method: Callable[..., ResultT], /, *args: Any) -> ResultT:
        def call() -> ResultT:
            self.admit(self.caller)
            return method(*args)

        return await self.call_store(call)


def make_caller(door: Door = "python") -> Caller:
    """Make a caller of this process, with a new random key."""
    process = Holder.current()
    return Caller(key=secrets.token_hex(16), **process._asdict(), door=door)
