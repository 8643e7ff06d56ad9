"""How much time something has left, and the slices in which it is spent."""

from __future__ import annotations

import time

SLICE = 1.0
"""Seconds that one wait inside the page may take: a running classic command cannot be interrupted."""


class Deadline:
    """A point in time until which something may take."""

    def __init__(self, seconds: float) -> None:
        self.started = time.monotonic()
        self._end = self.started + seconds

    @property
    def left(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since it was set."""
        return round((time.monotonic() - self.started) * 1000)

    def slice_ms(self, longest: float = SLICE) -> int:
        """The next slice of waiting, in milliseconds."""
        return round(min(self.left, longest) * 1000)
