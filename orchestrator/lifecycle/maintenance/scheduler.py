"""The scheduler of maintenance: runs each task for each session when it is due."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio
import anyio.abc
import anyio.to_thread

from orchestrator.errors import OrchestratorError
from orchestrator.models.session import SessionRecord
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.system.logger import get_logger

NEVER = math.inf

LONGEST = 30.0
"""Seconds between two passes at most: another server may have started or used a session meanwhile."""
_SHORTEST = 0.1
_PAUSE = 1.0
"""Seconds until a task that is still due is run again, and from the end of a call to the next pass."""


@dataclass(frozen=True)
class Usage:
    """A session's record, whether a call runs or waits on it, and whether a caller of this process owns it."""

    record: SessionRecord
    in_use: bool
    ours: bool


class SessionMemory(Protocol):
    """Memory of sessions beside their records, which must not grow with those that there were."""

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget what is remembered of other sessions than the open ones; in a worker thread."""


class _Memories:
    """Memories that forget in a worker thread, which most passes need not wait for."""

    def __init__(self, memories: Iterable[SessionMemory], clock: Callable[[], float]) -> None:
        self._memories = [*memories]
        self._clock = clock
        self._seen: frozenset[tuple[str, str]] | None = None
        self._forgot_at = -math.inf
        self._has_changed = False

    async def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget other sessions than the open ones, if these are others than before; else once in a while.

        What was opened since a pass is looked at in the next one only: so the pass after a change forgets, too.
        """
        seen, now = frozenset((record.id, record.remote_session_id) for record in records), self._clock()
        has_changed, self._seen = seen != self._seen, seen
        is_due, self._has_changed = has_changed or self._has_changed or now - self._forgot_at >= LONGEST, has_changed
        if is_due:
            self._forgot_at = now
            await anyio.to_thread.run_sync(self._forget, records, abandon_on_cancel=True)

    def _forget(self, records: Collection[SessionRecord]) -> None:
        for memory in self._memories:
            memory.keep_only(records)


class MaintenanceTask(ABC):
    """A task that is due for a session at a time that follows from its record."""

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget what the task remembers of other sessions than the open ones."""

    @abstractmethod
    def seconds_until_due(self, usage: Usage, now: float) -> float:
        """Return the seconds until the task is due; NEVER when nothing is to be done as things are."""

    @abstractmethod
    async def run_task(self, record: SessionRecord) -> None:
        """Run the task. The record may be outdated: check the current one before ending anything.

        Raises:
            OrchestratorError: It failed; it is tried again while it is due.
        """


class Alarm:
    """The time of the scheduler's next pass, by a clock that nobody sets; anything may bring it forward."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = -math.inf
        self._changed = anyio.Event()

    def wake_now(self) -> None:
        """Bring the next pass forward to now: a session was started, or is to be checked."""
        self._bring_forward(-math.inf)

    def wake_soon(self) -> None:
        """Bring the next pass forward to the end of a short pause, one for many calls that end."""
        self.wake_in(_PAUSE)

    def wake_in(self, seconds: float) -> None:
        """Bring the next pass forward to at most so many seconds from now."""
        self._bring_forward(self._clock() + seconds)

    def reset(self) -> None:
        """Forget the time of the pass that begins now."""
        self._at = math.inf

    async def wait(self) -> None:
        """Wait until the time has come."""
        while (left := self._at - self._clock()) > 0:
            self._changed = anyio.Event()
            with anyio.move_on_after(left):
                await self._changed.wait()

    def _bring_forward(self, at: float) -> None:
        if at < self._at:
            self._at = at
            self._changed.set()


class Scheduler:
    """Runs tasks for the sessions of one namespace, side by side, for as long as the server lives.

    Args:
        registry: The sessions.
        tasks: The tasks.
        alarm: The time of the next pass.
        clock: Returns the time in seconds.
        memories: What else forgets closed sessions.
    """

    def __init__(
        self,
        registry: SessionRegistry,
        tasks: Sequence[MaintenanceTask],
        alarm: Alarm,
        clock: Callable[[], float],
        memories: Iterable[SessionMemory] = (),
    ) -> None:
        self._registry = registry
        self._memories = _Memories(memories, clock)
        self._clock = clock
        self._tasks = tasks
        self._alarm = alarm
        self._under_way: set[tuple[int, str, float]] = set()
        self._done: dict[tuple[int, str, float], float] = {}

    async def run_forever(self) -> None:
        """Run the tasks that are due, pass after pass."""
        async with anyio.create_task_group() as group:
            while True:
                self._alarm.reset()
                wait = await self.start_due_tasks(group)
                self._alarm.wake_in(min(LONGEST, max(_SHORTEST, wait)))
                await self._alarm.wait()

    async def start_due_tasks(self, group: anyio.abc.TaskGroup) -> float:
        """Start what is due now, in tasks of `group`; returns the seconds until the next pass."""
        try:
            usage = await self._registry.usage()
        except OrchestratorError:
            return LONGEST  # the store did not answer
        now, wait, current = self._clock(), LONGEST, set()
        for record, in_use in usage:
            seen = Usage(record, in_use, self._registry.serves(record))
            for number, task in enumerate(self._tasks):
                key = number, record.id, record.created_at
                current.add(key)
                if key in self._under_way:
                    continue
                left = max(task.seconds_until_due(seen, now), self._done.get(key, -_PAUSE) + _PAUSE - now)
                wait = min(wait, left if left > 0 else LONGEST)
                if left <= 0:
                    self._under_way.add(key)
                    group.start_soon(self._run_task, task, record, key)
        self._done = {key: at for key, at in self._done.items() if key in current}
        records = [record for record, _ in usage]
        for task in self._tasks:
            task.keep_only(records)
        await self._memories.keep_only(records)
        return wait

    async def _run_task(self, task: MaintenanceTask, record: SessionRecord, key: tuple[int, str, float]) -> None:
        try:
            await task.run_task(record)
        except OrchestratorError:
            pass
        except Exception:  # noqa: BLE001 (a remote end answers nonsense, a provider fails: no reason for us to end)
            name = type(task).__name__
            get_logger(__name__).exception("a maintenance task failed", session=record.id, task=name)
        finally:
            self._under_way.discard(key)
            self._done[key] = self._clock()
            self._alarm.wake_now()
