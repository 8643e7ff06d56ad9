"""Navigations of a session's tabs that their servers have not answered yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from orchestrator.errors import NavigationWaits

_MOST = 1_000
"""Navigations that are remembered; a page can begin them in as many frames as it likes."""
_LONGEST = 200
"""Characters of a URL that messages show."""


class PendingNavigation(NamedTuple):
    """A navigation that its server has not answered: its id, its URL, and when it began, by the monotonic clock."""

    id: str
    url: str
    since: float

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.since

    @property
    def reason(self) -> str:
        """Clause that says what goes on."""
        return f"a navigation to {_shown(self.url)} has been waiting for its server for {round(self.seconds)} s"

    def error(self) -> NavigationWaits:
        """Return the error of what cannot be done meanwhile."""
        return NavigationWaits(self.reason)


class Navigations:
    """The navigations that are pending, by browsing context.

    Source: https://www.w3.org/TR/webdriver-bidi/#event-browsingContext-navigationStarted, and those that end one.

    Attributes:
        changed: Notified when one has begun or ended.
        begun: The number of those that have begun so far.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.begun = 0
        self._pending: dict[str, PendingNavigation] = {}

    def pending(self, context: str) -> PendingNavigation | None:
        """Return the navigation of a top-level browsing context that is not answered yet, by the context's id."""
        return self._pending.get(context)

    def handle_started(self, event: Mapping[str, Any]) -> None:
        """Note `browsingContext.navigationStarted`."""
        with self.changed:
            begun = PendingNavigation(str(event.get("navigation")), str(event["url"]), time.monotonic())
            self._pending[str(event["context"])] = begun
            self.begun += 1
            if len(self._pending) > _MOST:
                del self._pending[next(iter(self._pending))]
            self.changed.notify_all()

    def handle_answer(self, event: Mapping[str, Any]) -> None:
        """Note `network.responseStarted`; a redirect is no answer."""
        if event.get("navigation") and event["response"]["status"] // 100 != HTTPStatus.MULTIPLE_CHOICES // 100:
            self.handle_ended(event)

    def handle_committed(self, event: Mapping[str, Any]) -> None:
        """Note `browsingContext.navigationCommitted`, which new tabs may lack, or `domContentLoaded`.

        A page from the back/forward cache has the id of its own navigation.
        """
        self._end(str(event["context"]))

    def handle_ended(self, event: Mapping[str, Any]) -> None:
        """Note that a navigation was answered, or brought no document: it failed, was aborted, or became a download."""
        context = str(event["context"])
        pending = self._pending.get(context)
        if pending is not None and pending.id == str(event.get("navigation")):
            self._end(context)

    def forget(self) -> None:
        """Forget all of them: events may have been missed."""
        with self.changed:
            self._pending.clear()
            self.changed.notify_all()

    def _end(self, context: str) -> None:
        with self.changed:
            self._pending.pop(context, None)
            self.changed.notify_all()


def _shown(url: str) -> str:
    """Return a URL without user, query and fragment, which may hold secrets."""
    parts = urlsplit(url)
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else url
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
