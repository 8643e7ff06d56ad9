"""Which calls of this process stand in which lane, and in what order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from orchestrator.models import SessionRecord
from orchestrator.sessions.call import Call

AnyCall = Call[Any]


class Queues:
    """The calls of this process that wait or run, by session; it belongs to the event loop."""

    def __init__(self) -> None:
        self._calls: dict[str, list[AnyCall]] = {}
        self._empty = anyio.Event()

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, call: AnyCall) -> None:
        """Let a call stand in its session's lane."""
        if not self._calls:
            self._empty = anyio.Event()
        self._calls.setdefault(call.session_id, []).append(call)

    def remove(self, call: AnyCall) -> None:
        """Take a call out of its lane, without a word to those behind it."""
        calls = self._calls.get(call.session_id, [])
        if call in calls:
            calls.remove(call)
        if not calls:
            self._calls.pop(call.session_id, None)
        if not self._calls:
            self._empty.set()

    def release(self, call: AnyCall) -> None:
        """Take a call out of its lane and let the next one look whether it is its turn."""
        self.remove(call)
        call.left.set()

    async def empty(self) -> None:
        """Wait until no call is left."""
        await self._empty.wait()

    def ahead(self, call: AnyCall) -> AnyCall | None:
        """The call of this process that stands nearest before this one, in the same life of its session."""
        mine = call.place
        before = [
            other
            for other in self._calls.get(call.session_id, ())
            if other.ticket and other.ticket.session == mine.session and other.ticket.number < mine.number
        ]
        return max(before, key=lambda other: other.place.number, default=None)

    def running(self) -> list[AnyCall]:
        """The calls whose work runs."""
        return [call for calls in self._calls.values() for call in calls if call.turn]

    def end(self, record: SessionRecord, running: Callable[[], Exception], waiting: Callable[[], Exception]) -> None:
        """Answer every call of a session at once and drop its lane."""
        for call in list(self._calls.get(record.id, ())):
            # A later session may have the id by now; it was not created at the same moment.
            if call.record and call.record.created_at == record.created_at:
                call.stop(running if call.turn else waiting)
                self.release(call)
