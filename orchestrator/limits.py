"""Ends the sessions that nobody uses, and the script worlds that no script does: every use begins the time anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import anyio.to_thread

from orchestrator.closing import Closer
from orchestrator.errors import OrchestratorError
from orchestrator.models import SessionRecord, SessionState
from orchestrator.rounds import LONGEST, Rounds
from orchestrator.sessions import Book
from orchestrator.world.worlds import Worlds

_MINUTE = 60


def left(record: SessionRecord, now: float) -> float:
    """Seconds until the session has been idle for as long as it may be; a parked one has a time of its own."""
    limit = record.limits.get("idle")
    if limit is None or record.state in {SessionState.STARTING, SessionState.PARKED}:
        return LONGEST
    return record.last_active_at + limit - now


class IdleLimit(Rounds):
    """Looks after the sessions of one caller.

    Work in flight is never idle: whether a session is in use is asked in the transaction that closes it.
    """

    def __init__(self, book: Book, closer: Closer, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._book = book
        self._closer = closer
        self._clock = clock

    async def look(self) -> float:
        """End what is idle for too long now; returns the seconds until the next look."""
        try:
            mine = await self._book.mine()
            for record in self._expired(mine):
                idle = f"nobody used it for {_duration(record.limits['idle'])}"
                await self._closer.close([record.id], idle, when=self._still_idle, because=idle)
        except OrchestratorError:
            return LONGEST  # the store did not answer: it is looked at again later
        return min((left(record, self._clock()) for record in mine), default=LONGEST)

    def _expired(self, records: Iterable[SessionRecord]) -> list[SessionRecord]:
        return [record for record in records if left(record, self._clock()) <= 0]

    def _still_idle(self, record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store asks it so
        return not in_use and left(record, self._clock()) <= 0


class WorldLimit(Rounds):
    """Gives up the script worlds that no script uses."""

    def __init__(self, worlds: Worlds) -> None:
        super().__init__()
        self._worlds = worlds

    async def look(self) -> float:
        """Give up what is idle for too long now; returns the seconds until the next look."""
        return await anyio.to_thread.run_sync(self._worlds.give_up_idle)


def _duration(seconds: float) -> str:
    return f"{seconds / _MINUTE:g} minutes" if seconds >= _MINUTE else f"{seconds:g} s"
