"""Does things a while later, all in one thread that is there while something waits."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

import structlog

_MOST = 2_000


class Later:
    """What is to be done, by when."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._runs = False

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        """Do it in so many seconds; what is due at once comes in the order in which it was given."""
        with self._changed:
            heapq.heappush(self._waiting, (time.monotonic() + seconds, next(self._numbers), do))
            self._changed.notify()
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="later", daemon=True).start()

    @property
    def full(self) -> bool:
        """Whether as much waits as should."""
        return len(self._waiting) >= _MOST

    def done(self, limit: float) -> bool:
        """Wait until what is due now is done, so many seconds at most; whether it is."""
        over = threading.Event()
        self.after(0, over.set)
        return over.wait(limit)

    def drop(self) -> None:
        """Do nothing of what waits."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify()

    def _run(self) -> None:
        while do := self._next():
            try:
                do()
            except Exception as error:  # noqa: BLE001 - whatever it was
                # What waits behind it must not wait for ever. It may hold secrets.
                structlog.get_logger(__name__).error("a task failed", error=type(error).__name__)

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while self._waiting:
                left = self._waiting[0][0] - time.monotonic()
                if left <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(left)
            self._runs = False
            return None
