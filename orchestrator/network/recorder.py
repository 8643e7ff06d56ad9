"""Records traffic into a journal; how it is observed is a subclass's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from orchestrator.errors import OrchestratorError
from orchestrator.network.delayed import DelayedTasks
from orchestrator.network.har_entries import Exchange, Json, build_entries, instant
from orchestrator.network.journal import Journal, Kind
from orchestrator.system.secrets import without_credentials

LARGEST_BODY = 5_000_000
"""Bytes of the largest body that is recorded."""
TOO_LARGE = f"omitted: larger than {LARGEST_BODY:,} bytes"
"""The reason for which a larger body is missing in a recording."""
GONE = "omitted: the browser no longer has it"
"""The reason for which a body that the browser did not give is missing."""
_MOST_OPEN = 2_000
"""Exchanges that are collected at the same time."""
_DRAINED = 3.0
"""Seconds that fetching the bodies of ended requests may take."""


class Recorder(ABC):
    """Records while the session's record has a path to record to.

    Args:
        journal: Returns the journal; None once this process no longer records.
        clean: Masks secrets in an entry, a page or a timing.
    """

    def __init__(self, journal: Callable[[], Journal | None], clean: Callable[[Any], Any]) -> None:
        self._journal = journal
        self._clean = clean
        self._later = DelayedTasks()
        self._open: dict[str, Exchange] = {}
        self._pages: dict[str, tuple[str, float]] = {}
        self.active = False

    @property
    @abstractmethod
    def _is_listening(self) -> bool:
        """True if events come, as far as is known."""

    @abstractmethod
    def _listen(self) -> None:
        """Observe the session from now on; may be repeated."""

    @abstractmethod
    def _stop_listening(self) -> None:
        """End what `_listen` began."""

    def _leave(self) -> None:
        """End what `_listen` began without waiting for the browser."""
        self._stop_listening()

    @abstractmethod
    def _wait_for_events(self) -> None:
        """Wait until all events that the browser has sent so far were handled."""

    def start(self) -> None:
        """Start recording.

        Raises:
            NoAnswer, RemoteFailure: The browser cannot be reached, or refuses.
        """
        if not self.active or not self._is_listening:
            self.active = True
            self._listen()

    def stop(self) -> None:
        """Stop recording; requests that have ended are written first."""
        if self.active:
            self.drain()
            self.active = False
            self._open.clear()
            self._stop_listening()

    def close(self) -> None:
        """Stop recording in this process; another one may go on."""
        if self.active:
            self.active = False
            self._leave()

    def pending(self) -> list[Json]:
        """Return the entries of open requests, as far as they are known."""
        return [self._clean(entry) for exchange in [*self._open.values()] for entry in build_entries(exchange)]

    def drain(self) -> None:
        """Wait until all requests that have ended are in the journal."""
        with suppress(OrchestratorError):
            self._wait_for_events()
        self._later.wait_until_done(_DRAINED)

    def _exchange(self, key: str) -> Exchange:
        """Return the exchange of a request; if there are too many, the oldest is dropped for a new one."""
        exchange = self._open.setdefault(key, Exchange(""))
        if len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        return exchange

    def _begin_page(self, tab: str, page: str, url: str, began: float, wall: float) -> None:
        """Note that a tab shows a new page, which `began` by the clock of the events, in seconds."""
        self._pages[tab] = page, began
        if len(self._pages) > _MOST_OPEN:
            del self._pages[next(iter(self._pages))]
        facts = {"startedDateTime": instant(wall), "id": page, "title": without_credentials(url)}
        self._later.after(0, lambda: self._write("page", {**facts, "pageTimings": {}}))

    def _page(self, tab: str) -> str:
        """Return the id of a tab's page; empty if it is not in the recording."""
        return self._pages.get(tab, ("", 0.0))[0]

    def _add_timing(self, tab: str, name: str, at: float) -> None:
        """Note when a tab's page was loaded, by the clock of the events, in seconds."""
        page, began = self._pages.get(tab, ("", 0.0))
        if page:
            self._later.after(0, lambda: self._write("timing", {"id": page, name: round((at - began) * 1000, 3)}))

    def _end(self, key: str, exchange: Exchange) -> None:
        """Write the entries of an exchange that has ended; runs in the thread of delayed tasks."""
        self._open.pop(key, None)
        for entry in build_entries(exchange):
            self._write("entry", entry)

    def _write(self, kind: Kind, value: Json) -> None:
        journal = self._journal()
        if journal is None:
            self.close()
        else:
            with suppress(OSError):
                journal.write(kind, self._clean(value))
