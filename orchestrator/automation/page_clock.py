"""The clock of a page against ours: when something happened in it, and how sure that is."""

from __future__ import annotations

import time
from dataclasses import dataclass

from orchestrator.automation.scene import Scene
from orchestrator.snapshot.methods import CLOCK
from orchestrator.snapshot.watch_answers import ClockAnswer

_SAMPLES = 8
_LONGEST = 1.0
"""Seconds in which the samples are taken; a far remote end answers fewer."""
_NARROW = 0.002
"""Seconds of uncertainty that need no further sample."""


@dataclass(frozen=True)
class Span:
    """The earliest and the latest time that something can have happened, in seconds of our monotonic clock."""

    low: float
    high: float


@dataclass(frozen=True)
class PageClock:
    """The clock of one document.

    Its wall clock has no part in it: the document counts from its navigation, and we count from our boot.

    Attributes:
        offset: What is added to its seconds to get ours.
        reading: Its last answer.
    """

    offset: Span
    reading: ClockAnswer

    @classmethod
    def read(cls, scene: Scene) -> PageClock:
        """Compare the clocks: the page's time in an answer lies between those of the question and of the answer.

        Several samples narrow it down, since the true offset lies in what all of them allow (as NTP, RFC 5905).

        Raises:
            OrchestratorError: The page does not answer, because of a dialog for example.
        """
        began, samples = time.monotonic(), 0
        clock: PageClock | None = None
        while True:
            asked = time.monotonic()
            reading = scene.page.call(CLOCK)
            answered = time.monotonic()
            samples += 1
            sample = cls(Span(asked - reading["now"] / 1000, answered - reading["now"] / 1000), reading)
            clock = sample if clock is None else clock.narrowed(sample)
            is_narrow = clock.offset.high - clock.offset.low <= _NARROW
            if is_narrow or samples == _SAMPLES or answered - began > _LONGEST:
                return clock

    def is_of(self, answer: ClockAnswer) -> bool:
        """True if an answer comes from the document of this clock."""
        return self.reading["document"] == answer["document"]

    def narrowed(self, other: PageClock) -> PageClock:
        """Return the clock by both comparisons; by the later one if it is of another document, or they differ."""
        low, high = max(self.offset.low, other.offset.low), min(self.offset.high, other.offset.high)
        if not self.is_of(other.reading) or low > high:
            return other
        return PageClock(Span(low, high), other.reading)

    def place(self, earliest: float, latest: float) -> Span:
        """Return the time on our clock of what happened between two times of the page, in its milliseconds."""
        return Span(self.offset.low + earliest / 1000, self.offset.high + latest / 1000)
