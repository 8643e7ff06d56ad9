"""Subscribes to the console, requests and downloads of a session, from its start on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from orchestrator.errors import NoAnswer, OrchestratorError
from orchestrator.system.secrets import Redactor
from orchestrator.webdriver.bidi import Bidi, Listener
from orchestrator.webdriver.events.console import Console
from orchestrator.webdriver.events.downloads import DownloadEvents
from orchestrator.webdriver.events.requests import RequestLog

_PICKERS = 20
"""File choosers that are remembered until the next result reports them."""
_PATIENCE = 2.0
"""Seconds that the first call of a session waits for the subscriptions."""


class EventSubscriptions:
    """Events of a session that this process has received; another process receives its own from its first call on.

    Args:
        bidi: The session's BiDi connection; None if its remote end has none, then there are only pulled logs.
        redactor: Masks secrets in texts.

    Attributes:
        opened_pickers: File pickers that opened since the last result, as `input.fileDialogOpened` has them.
    """

    def __init__(self, bidi: Bidi | None, redactor: Redactor) -> None:
        self.bidi = bidi
        self.console = Console(redactor)
        self.requests = RequestLog(redactor)
        self.downloads = DownloadEvents()
        self.opened_pickers: deque[Mapping[str, Any]] = deque(maxlen=_PICKERS)
        self._listeners = self._all_listeners()
        self._lock = threading.Lock()
        self._subscribed = False
        self._subscribing: threading.Thread | None = None

    def start_listening(self) -> None:
        """Subscribe in a thread; a failure shows in the first call of `catch_up`."""
        if self.bidi is not None:
            self.bidi.on_open = self.console.expect_replay
            self._subscribe_soon()

    def wait_until_listening(self) -> None:
        """Wait a moment for the subscriptions, so that the events of the next call are received.

        After a break of the connection, subscribe again.
        """
        if self._subscribed and self.bidi is not None and not self.bidi.is_open:
            self._subscribe_soon()
        if self._subscribing is not None:
            self._subscribing.join(_PATIENCE)
            self._subscribing = None

    def close(self) -> None:
        """Close the BiDi connection, which ends the events."""
        if self.bidi is not None:
            self.bidi.close()

    def catch_up(self, limit: float | None = None) -> bool:
        """Wait until all events up to now were received; returns False if that takes more than `limit` seconds.

        A driver answers only after the session's classic command in flight, which may be another process's.

        Raises:
            NoAnswer: The remote end does not answer at the socket.
            RemoteFailure: The remote end does not know the events.
        """
        if self.bidi is None:
            return True
        if not self._subscribe(self.bidi, limit):
            return False
        try:
            # The answer comes in order, after the events before it.
            self.bidi.call("browsingContext.getTree", limit=limit, maxDepth=0)
        except NoAnswer:
            if limit is None or not self.bidi.is_open:
                raise
            return False
        return True

    def _subscribe_soon(self) -> None:
        self._subscribing = threading.Thread(target=self._try_to_subscribe, name="bidi-events", daemon=True)
        self._subscribing.start()

    def _try_to_subscribe(self) -> None:
        with suppress(OrchestratorError):
            if self.bidi is not None:
                self._subscribe(self.bidi)

    def _subscribe(self, bidi: Bidi, limit: float | None = None) -> bool:
        """Subscribe, or reconnect; returns False if another thread is still at it after `limit` seconds."""
        if not self._lock.acquire(timeout=-1 if limit is None else limit):
            return False
        try:
            if self._subscribed:
                bidi.connect()
            else:
                bidi.listen_all(*self._listeners)
                self._subscribed = True
        finally:
            self._lock.release()
        return True

    def _all_listeners(self) -> list[dict[str, Listener]]:
        """Return the listeners by event: first those of every browser, then groups that some browsers do not know."""
        groups: list[dict[str, Listener]] = [
            {
                "log.entryAdded": self.console.handle_entry_added,
                "network.beforeRequestSent": self.requests.handle_before_request_sent,
                "network.responseStarted": self.requests.handle_response,
                "network.responseCompleted": self.requests.handle_response,
                "network.fetchError": self.requests.handle_fetch_error,
            },
            {
                "browsingContext.downloadWillBegin": self.downloads.handle_will_begin,
                "browsingContext.downloadEnd": self.downloads.handle_end,
            },
            {"input.fileDialogOpened": self.opened_pickers.append},
            {"goog:cdp.Runtime.consoleAPICalled": self.console.handle_console_api_called},
        ]
        return [{event: _ignoring_malformed(listener) for event, listener in group.items()} for group in groups]


def _ignoring_malformed(listener: Listener) -> Listener:
    """Wrap a listener so that it ignores events that do not have the specified form."""

    def listen(event: Mapping[str, Any]) -> None:
        with suppress(LookupError, TypeError, ValueError, AttributeError):
            listener(event)

    return listen
