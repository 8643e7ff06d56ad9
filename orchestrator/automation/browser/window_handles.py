"""Window handles of a session: list, open, switch to and close its tabs."""

from __future__ import annotations

from contextlib import suppress

from orchestrator.automation.browser.pageless_tabs import PagelessTabs
from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.shared_browser import find_own_handles, wait_until_responsive
from orchestrator.errors import RemoteFailure
from orchestrator.models import browser_support
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.chromium import BrowserConnection
from orchestrator.webdriver.remote import Remote

_OTHERS = 3.0
"""Seconds that pages of other sessions in the same browser may take to respond, before the driver queries them."""
_CLOSES = 3.0
"""Seconds that a tab may take to close."""
_INTERVAL = 0.01


class WindowHandles:
    """The tabs of a session by the driver, or by CDP in a browser that sessions can share.

    There, the driver would list the tabs of all sessions, and wait for those that it has not queried yet.
    """

    def __init__(
        self, remote: Remote, connection: BrowserConnection, turn: RecordAccess, pageless: PagelessTabs
    ) -> None:
        self.remote = remote
        self._pageless = pageless
        self._browser_connection = connection
        self._turn = turn

    def all(self, *, limit: float | None = None) -> list[str]:
        """The handles of the session's tabs (Get Window Handles)."""
        if self._turn.record.instance is None:
            handles: list[str] = self.remote.execute("w3cGetWindowHandles", limit=limit)
            return handles
        return find_own_handles(self._browser_connection.connect().tabs(), self._turn.record)

    def switch_to(self, handle: str) -> None:
        """Make a tab current (Switch To Window).

        Raises:
            TimedOut: A page of another session in the same browser would block the driver.
        """
        self._pageless.await_pages()
        if self._turn.record.instance is not None:
            browser = self._browser_connection.connect()
            pages = browser.tabs()
            mine = find_own_handles(pages, self._turn.record)
            wait_until_responsive(browser, [tab for tab in pages if tab not in mine], Deadline(_OTHERS))
        self.remote.execute("switchToWindow", handle=handle)

    def resync(self) -> bool:
        """Make the recorded tab current: another process may have left the driver in another tab, or in none.

        Returns True if the tab's top document is current; a tab of a local driver that is current already keeps its
        frame.
        """
        if not self.recorded_handle():
            return False
        with suppress(RemoteFailure):
            if self._turn.record.is_remote:
                self.remote.execute("switchToWindow", handle=self.recorded_handle())
                return True
            if self.remote.execute("w3cGetCurrentWindowHandle") == self.recorded_handle():
                return False
        self.switch_to(self.recorded_handle())
        return True

    def open(self) -> str:
        """Open an empty tab (New Window)."""
        record = self._turn.record
        if record.instance is not None:
            browser = self._browser_connection.connect()
            # A window of its own in a shared profile, where windows of other sessions have other sizes; and in a
            # browser context whose last tab is gone, which has no window left to open a tab in.
            window = bool(record.instance.profile) or not find_own_handles(browser.tabs(), record)
            return browser.open_tab(record.instance.context, window=window)
        # WebKitGTK cannot bring tabs to the front, and cannot capture those behind: it opens windows instead.
        self._pageless.await_pages()
        kind = (
            "window"
            if browser_support.normalize_browser_name(record.capabilities.get("browserName")) == "webkitgtk"
            else "tab"
        )
        return str(self.remote.execute("newWindow", type=kind)["handle"])

    def close(self, handle: str, current: str) -> None:
        """Close a tab (Close Window); the current tab stays current unless it is closed."""
        if self._turn.record.instance is not None:
            browser = self._browser_connection.connect()
            browser.close_tab(handle)  # answered before the tab is gone
            poll_until(lambda: handle not in browser.tabs(), Deadline(_CLOSES), every=_INTERVAL)
            return
        self._pageless.await_pages()
        if handle != current:
            self.remote.execute("switchToWindow", handle=handle)
        try:
            self.remote.execute("close")
        finally:
            if handle != current:
                self.remote.execute("switchToWindow", handle=current)

    def recorded_handle(self) -> str:
        """The recorded current tab's handle; empty if there is none."""
        record = self._turn.record
        return next((tab.handle for tab in record.tabs if tab.name in record.tabs_used[-1:]), "")
