"""A topic of events: what handles them, and how many of them a page may cause."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from orchestrator.webdriver.bidi import Listener
from orchestrator.webdriver.events.allowance import Allowance

_GAPS = 5
"""Gaps that are remembered."""


class Topic:
    """Events that are subscribed to together, and left out together while a page causes too many of them.

    A flood costs the browser, its driver and this process: so it ends at its source, until the allowance is half full.

    Args:
        name: Plural noun of what the events report.
        listeners: What handles each event.
        allowance: How many may come.
        mute: Stops these events at the browser, without waiting.
        clock: Returns the time as people read it, in seconds since 1970.

    Attributes:
        events: The names of the events.
    """

    def __init__(
        self,
        name: str,
        listeners: Mapping[str, Listener],
        allowance: Allowance,
        mute: Callable[[list[str]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.events = [*listeners]
        self.listeners = {event: self._counting(listener) for event, listener in listeners.items()}
        self._name = name
        self._allowance = allowance
        self._mute = mute
        self._clock = clock
        self._muted_at: float | None = None
        self._gaps: deque[tuple[float, float]] = deque(maxlen=_GAPS)

    @property
    def is_due(self) -> bool:
        """True if its events were left out, and may come again."""
        return self._muted_at is not None and not self._allowance.is_exceeded

    @property
    def is_muted(self) -> bool:
        """True while its events are left out."""
        return self._muted_at is not None

    def note_resumed(self) -> None:
        """Note that its events come again."""
        if self._muted_at is not None:
            self._gaps.append((self._muted_at, self._clock()))
            self._muted_at = None

    def gaps_after(self, since: float) -> list[str]:
        """Return a sentence for each time after a mark in which events were left out."""
        gaps = [(began, f"from {_time(began)} to {_time(ended)}") for began, ended in self._gaps if ended > since]
        if self._muted_at is not None:
            gaps.append((self._muted_at, f"since {_time(self._muted_at)}"))
        because = (
            f"the page caused more than {self._allowance.burst:,}, and then {self._allowance.rate} events a second"
        )
        return [f"{self._name.capitalize()} {when} were left out: {because}." for _, when in gaps]

    def _counting(self, listener: Listener) -> Listener:
        """Wrap a listener so that it counts events, and ignores those that do not have the specified form."""

        def listen(event: Mapping[str, Any]) -> None:
            if not self._allowance.take():
                if self._muted_at is None:
                    self._muted_at = self._clock()
                    self._mute(self.events)
                return
            with suppress(LookupError, TypeError, ValueError, AttributeError):
                listener(event)

        return listen


def _time(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when))
