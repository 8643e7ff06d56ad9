"""An allowance of events: a burst, and then a rate."""

from __future__ import annotations

import time
from collections.abc import Callable


class Allowance:
    """Counts events against a burst that fills up again at a rate; once used up, it has to be half full to go on.

    Args:
        burst: Events that may come at once.
        rate: Events a second that may come for ever.
        clock: Returns the time in seconds.
    """

    def __init__(self, burst: int, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.burst = burst
        self.rate = rate
        self._clock = clock
        self._left = float(burst)
        self._at = clock()
        self._exceeded = False

    def take(self) -> bool:
        """Count an event; False if it is beyond the allowance, or that was exceeded and is not half full yet."""
        if self.is_exceeded:
            return False
        self._left -= 1
        self._exceeded = self._left < 0
        return not self._exceeded

    @property
    def is_exceeded(self) -> bool:
        """True from the first event beyond the allowance until it is half full again."""
        now = self._clock()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        self._exceeded = self._exceeded and self._left < self.burst / 2
        return self._exceeded
