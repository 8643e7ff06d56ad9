"""Waits for the pages of tabs that pages opened, and empties tabs in which none comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.shared_browser import find_own_handles
from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.chromium import EMPTYING, BrowserConnection, ChromiumTab, tabs_in
from orchestrator.webdriver.devtools import debugger_address
from orchestrator.webdriver.events.subscriptions import EventSubscriptions

_SHARE = 0.9
"""Share of a command's time that servers have to answer."""
_GRACE = 1.0
"""Seconds without a request after which no page is expected in a tab; those until an empty one is there at most."""
_INTERVAL = 0.05


class TabsBesideDriver(Protocol):
    """A browser's tabs, by a way that no page can block."""

    def tabs(self) -> dict[str, ChromiumTab]:
        """Return all tabs by id."""
        ...

    def empty(self, tab: str) -> None:
        """Open an empty document in a tab without a page."""
        ...


class PagelessTabs:
    """Tabs without a page: the driver of Chromium waits for one before it goes to, opens or closes any tab.

    None ever comes where Chromium opens no page for an address: `data:`, `javascript:`, those of other programs; nor
    where the server does not answer.

    Args:
        turn: The session's record.
        connection: The browser on this machine.
        events: The session's requests, and its BiDi connection, which leads to browsers elsewhere.
        event: Reports what happened unrequested.
        timeout: Seconds that a command may take.
    """

    def __init__(
        self,
        turn: RecordAccess,
        connection: BrowserConnection,
        events: EventSubscriptions,
        event: Callable[[str], None],
        timeout: float,
    ) -> None:
        self._turn = turn
        self._connection = connection
        self._events = events
        self._event = event
        self._limit = _SHARE * timeout

    def await_pages(self) -> None:
        """Wait until each tab of the session has a page, and open an empty one where none comes."""
        try:
            browser = self._browser()
            if browser is not None:
                self._await_pages(browser)
        except (NoAnswer, RemoteFailure):
            return  # a browser without these commands

    def _await_pages(self, browser: TabsBesideDriver) -> None:
        deadline, requested, emptied = Deadline(self._limit), dict[str, float](), set[str]()
        while pageless := self._pageless(browser):
            now = time.monotonic()
            requested |= {tab: now for tab in pageless if tab not in requested or self._may_be_loading(tab)}
            hopeless = {tab for tab in pageless - emptied if now - requested[tab] > _GRACE}
            self._empty(browser, hopeless, "the browser opened no page for its address")
            if not deadline.seconds_left:
                self._empty(browser, pageless - emptied - hopeless, f"nothing answered within {self._limit:g} s")
            if deadline.seconds_over > _GRACE:
                return
            emptied |= hopeless if deadline.seconds_left else pageless
            time.sleep(_INTERVAL)

    def _pageless(self, browser: TabsBesideDriver) -> set[str]:
        tabs = browser.tabs()
        return {tab for tab in find_own_handles(tabs, self._turn.record) if not tabs[tab].url}

    def _empty(self, browser: TabsBesideDriver, tabs: set[str], reason: str) -> None:
        names = {tab.handle: tab.name for tab in self._turn.record.tabs}
        for tab in tabs:
            browser.empty(tab)
        if len(tabs) == 1:
            [tab] = tabs
            self._event(f"Tab {names.get(tab, 'that was opened just now')} is empty: {reason}.")
        elif tabs:
            self._event(f"{len(tabs)} tabs are empty: {reason}.")

    def _may_be_loading(self, tab: str) -> bool:
        """True unless it is known that no document is being requested for a tab."""
        return not self._events.knows_navigations or self._events.pending_navigation(tab) is not None

    def _browser(self) -> TabsBesideDriver | None:
        record = self._turn.record
        if debugger_address(record.capabilities) and not record.is_remote:
            return self._connection.connect()
        return _BidiTabs(self._events.bidi) if self._events.bidi else None


class _BidiTabs:
    """The tabs of a browser elsewhere, by the CDP commands of WebDriver BiDi."""

    def __init__(self, bidi: Bidi) -> None:
        self._bidi = bidi

    def tabs(self) -> dict[str, ChromiumTab]:
        """Return all tabs by id."""
        return tabs_in(self._bidi.cdp("Target.getTargets"))

    def empty(self, tab: str) -> None:
        """Open an empty document in a tab without a page."""
        for command, params in EMPTYING:
            self._bidi.cdp(command, context=tab, **params)
