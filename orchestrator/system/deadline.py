"""Deadlines: how much time is left, the slices it is spent in, and polling until one passes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")

SLICE = 1.0
"""Seconds that one wait inside the page may take: a running classic command cannot be interrupted."""


class Deadline:
    """A point in time by which work must end."""

    def __init__(self, seconds: float) -> None:
        self.started = time.monotonic()
        self._end = self.started + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def seconds_over(self) -> float:
        """Seconds since its end; never negative."""
        return max(0.0, time.monotonic() - self._end)

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the deadline was set."""
        return round((time.monotonic() - self.started) * 1000)

    def slice_ms(self, longest: float = SLICE) -> int:
        """The next slice of waiting, in milliseconds."""
        return round(min(self.seconds_left, longest) * 1000)


def poll_until(check: Callable[[], ResultT], deadline: Deadline, *, every: float) -> ResultT:
    """Call `check` until its result is true or the deadline passes; the last result.

    Between two calls it sleeps `every` seconds, or less where less is left. `check` is called at least once, and once
    more when the time is up. Whatever `check` raises ends the polling.
    """
    while True:
        result = check()
        if result or not deadline.seconds_left:
            return result
        time.sleep(min(every, deadline.seconds_left))
