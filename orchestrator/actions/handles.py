"""The tabs of one session as its remote end has them: listed, gone to, opened and closed by their window handles."""

from __future__ import annotations

import time
from contextlib import suppress

from orchestrator import abilities
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.owning import answering, own
from orchestrator.actions.turn import Turn
from orchestrator.errors import RemoteFailure
from orchestrator.webdriver.chromium import Beside
from orchestrator.webdriver.remote import Remote

_OTHERS = 3.0
"""Seconds that pages of other sessions in the same browser have to answer before the driver meets them."""
_CLOSES = 3.0
"""Seconds that a tab may take to go."""
_PAUSE = 0.01


class Handles:
    """By the driver; a browser that sessions can share is asked beside it.

    Its driver would tell the tabs of all of them, and wait for those that it has not met yet.
    """

    def __init__(self, remote: Remote, beside: Beside, turn: Turn) -> None:
        self.remote = remote
        self._beside = beside
        self._turn = turn

    def all(self, *, limit: float | None = None) -> list[str]:
        """Those that are there now (Get Window Handles)."""
        if self._turn.record.instance is None:
            found: list[str] = self.remote.execute("w3cGetWindowHandles", limit=limit)
            return found
        return own(self._beside.browser().pages(), self._turn.record)

    def go(self, handle: str) -> None:
        """Make one current (Switch To Window).

        Raises:
            TimedOut: A page of another session in the same browser would hold the driver up.
        """
        if self._turn.record.instance is not None:
            browser = self._beside.browser()
            pages = browser.pages()
            mine = own(pages, self._turn.record)
            answering(browser, [tab for tab in pages if tab not in mine], Deadline(_OTHERS))
        self.remote.execute("switchToWindow", handle=handle)

    def resume(self) -> bool:
        """Go where the record says that the session is: others may have left the driver in another one, or in none.

        Returns whether its top is current; one that is current already stays as it is, where asking for that is cheap.
        """
        if not self._here():
            return False
        with suppress(RemoteFailure):
            if self._turn.record.far:
                self.remote.execute("switchToWindow", handle=self._here())
                return True
            if self.remote.execute("w3cGetCurrentWindowHandle") == self._here():
                return False
        self.go(self._here())
        return True

    def open(self) -> str:
        """Open an empty one (New Window)."""
        record = self._turn.record
        if record.instance is not None:
            browser = self._beside.browser()
            # In a window of its own where the next one may be another session's, of another size. A browser context
            # that was made for a session has no window once its last tab is gone, and opens no tab without one.
            window = bool(record.instance.profile) or not own(browser.pages(), record)
            return browser.open(record.instance.context, window=window)
        # WebKitGTK never brings a tab to the front, and takes no picture of one behind; windows are all in front.
        kind = "window" if abilities.browser(record.capabilities.get("browserName")) == "webkitgtk" else "tab"
        return str(self.remote.execute("newWindow", type=kind)["handle"])

    def close(self, handle: str, current: str) -> None:
        """Close one (Close Window); unless it is the current one, that stays so."""
        if self._turn.record.instance is not None:
            browser, patience = self._beside.browser(), Deadline(_CLOSES)
            browser.close(handle)
            while handle in browser.pages() and patience.left:  # it is answered before the tab is gone
                time.sleep(_PAUSE)
            return
        if handle != current:
            self.remote.execute("switchToWindow", handle=handle)
        try:
            self.remote.execute("close")
        finally:
            if handle != current:
                self.remote.execute("switchToWindow", handle=current)

    def _here(self) -> str:
        """The one that is current, as the record has it; empty while none is known."""
        record = self._turn.record
        return next((tab.handle for tab in record.tabs if tab.name in record.tabs_used[-1:]), "")
