"""Hears what happens in a session from the start on: its console, its requests, its downloads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from orchestrator.ears.console import Console
from orchestrator.ears.downloads import Downloads
from orchestrator.ears.network import Network
from orchestrator.errors import NoAnswer, OrchestratorError
from orchestrator.secrets import Redactor
from orchestrator.webdriver.bidi import Bidi, Listener

_PICKERS = 20
"""Pickers of files that are remembered until the next result tells of them."""
_PATIENCE = 2.0
"""Seconds that the first call of a session waits until it is heard."""


class Ears:
    """What one process heard of a session. It is a cache: a new server hears from its first call on.

    Args:
        bidi: The session's socket; None where its remote end gave none, then only what is asked for is known.
        redactor: Knows the secrets.

    Attributes:
        pickers: The pickers of files that opened since a result told of them, as `input.fileDialogOpened` has them.
    """

    def __init__(self, bidi: Bidi | None, redactor: Redactor) -> None:
        self.bidi = bidi
        self.console = Console(redactor)
        self.network = Network(redactor)
        self.downloads = Downloads()
        self.pickers: deque[Mapping[str, Any]] = deque(maxlen=_PICKERS)
        self._listeners = self._all_listeners()
        self._lock = threading.Lock()
        self._subscribed = False
        self._begun: threading.Thread | None = None

    def open(self) -> None:
        """Begin to listen, beside whatever goes on; where that fails, the first question tells."""
        if self.bidi is not None:
            self.bidi.on_open = self.console.expect_replay
            self._begin()

    def wait(self) -> None:
        """Before a call: what it brings about is heard, unless it takes too long until that is so.

        After a break it is listened again.
        """
        if self._subscribed and self.bidi is not None and not self.bidi.open:
            self._begin()
        if self._begun is not None:
            self._begun.join(_PATIENCE)
            self._begun = None

    def close(self) -> None:
        """Hear no more."""
        if self.bidi is not None:
            self.bidi.close()

    def catch_up(self, limit: float | None = None) -> bool:
        """Wait until all is heard that happened before this, `limit` seconds where given; whether it is.

        A driver answers here after the classic command of its session that is in flight, which can be another one's.

        Raises:
            NoAnswer: Nobody answers at the socket.
            RemoteFailure: The remote end does not tell what is listened to.
        """
        if self.bidi is None:
            return True
        if not self._listen(self.bidi, limit):
            return False
        try:
            # The browser answers in its turn, after the events before.
            self.bidi.call("browsingContext.getTree", limit=limit, maxDepth=0)
        except NoAnswer:
            if limit is None or not self.bidi.open:
                raise
            return False
        return True

    def _begin(self) -> None:
        self._begun = threading.Thread(target=self._try, name="ears", daemon=True)
        self._begun.start()

    def _try(self) -> None:
        with suppress(OrchestratorError):
            if self.bidi is not None:
                self._listen(self.bidi)

    def _listen(self, bidi: Bidi, limit: float | None = None) -> bool:
        """Listen; False where somebody has begun to, and did not come to its end within `limit` seconds."""
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
        """What every browser must tell, and in groups what some do not know."""
        groups: list[dict[str, Listener]] = [
            {
                "log.entryAdded": self.console.hear,
                "network.beforeRequestSent": self.network.sent,
                "network.responseStarted": self.network.answered,
                "network.responseCompleted": self.network.answered,
                "network.fetchError": self.network.failed,
            },
            {
                "browsingContext.downloadWillBegin": self.downloads.begin,
                "browsingContext.downloadEnd": self.downloads.end,
            },
            {"input.fileDialogOpened": self.pickers.append},
            {"goog:cdp.Runtime.consoleAPICalled": self.console.explain},
        ]
        return [{event: _told(listener) for event, listener in group.items()} for group in groups]


def _told(listener: Listener) -> Listener:
    """A listener to which an event that is not as its source has it says nothing."""

    def hear(event: Mapping[str, Any]) -> None:
        with suppress(LookupError, TypeError, ValueError, AttributeError):
            listener(event)

    return hear
