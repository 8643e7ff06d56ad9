"""Ends sessions that reached their idle limit or their maximum age."""

from __future__ import annotations

import functools
from collections.abc import Callable

import anyio.from_thread

from orchestrator.lifecycle.close import CloseOptions, SessionCloser
from orchestrator.lifecycle.maintenance.scheduler import NEVER, MaintenanceTask, Usage
from orchestrator.lifecycle.remote_ender import RemoteEnder
from orchestrator.lifecycle.restart import CLEARED_FIELDS
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.turn import Turn

_MINUTE = 60


def seconds_until_idle_limit(record: SessionRecord, now: float) -> float:
    """Return the seconds until a session reaches its idle limit; a parked one has a lease instead."""
    limit = record.limits.get("idle")
    if limit is None or record.state in {SessionState.STARTING, SessionState.PARKED}:
        return NEVER
    return record.last_active_at + limit - now


def seconds_until_age_limit(record: SessionRecord, now: float) -> float:
    """Return the seconds until a session, parked or not, reaches its maximum age, counted from its creation."""
    limit = record.limits.get("age")
    if limit is None or record.state is SessionState.LOST or not record.remote_session_id:
        return NEVER
    return (record.fresh_since or record.created_at) + limit - now


class IdleLimit(MaintenanceTask):
    """Closes idle sessions. Every call restarts the time, and a session with a call in flight is never idle."""

    def __init__(self, closer: SessionCloser, clock: Callable[[], float]) -> None:
        self._closer = closer
        self._clock = clock

    def seconds_until_due(self, usage: Usage, now: float) -> float:
        """Return the seconds until the idle limit; a session in use is not idle."""
        return NEVER if usage.in_use or not usage.ours else seconds_until_idle_limit(usage.record, now)

    async def run_task(self, record: SessionRecord) -> None:
        """Close the session, unless it was used meanwhile, which is checked in the transaction that closes it."""
        idle = f"nobody used it for {format_duration(record.limits['idle'])}"
        options = CloseOptions(reason=idle, kept_reason=idle, condition=self._is_still_idle)
        await self._closer.close_many([record.id], options)

    def _is_still_idle(self, record: SessionRecord, in_use: bool) -> bool:  # noqa: FBT001 — the store's signature
        return not in_use and seconds_until_idle_limit(record, self._clock()) <= 0


class AgeLimit(MaintenanceTask):
    """Ends sessions at their maximum age, in a turn of their lanes: earlier calls are answered, later ones refused.

    With `recreate` the session stays, parked and without a remote end, and the next call on it starts a fresh one.
    """

    def __init__(self, lanes: Lanes, ender: RemoteEnder, *, recreate: bool = False, clock: Callable[[], float]) -> None:
        self._lanes = lanes
        self._ender = ender
        self._recreate = recreate
        self._clock = clock

    def seconds_until_due(self, usage: Usage, now: float) -> float:
        """Return the seconds until the maximum age, whether the session is in use or not."""
        return seconds_until_age_limit(usage.record, now) if usage.ours else NEVER

    async def run_task(self, record: SessionRecord) -> None:
        """End the session when its turn comes."""
        because = f"it reached its maximum duration of {format_duration(record.limits['age'])}"
        close = functools.partial(self._close_or_recreate, because=because)
        if closed := await self._lanes.run_turn(record.id, close, renews=False):
            await self._ender.finish_closed([closed], because)

    def _close_or_recreate(self, turn: Turn, because: str) -> SessionRecord | None:
        """Close the record in its turn; returns what is to be ended, None for a session that is kept for recreation."""
        record = turn.record
        if seconds_until_age_limit(record, self._clock()) > 0:
            return None
        own = turn.without_shared_processes()
        if not self._recreate or not record.owned or record.request is None:
            turn.change(state=SessionState.CLOSED, lost_reason=because)
            return own
        turn.watched_processes.clear()
        # Its recording continues with the next remote end.
        anyio.from_thread.run(self._ender.finish_closed, [own.with_changes(har="")])
        until = record.parked_until or record.last_active_at + record.limits["idle"]
        lease = {"parked_at": record.parked_at or self._clock(), "parked_until": until}
        turn.change(**{**CLEARED_FIELDS, **lease, "state": SessionState.PARKED, "lost_reason": because})
        return None


def format_duration(seconds: float) -> str:
    """Return a duration in words, such as `90 s` or `45 minutes`."""
    if seconds < _MINUTE:
        return f"{seconds:g} s"
    return "1 minute" if seconds == _MINUTE else f"{seconds / _MINUTE:g} minutes"
