"""Delayed tasks, run in one thread that lives as long as a task is due."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

from orchestrator.system.logger import get_logger

_MOST = 2_000


class DelayedTasks:
    """Tasks by the time at which they are due."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._runs = False

    def after(self, seconds: float, task: Callable[[], None]) -> None:
        """Run a task after so many seconds; tasks that are due at the same time run in the order of these calls."""
        with self._changed:
            heapq.heappush(self._waiting, (time.monotonic() + seconds, next(self._numbers), task))
            self._changed.notify()
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="later", daemon=True).start()

    @property
    def full(self) -> bool:
        """True if no more tasks should be added."""
        return len(self._waiting) >= _MOST

    def wait_until_done(self, limit: float) -> bool:
        """Wait until the tasks that are due now have run; returns False if that takes more than `limit` seconds."""
        done = threading.Event()
        self.after(0, done.set)
        return done.wait(limit)

    def cancel_all(self) -> None:
        """Drop all waiting tasks."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify()

    def _run(self) -> None:
        while task := self._next():
            try:
                task()
            except Exception as error:  # noqa: BLE001 - the tasks behind it must still run
                # Without the error's message, which may hold secrets.
                get_logger(__name__).error("a task failed", error=type(error).__name__)

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while self._waiting:
                left = self._waiting[0][0] - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(left)
            self._runs = False
            return None
