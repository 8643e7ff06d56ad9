"""Who is there: ids, reservations and records as one caller sees them, and which session is its current one."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from orchestrator.errors import RecordUnreadable
from orchestrator.ids import session_id as checked
from orchestrator.models import Caller, SessionRecord, SessionState, SessionType
from orchestrator.store import Change, Holder, SqliteStore, Ticket

ResultT = TypeVar("ResultT")

_KEEPER = 5.0
"""Seconds that the keeper may take to see to a session."""
_POLL = 0.05


class Book:
    """The store as one caller sees it, asked without ever blocking the event loop.

    Every question is one transaction in a worker thread, one at a time: answers come in the order of the questions.
    """

    def __init__(self, store: SqliteStore, caller: Caller, namespace: str, *, max_sessions: int | None = None) -> None:
        self.store = store
        self.caller = caller
        self.namespace = namespace
        self.holder = Holder.here()
        self._max_sessions = max_sessions
        self._one_at_a_time = anyio.CapacityLimiter(1)

    async def ask(self, question: Callable[..., ResultT], /, *args: Any, **kwargs: Any) -> ResultT:
        """Ask the store one thing, after whatever was asked before."""
        bound = functools.partial(question, *args, **kwargs)
        return await anyio.to_thread.run_sync(bound, limiter=self._one_at_a_time)

    async def enrol(self, *, adopting: bool = True) -> list[str]:
        """Make the caller known, adopting what dead callers of the namespace left; returns the ids it took over."""
        if adopting:
            return await self.ask(self.store.adopt, self.caller, self.namespace)
        await self.ask(self.store.register, self.caller, self.namespace)
        return []

    async def forget(self) -> None:
        """Forget the caller; what it still owns can be adopted."""
        await self.ask(self.store.forget, self.caller.key)

    async def park(self, which: Callable[[SessionRecord], bool]) -> list[SessionRecord]:
        """Park what the caller owns and what may live on without it; returns the records that are parked now."""
        return await self.ask(self.store.park, self.caller.key, which)

    async def resolve(self, session_id: str | None = None) -> str:
        """The id that is meant: the given one in its one spelling, else the caller's current session.

        Raises:
            InvalidArgument: It is no session id.
            NoSession: None was given and the caller has no current one.
            SessionNotFound: It is not open in this namespace.
        """
        wanted = None if session_id is None else checked(session_id)
        return await self.ask(self.store.resolve, self.namespace, self.caller.key, wanted)

    async def start(
        self, type_: SessionType, wanted: str | None = None, *, provider: str, **fields: Any
    ) -> tuple[SessionRecord, Ticket]:
        """Reserve an id and the first turn of its lane, before anything is launched; `fields` are the record's.

        Give the ticket to `Lanes.run`, or end the reservation with `commit` or `fail`.

        Raises:
            InvalidArgument: `wanted` is no session id.
            SessionExists: The id is not free.
            SessionLimit: As many sessions as allowed are open.
        """
        now = time.time()

        def draft(session_id: str) -> SessionRecord:
            return SessionRecord(
                id=session_id,
                namespace=self.namespace,
                type=type_,
                provider=provider,
                owner=self.caller.key,
                created_at=now,
                last_active_at=now,
                **fields,
            )

        name = None if wanted is None else checked(wanted)
        reserve = functools.partial(self.store.reserve, max_sessions=self._max_sessions, holder=self.holder)
        return await self.ask(reserve, self.namespace, type_, name, draft)

    async def commit(self, ticket: Ticket, **fields: Any) -> SessionRecord | None:
        """Make a reserved session active, with these fields; None when it was closed meanwhile."""
        change = {"state": SessionState.ACTIVE, "last_active_at": time.time(), **fields}
        return await self.ask(self.store.leave, ticket, lambda record: record.changed(**change))

    async def fail(self, ticket: Ticket, reason: str) -> None:
        """Free a reserved id; who asks for the session hears the reason."""
        change = {"state": SessionState.CLOSED, "lost_reason": reason}
        await self.ask(self.store.leave, ticket, lambda record: record.changed(**change))

    async def get(self, session_id: str) -> SessionRecord | None:
        """The record of an id of the namespace, closed ones too."""
        return await self.ask(self.store.get, self.namespace, checked(session_id))

    async def update(self, session_id: str, change: Change) -> SessionRecord:
        """Change a record that is not closed, outside its lane.

        Raises:
            SessionNotFound: It is closed, or was never there.
        """
        return await self.ask(self.store.update, self.namespace, checked(session_id), change)

    async def rows(self) -> tuple[list[SessionRecord], str | None]:
        """Every session of the namespace that is not closed, and the caller's current one."""
        return await self.ask(self.store.listing, self.namespace, self.caller.key)

    async def mine(self) -> list[SessionRecord]:
        """The sessions that the caller owns; with none it has "no session at all"."""
        return [record for record in await self.ask(self.store.open, self.namespace) if self.owns(record)]

    async def unreadable(self) -> list[RecordUnreadable]:
        """Why sessions of the namespace are left out everywhere: their records cannot be read."""
        return await self.ask(self.store.unreadable, self.namespace)

    async def give_up(self, error: RecordUnreadable) -> str:
        """Have the keeper end a session whose record cannot be read, and return its id once that is free.

        Raises:
            RecordUnreadable: It is still there: no keeper runs.
        """
        session_id = str(error.session_id)
        await self.ask(self.store.give_up, self.namespace, session_id)
        until = time.monotonic() + _KEEPER
        while any(one.session_id == session_id for one in await self.unreadable()):
            if time.monotonic() >= until:
                raise error
            await anyio.sleep(_POLL)
        return session_id

    async def usage(self) -> list[tuple[SessionRecord, bool]]:
        """Every session of the namespace that is not closed, and whether a call runs or waits on it now."""
        return await self.ask(self.store.usage, self.namespace, self.holder)

    def owns(self, record: SessionRecord) -> bool:
        """Whether the caller started, attached or adopted this session."""
        return record.owner == self.caller.key

    async def set_current(self, session_id: str) -> str:
        """Make an open session of the namespace, whoever owns it, the caller's current one; returns its id.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: It is not open in this namespace.
        """
        resolve = functools.partial(self.store.resolve, choose=True)
        return await self.ask(resolve, self.namespace, self.caller.key, checked(session_id))

    async def close(
        self,
        session_id: str,
        *,
        when: Callable[[SessionRecord, bool], bool] | None = None,
        because: str | None = None,
    ) -> SessionRecord | None:
        """Close a session in the store; returns the record as it was, or None when there was nothing to close.

        `Lanes.close` does this and stops the calls as well. `when(record, in_use)` decides at the moment of closing;
        `because` is told to who asks for the session later.

        Raises:
            InvalidArgument: It is no session id.
            SessionNotFound: The id was never open here.
        """
        close = functools.partial(self.store.close, when=when, because=because, holder=self.holder)
        return await self.ask(close, self.namespace, checked(session_id))
