"""Has remote ends hear of sessions that only think, and finds out which sessions are gone."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio.to_thread

from orchestrator import processes
from orchestrator.duties import NEVER, Duty, Usage
from orchestrator.errors import NoAnswer, OrchestratorError, SessionLost, Unreached
from orchestrator.limits import idle_left
from orchestrator.models import SessionRecord, SessionState
from orchestrator.reach import Reach
from orchestrator.sessions import Lanes

_PARTS = 3
"""A remote end that ends what is unused for a minute hears of it three times a minute: one may get lost."""
_HERE = 10.0
"""Seconds between two looks at the processes of a session of this machine that nobody uses: it costs little."""
_ASKED_HERE = 60.0
"""Seconds between two questions to its driver, which lives and may not know the session any more."""
_ANSWERS_WITHIN = 10.0
"""Seconds; three times that is more than a driver takes to free itself of a page that hangs."""
_AGAIN = (1.0, 4.0)
"""Seconds until a remote end that did not answer is asked again; one of this machine is given up after the last."""
_NETWORK = 60.0
"""Seconds for which a network may fail before what lies behind it counts as lost, or as long as that would keep it."""
_LISTED = 1.0
"""Seconds between two looks at a session that lists of sessions ask for."""
_AT_ONCE = 20
"""Remote ends that are asked side by side."""


@dataclass(frozen=True)
class Beat:
    """When a session was last looked at and its remote end asked, how often that did not answer, and since when."""

    at: float = -math.inf
    missed: int = 0
    since: float = -math.inf
    asked: float = -math.inf


def due(record: SessionRecord, beat: Beat, now: float, *, ours: bool) -> float:
    """Seconds until a session is to be looked at; NEVER when there is no need.

    One that did not answer is asked again by whoever found that out, unless somebody used the session since. Its owner
    alone looks after one of this machine, and keeps one elsewhere from ending, no longer than it may be idle.
    """
    if record.state is not SessionState.ACTIVE or idle_left(record, now) <= 0:
        return NEVER
    if beat.missed and record.last_active_at <= beat.at:
        return beat.at + _AGAIN[min(beat.missed, len(_AGAIN)) - 1] - now
    pause = record.keep_alive / _PARTS if record.keep_alive is not None else NEVER if record.far else _HERE
    return max(record.last_active_at, beat.at) + pause - now if ours else NEVER


def missed(before: Beat, record: SessionRecord, now: float) -> Beat:
    """What is known once a remote end did not answer; a call since the last time begins the count anew."""
    again = before.missed > 0 and record.last_active_at <= before.at
    return Beat(now, before.missed + 1 if again else 1, before.since if again else now, now)


def given_up(beat: Beat, record: SessionRecord, *, far: bool) -> bool:
    """Whether what a remote end had counts as lost; one that is far may be there behind a network that fails."""
    enough = beat.missed > len(_AGAIN)
    return enough and (not far or beat.at - beat.since >= (record.keep_alive or _NETWORK))


class Heartbeat(Duty):
    """Looks at sessions while no call is on them, which does not count as using them.

    Calls need not wait for it: what is asked changes nothing.
    """

    def __init__(self, lanes: Lanes, reach: Reach, clock: Callable[[], float] = time.time) -> None:
        self._lanes = lanes
        self._reach = reach
        self._clock = clock
        self._beats: dict[str, Beat] = {}
        self._threads = anyio.CapacityLimiter(_AT_ONCE)
        self._listed_at = -math.inf

    def listed(self) -> None:
        """Somebody looks at the list: all sessions are due, whoever owns them, unless that was done just now."""
        self._listed_at = self._clock()

    def left(self, usage: Usage, now: float) -> float:
        """Seconds until it is to be looked at; what is in use tells by itself."""
        record, beat = usage.record, self._beat(usage.record)
        if usage.in_use or record.state is not SessionState.ACTIVE:
            return NEVER
        asked_for = beat.at + _LISTED - now if beat.at < self._listed_at else NEVER
        return min(asked_for, due(record, beat, now, ours=usage.ours))

    async def do(self, record: SessionRecord) -> None:
        """Look; one that is lost is marked with the reason."""
        before = self._beat(record)
        lost, now = "", Beat(self._clock(), asked=before.asked)
        asking = record.far or before.missed > 0 or now.at - before.asked >= _ASKED_HERE
        try:
            await anyio.to_thread.run_sync(self._touch, record, asking, abandon_on_cancel=True, limiter=self._threads)
        except (NoAnswer, Unreached) as error:
            now = missed(before, record, self._clock())
            if given_up(now, record, far=isinstance(error, Unreached)):
                lost = f"{error.reason} (asked {now.missed} times)"
        except SessionLost as error:
            lost = error.reason
        except OrchestratorError:
            pass  # it answers, or it is for others to ask: whoever uses the session is told what is wrong
        else:
            now = replace(now, asked=now.at if asking else now.asked)
        self._beats[record.remote_session_id] = now
        if lost:
            del self._beats[record.remote_session_id]
            await self._lanes.lost(record, lost)

    def _beat(self, record: SessionRecord) -> Beat:
        return self._beats.get(record.remote_session_id, Beat())

    def _touch(self, record: SessionRecord, asking: bool) -> None:  # noqa: FBT001 - given to a thread
        for process in record.processes:
            if not processes.alive(process):
                raise SessionLost(record.id, f"its process {process.name} ({process.pid}) ended")
        if asking:
            self._reach.of(record, timeout=_ANSWERS_WITHIN).touch()
