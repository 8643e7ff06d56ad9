"""Dialogs that are open in a browser's tabs, by events of WebDriver BiDi."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from orchestrator.webdriver.bidi import Listener

_CLOSING = 1.0
"""Seconds in which the event of a closed dialog comes after the answer to the command that closed it."""


class OpenPrompts:
    """The tabs in which a dialog is open: an alert, confirm or prompt.

    Source: https://www.w3.org/TR/webdriver-bidi/#event-browsingContext-userPromptOpened.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._opened = Counter[str]()
        self._closed = Counter[str]()
        self._awaited: dict[str, Future[None]] = {}

    @property
    def listeners(self) -> Mapping[str, Listener]:
        """The events with the methods that hear them."""
        return {
            "browsingContext.userPromptOpened": self._note_opened,
            "browsingContext.userPromptClosed": self._note_closed,
        }

    def next_in(self, tab: str) -> Future[None]:
        """Return a future that is done once a dialog is open in a tab; done at once if one is."""
        with self._changed:
            opened = Future[None]()
            if self._opened[tab] > self._closed[tab]:
                opened.set_result(None)
            else:
                self._awaited = {tab: opened}  # one is waited for at a time
            return opened

    def count(self, tab: str) -> int:
        """Return the number of dialogs that have opened in a tab."""
        return self._opened[tab]

    def note_closed(self, tab: str, count: int) -> None:
        """Note that the first so many dialogs are closed, once the events that say so have come, or do not come."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed[tab] >= count, _CLOSING)
            self._closed[tab] = max(self._closed[tab], count)

    def _note_opened(self, event: Mapping[str, Any]) -> None:
        with self._changed:
            self._opened[event["context"]] += 1
            opened = self._awaited.pop(event["context"], None)
        if opened is not None:
            opened.set_result(None)

    def _note_closed(self, event: Mapping[str, Any]) -> None:
        tab = event["context"]
        with self._changed:
            # One that has opened before this connection was is not counted.
            self._closed[tab] = min(self._closed[tab] + 1, self._opened[tab])
            self._changed.notify_all()
