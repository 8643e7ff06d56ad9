"""Ends the sessions that nobody uses, and those that have lived for as long as they may."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import anyio.from_thread

from orchestrator.again import GONE
from orchestrator.closing import Closer
from orchestrator.duties import NEVER, Duty, Usage
from orchestrator.models import SessionRecord, SessionState
from orchestrator.sessions import Lanes, Turn

_MINUTE = 60


def idle_left(record: SessionRecord, now: float) -> float:
    """Seconds until the session has been idle for as long as it may be; a parked one has a time of its own."""
    limit = record.limits.get("idle")
    if limit is None or record.state in {SessionState.STARTING, SessionState.PARKED}:
        return NEVER
    return record.last_active_at + limit - now


def age_left(record: SessionRecord, now: float) -> float:
    """Seconds until the session has lived for as long as it may, from its creation on, parked or not."""
    limit = record.limits.get("age")
    if limit is None or record.state is SessionState.LOST or not record.remote_session_id:
        return NEVER
    return (record.fresh_since or record.created_at) + limit - now


class IdleLimit(Duty):
    """Closes what is unused for too long. Every call begins the time anew, and work in flight is never idle."""

    def __init__(self, closer: Closer, clock: Callable[[], float] = time.time) -> None:
        self._closer = closer
        self._clock = clock

    def left(self, usage: Usage, now: float) -> float:
        """Seconds until it has been idle for too long; what is in use is not idle at all."""
        return NEVER if usage.in_use or not usage.ours else idle_left(usage.record, now)

    async def do(self, record: SessionRecord) -> None:
        """Close it, unless somebody used it meanwhile: that is asked in the transaction that closes it."""
        idle = f"nobody used it for {duration(record.limits['idle'])}"
        await self._closer.close([record.id], idle, when=self._still_idle, because=idle)

    def _still_idle(self, record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store asks it so
        return not in_use and idle_left(record, self._clock()) <= 0


class AgeLimit(Duty):
    """Ends what has lived for too long, in a turn of its lane: calls before that are answered, later ones hear why.

    With `recreate` the session stays, parked and without a remote end, and the next call on it starts a fresh one.
    """

    def __init__(
        self, lanes: Lanes, closer: Closer, *, recreate: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        self._lanes = lanes
        self._closer = closer
        self._recreate = recreate
        self._clock = clock

    def left(self, usage: Usage, now: float) -> float:
        """Seconds until its time is over, in use or not."""
        return age_left(usage.record, now) if usage.ours else NEVER

    async def do(self, record: SessionRecord) -> None:
        """End it when its turn comes."""
        because = f"it was open for {duration(record.limits['age'])}, which is as long as it may be"
        end = functools.partial(self._end, because=because)
        if over := await self._lanes.run(record.id, end, renews=False):
            await self._closer.over(over, because)

    def _end(self, turn: Turn, because: str) -> SessionRecord | None:
        """What is to be ended with the session, whose name is free from now on; None where it keeps its name."""
        record = turn.record
        if age_left(record, self._clock()) > 0:
            return None
        own = turn.own()
        if not self._recreate or not record.owned or record.request is None:
            turn.change(state=SessionState.CLOSED, lost_reason=because)
            return own
        turn.watch.clear()
        # Its recording goes on with the next remote end.
        anyio.from_thread.run(self._closer.end, [own.changed(har="")])
        until = record.parked_until or record.last_active_at + record.limits["idle"]
        lease = {"parked_at": record.parked_at or self._clock(), "parked_until": until}
        turn.change(**{**GONE, **lease, "state": SessionState.PARKED, "lost_reason": because})
        return None


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < _MINUTE:
        return f"{seconds:g} s"
    return "1 minute" if seconds == _MINUTE else f"{seconds / _MINUTE:g} minutes"
