"""Watches the navigations of the current tab: while their servers do not answer, the page cannot be read."""

from __future__ import annotations

from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.window_handles import WindowHandles
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.events.navigations import PendingNavigation
from orchestrator.webdriver.events.subscriptions import EventSubscriptions

_ANSWERS = 5.0
"""Seconds that a server has for the answer to a navigation, until calls say that they cannot read the page."""
_CHECK_EVERY = 0.25
"""Seconds between two checks whether the call that waits has to stop."""


class NavigationWatch:
    """Watches the navigations of a session whose driver does not wait for documents (`pageLoadStrategy` none).

    While a navigation has no answer, Chromium holds back what DevTools ask the page. Other drivers hold back commands
    themselves, and stop the navigation at their page load timeout: there nothing is known of it.
    """

    def __init__(self, subscriptions: EventSubscriptions, turn: RecordAccess, handles: WindowHandles) -> None:
        self._subscriptions = subscriptions
        self._turn = turn
        self._handles = handles

    @property
    def bidi(self) -> Bidi | None:
        """BiDi of such a session; else None."""
        is_told = self._turn.record.capabilities.get("pageLoadStrategy") == "none"
        return self._subscriptions.bidi if is_told else None

    @property
    def pending(self) -> PendingNavigation | None:
        """The navigation of the current tab that its server has not answered yet."""
        return self._subscriptions.pending_navigation(self._handles.recorded_handle()) if self.bidi else None

    def wait(self, deadline: Deadline) -> PendingNavigation | None:
        """Wait for the answer to a navigation of the current tab; return it if there is none in time."""
        changed = self._subscriptions.navigations.changed
        with changed:
            while (pending := self.pending) and deadline.seconds_left:
                self._turn.check()
                changed.wait(min(_CHECK_EVERY, deadline.seconds_left))
        return pending

    def check(self) -> None:
        """Raise once a navigation of the current tab has been waiting for so long that most servers have answered.

        Raises:
            NavigationWaits: It has.
        """
        pending = self.pending
        if pending and pending.seconds >= _ANSWERS:
            raise pending.error()

    def expect(self, seconds: float) -> None:
        """Wait until the browser tells of the navigation by which the page is left, for some seconds at most."""
        navigations = self._subscriptions.navigations
        with navigations.changed:
            begun = navigations.begun
            if self.bidi and not self.pending:
                navigations.changed.wait_for(lambda: navigations.begun > begun, seconds)

    def await_document(self) -> None:
        """Wait for the answer to a navigation of the current tab, for so long that most servers have answered.

        Raises:
            NavigationWaits: There is none yet.
        """
        pending = self.pending
        if pending and (still := self.wait(Deadline(max(0, _ANSWERS - pending.seconds)))):
            raise still.error()
