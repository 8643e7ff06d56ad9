"""Has remote ends hear of sessions that only think, and finds out which sessions they no longer have."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import anyio
import anyio.to_thread

from orchestrator.errors import NoAnswer, OrchestratorError, SessionLost, Unreached
from orchestrator.limits import left
from orchestrator.models import SessionRecord, SessionState
from orchestrator.reach import Reach
from orchestrator.rounds import LONGEST, Rounds
from orchestrator.sessions import Book, Lanes

_PARTS = 3
"""A remote end that ends what is unused for a minute hears of it three times a minute: one may get lost."""
_ANSWERS_WITHIN = 10.0
"""Seconds; three times that is more than a driver takes to free itself of a page that hangs."""
_AGAIN = (1.0, 4.0)
"""Seconds until a remote end that did not answer is asked again; one of this machine is given up after the last."""
_NETWORK = 60.0
"""Seconds for which a network may fail before what lies behind it counts as lost, or as long as that would keep it."""
_LISTED = 2.0
"""Seconds between two looks that lists of sessions ask for."""
_AT_ONCE = 20
"""Remote ends that are asked side by side."""


@dataclass(frozen=True)
class Beat:
    """When a remote end was last asked about a session, how often in a row it has not answered, and since when."""

    at: float = -math.inf
    missed: int = 0
    since: float = -math.inf


def due(record: SessionRecord, beat: Beat, now: float, *, ours: bool) -> float:
    """Seconds until a session's remote end is to be asked about it; infinite when there is no need.

    One that does not answer is asked again by whoever found that out, unless somebody used the session since. One that
    would end the session is kept from it by the session's owner alone, and no longer than the session may be idle.
    """
    if record.state is not SessionState.ACTIVE or left(record, now) <= 0:
        return math.inf
    if beat.missed and record.last_active_at <= beat.at:
        return beat.at + _AGAIN[min(beat.missed, len(_AGAIN)) - 1] - now
    if record.keep_alive is None or not ours:
        return math.inf
    return max(record.last_active_at, beat.at) + record.keep_alive / _PARTS - now


def missed(before: Beat, record: SessionRecord, now: float) -> Beat:
    """What is known once a remote end did not answer; a call since the last time begins the count anew."""
    again = before.missed > 0 and record.last_active_at <= before.at
    return Beat(now, before.missed + 1 if again else 1, before.since if again else now)


def given_up(beat: Beat, record: SessionRecord, *, far: bool) -> bool:
    """Whether what a remote end had counts as lost; one that is far may be there behind a network that fails."""
    enough = beat.missed > len(_AGAIN)
    return enough and (not far or beat.at - beat.since >= (record.keep_alive or _NETWORK))


class Heartbeat(Rounds):
    """Asks remote ends about the sessions of one caller, while no call is on them.

    That does not count as using the session. Calls need not wait for it: what is asked changes nothing.
    """

    def __init__(self, book: Book, lanes: Lanes, reach: Reach, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._book = book
        self._lanes = lanes
        self._reach = reach
        self._clock = clock
        self._beats: dict[str, Beat] = {}
        self._threads = anyio.CapacityLimiter(_AT_ONCE)
        self._listed_at = -math.inf

    async def look(self) -> float:
        """Ask about those whose time has come; returns the seconds until the next one's."""
        try:
            usage = await self._book.usage()
        except OrchestratorError:
            return LONGEST  # the store did not answer: it is looked at again later
        known = {record.remote_session_id for record, _ in usage}
        self._beats = {name: beat for name, beat in self._beats.items() if name in known}
        await self._ask(record for record, in_use in usage if not in_use and self._due(record) <= 0)
        return min((self._pause(record, in_use) for record, in_use in usage), default=LONGEST)

    async def look_after(self) -> None:
        """Ask about all that have no process on this machine, whoever owns them, unless that was done just now."""
        if anyio.current_time() < self._listed_at + _LISTED:
            return
        self._listed_at = anyio.current_time()
        with contextlib.suppress(OrchestratorError):
            usage = await self._book.usage()
            await self._ask(record for record, in_use in usage if not in_use and _elsewhere(record))
            self.changed()

    def _due(self, record: SessionRecord) -> float:
        beat = self._beats.get(record.remote_session_id, Beat())
        return due(record, beat, self._clock(), ours=self._book.owns(record))

    def _pause(self, record: SessionRecord, in_use: bool) -> float:  # noqa: FBT001 - the store's word
        """Seconds until there may be need to ask; what is in use now may be left alone from now on."""
        return (record.keep_alive or math.inf) / _PARTS if in_use else self._due(record)

    async def _ask(self, records: Iterable[SessionRecord]) -> None:
        async with anyio.create_task_group() as group:
            for record in records:
                group.start_soon(self._beat, record)

    async def _beat(self, record: SessionRecord) -> None:
        before = self._beats.get(record.remote_session_id, Beat())
        lost, now = "", Beat(self._clock())
        try:
            await anyio.to_thread.run_sync(self._touch, record, abandon_on_cancel=True, limiter=self._threads)
        except (NoAnswer, Unreached) as error:
            now = missed(before, record, self._clock())
            if given_up(now, record, far=isinstance(error, Unreached)):
                lost = f"{error.reason} (asked {now.missed} times)"
        except SessionLost as error:
            lost = error.reason
        except OrchestratorError:
            pass  # it answers, or it is for others to ask: whoever uses the session is told what is wrong
        self._beats[record.remote_session_id] = now
        if lost:
            with contextlib.suppress(OrchestratorError):
                await self._lanes.lost(record, lost)

    def _touch(self, record: SessionRecord) -> None:
        self._reach.of(record).touch(_ANSWERS_WITHIN)


def _elsewhere(record: SessionRecord) -> bool:
    return record.state is SessionState.ACTIVE and not record.processes
