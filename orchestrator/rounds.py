"""The one look at the records: what is due for which session now, and when to look next."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import anyio
import anyio.abc
import structlog

from orchestrator.duties import Duty, Usage
from orchestrator.errors import OrchestratorError
from orchestrator.models import SessionRecord
from orchestrator.sessions import Book

LONGEST = 30.0
"""Seconds between two looks at most: another server may have started or used a session meanwhile."""
_SHORTEST = 0.1
_AGAIN = 1.0
"""Seconds until what was done and is due all the same is done again; also until a call's end is looked at."""


class Rounds:
    """Does what is due for the sessions of one namespace, side by side, for as long as the server lives."""

    def __init__(
        self,
        book: Book,
        duties: Sequence[Duty],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._book = book
        self._duties = duties
        self._clock = clock
        self._next = -math.inf
        self._woken = anyio.Event()
        self._under_way: set[tuple[int, str, float]] = set()
        self._done: dict[tuple[int, str, float], float] = {}

    def changed(self) -> None:
        """A session was started, or is to be looked at: look now."""
        self._not_later_than(-math.inf)

    def used(self) -> None:
        """A call ended: look soon, once for many of them."""
        self._not_later_than(self._clock() + _AGAIN)

    async def keep(self) -> None:
        """Look for as long as the server lives."""
        async with anyio.create_task_group() as group:
            while True:
                self._next = math.inf
                wait = await self.look(group)
                self._not_later_than(self._clock() + min(LONGEST, max(_SHORTEST, wait)))
                while (left := self._next - self._clock()) > 0:
                    self._woken = anyio.Event()
                    with anyio.move_on_after(left):
                        await self._woken.wait()

    def _not_later_than(self, at: float) -> None:
        if at < self._next:
            self._next = at
            self._woken.set()

    async def look(self, group: anyio.abc.TaskGroup) -> float:
        """Begin what is due now, in tasks of `group`; returns the seconds until the next look."""
        try:
            usage = await self._book.usage()
        except OrchestratorError:
            return LONGEST  # the store did not answer: it is looked at again later
        now, wait, known = self._clock(), LONGEST, set()
        for record, in_use in usage:
            seen = Usage(record, in_use, self._book.owns(record))
            for number, duty in enumerate(self._duties):
                key = number, record.id, record.created_at
                known.add(key)
                if key in self._under_way:
                    continue
                left = max(duty.left(seen, now), self._done.get(key, -_AGAIN) + _AGAIN - now)
                wait = min(wait, left if left > 0 else LONGEST)
                if left <= 0:
                    self._under_way.add(key)
                    group.start_soon(self._do, duty, record, key)
        self._done = {key: at for key, at in self._done.items() if key in known}
        return wait

    async def _do(self, duty: Duty, record: SessionRecord, key: tuple[int, str, float]) -> None:
        try:
            await duty.do(record)
        except OrchestratorError:
            pass
        except Exception:  # noqa: BLE001 (a remote end answers nonsense, a provider fails: no reason for us to end)
            structlog.get_logger(__name__).exception("a duty failed", session=record.id, duty=type(duty).__name__)
        finally:
            self._under_way.discard(key)
            self._done[key] = self._clock()
            self.changed()
