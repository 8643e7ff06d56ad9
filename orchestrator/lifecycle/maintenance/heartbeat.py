"""Keeps idle sessions alive at their remote ends and detects lost ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import anyio.to_thread

from orchestrator.errors import NoAnswer, OrchestratorError, SessionLost, Unreached
from orchestrator.lifecycle.maintenance.limits import seconds_until_idle_limit
from orchestrator.lifecycle.maintenance.scheduler import NEVER, MaintenanceTask, Usage
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.lanes import Lanes
from orchestrator.system import processes

_PINGS_PER_TIMEOUT = 3
"""Pings within the time after which a remote end drops an idle session: one may get lost."""
_LOCAL = 10.0
"""Seconds between two checks of the processes of an idle local session, which cost little."""
_LOCAL_PING = 60.0
"""Seconds between two pings of a local driver, which may run and no longer know the session."""
_PING_TIMEOUT = 10.0
"""Seconds; three times that is more than a driver takes to free itself of a page that hangs."""
_RETRIES = (1.0, 4.0)
"""Seconds until a remote end that did not answer is pinged again; a local one is given up after the last retry."""
_NETWORK_OUTAGE = 60.0
"""Seconds that a network may fail before a session behind it counts as lost, unless it has a timeout of its own."""
_LISTED = 1.0
"""Seconds between two checks of a session because sessions are listed."""
_PARALLEL = 20
"""Remote ends that are pinged side by side."""


@dataclass(frozen=True)
class Beat:
    """The last check of a session.

    Attributes:
        at: Time of the check.
        missed: Number of pings in a row that were not answered.
        since: Time of the first of these.
        pinged: Time of the last ping.
    """

    at: float = -math.inf
    missed: int = 0
    since: float = -math.inf
    pinged: float = -math.inf


def seconds_until_check(record: SessionRecord, beat: Beat, now: float, *, ours: bool) -> float:
    """Return the seconds until a session is to be checked; NEVER when there is no need.

    A session that did not answer is pinged again by the server that noticed, unless a call used it since. Only its
    owner checks a local session and keeps a remote one alive, until its idle limit at most.
    """
    if record.state is not SessionState.ACTIVE or seconds_until_idle_limit(record, now) <= 0:
        return NEVER
    if beat.missed and record.last_active_at <= beat.at:
        return beat.at + _RETRIES[min(beat.missed, len(_RETRIES)) - 1] - now
    if record.keep_alive is not None:
        pause = record.keep_alive / _PINGS_PER_TIMEOUT
    else:
        pause = NEVER if record.is_remote else _LOCAL
    return max(record.last_active_at, beat.at) + pause - now if ours else NEVER


def count_missed_answer(before: Beat, record: SessionRecord, now: float) -> Beat:
    """Return the beat after a ping that was not answered; a call since the last check restarts the count."""
    in_a_row = before.missed > 0 and record.last_active_at <= before.at
    return Beat(now, before.missed + 1 if in_a_row else 1, before.since if in_a_row else now, now)


def counts_as_lost(beat: Beat, record: SessionRecord, *, far: bool) -> bool:
    """Return True if a session counts as lost; behind a network (`far`), it may be there while the network fails."""
    enough = beat.missed > len(_RETRIES)
    return enough and (not far or beat.at - beat.since >= (record.keep_alive or _NETWORK_OUTAGE))


class Heartbeat(MaintenanceTask):
    """Checks sessions on which no call runs; that does not count as using them.

    Calls need not wait for a check, which changes nothing.
    """

    def __init__(self, lanes: Lanes, connector: Connector, clock: Callable[[], float]) -> None:
        self._lanes = lanes
        self._connector = connector
        self._clock = clock
        self._beats: dict[str, Beat] = {}
        self._threads = anyio.CapacityLimiter(_PARALLEL)
        self._listed_at = -math.inf

    def make_all_due(self) -> None:
        """Make all sessions due, of other owners too, except those that were checked just now."""
        self._listed_at = self._clock()

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget the checks of other sessions than the open ones."""
        ids = {record.remote_session_id for record in records}
        self._beats = {id_: beat for id_, beat in self._beats.items() if id_ in ids}

    def seconds_until_due(self, usage: Usage, now: float) -> float:
        """Return the seconds until the next check; a call that is running notices by itself."""
        record, beat = usage.record, self._beat(usage.record)
        if usage.in_use or record.state is not SessionState.ACTIVE:
            return NEVER
        because_listed = beat.at + _LISTED - now if beat.at < self._listed_at else NEVER
        return min(because_listed, seconds_until_check(record, beat, now, ours=usage.ours))

    async def run_task(self, record: SessionRecord) -> None:
        """Check the session; a lost one is marked with the reason."""
        before = self._beat(record)
        lost, beat = "", Beat(self._clock(), pinged=before.pinged)
        pings = record.is_remote or before.missed > 0 or beat.at - before.pinged >= _LOCAL_PING
        try:
            await anyio.to_thread.run_sync(self._check, record, pings, abandon_on_cancel=True, limiter=self._threads)
        except (NoAnswer, Unreached) as error:
            beat = count_missed_answer(before, record, self._clock())
            if counts_as_lost(beat, record, far=isinstance(error, Unreached)):
                lost = f"{error.reason} (asked {beat.missed} times)"
        except SessionLost as error:
            lost = error.reason
        except OrchestratorError:
            pass  # it answers, or this process has no credentials: the next call on the session reports what is wrong
        else:
            beat = replace(beat, pinged=beat.at if pings else beat.pinged)
        self._beats[record.remote_session_id] = beat
        if lost:
            self._beats.pop(record.remote_session_id, None)
            await self._lanes.mark_lost(record, lost)

    def _beat(self, record: SessionRecord) -> Beat:
        return self._beats.get(record.remote_session_id, Beat())

    def _check(self, record: SessionRecord, pings: bool) -> None:  # noqa: FBT001 - given to a thread
        for process in record.processes:
            if not processes.alive(process):
                raise SessionLost(record.id, f"its process {process.name} ({process.pid}) ended")
        if pings:
            self._connector.make_remote(record, timeout=_PING_TIMEOUT).ping()
