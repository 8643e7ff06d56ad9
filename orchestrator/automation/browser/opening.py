"""Opens URLs beside the driver, and waits for the servers of navigations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from orchestrator.automation.browser.record_access import RecordAccess, wait_for_change
from orchestrator.automation.browser.window_handles import WindowHandles
from orchestrator.errors import NoAnswer, RemoteFailure, TimedOut
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.chromium import BrowserConnection, Chromium
from orchestrator.webdriver.events.navigations import PendingNavigation
from orchestrator.webdriver.events.subscriptions import EventSubscriptions
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.websocket import Watch

_LOOKS_EVERY = 0.5
"""Seconds after which a load without an end looks for a dialog."""
_NO_PAGE = re.compile(r"NS_BINDING_ABORTED|net::ERR_ABORTED\b|canceled by concurrent navigation")
"""Codes of Firefox and Chromium for a URL without a page, such as an answer 204, and for one that another overtook."""
_ANSWERS = 5.0
"""Seconds that a server has for the answer to a navigation, until calls say that they cannot read the page."""


class NavigationWatch:
    """Watches the navigations of a session whose driver does not wait for documents (`pageLoadStrategy` none).

    While a navigation has no answer, Chromium holds back what DevTools ask the page. Other drivers hold back commands
    themselves, and stop the navigation at their page load timeout: there nothing is known of it.

    Args:
        subscriptions: The session's events.
        turn: Its record.
        handles: Its tabs.
        browser: Its browser on this machine.
    """

    def __init__(
        self, subscriptions: EventSubscriptions, turn: RecordAccess, handles: WindowHandles, browser: BrowserConnection
    ) -> None:
        self._subscriptions = subscriptions
        self._turn = turn
        self._handles = handles
        self._browser = browser

    @property
    def bidi(self) -> Bidi | None:
        """BiDi of such a session; else None."""
        is_told = self._turn.record.capabilities.get("pageLoadStrategy") == "none"
        return self._subscriptions.bidi if is_told else None

    @property
    def pending(self) -> PendingNavigation | None:
        """The navigation of the current tab that its server has not answered yet."""
        return self._subscriptions.pending_navigation(self._handles.recorded_handle()) if self.bidi else None

    def open(self, url: str, deadline: Deadline, *, is_waited_for: bool, meet_dialog: Callable[[], object]) -> None:
        """Navigate the current tab of such a session; arguments and errors are those of `open_by_bidi`.

        In a browser that sessions share by its DevTools: chromedriver passes on no command of BiDi while a page of
        another session hangs there.
        """
        if self._is_shared:
            open_by_devtools(self._browser.connect(), self._handles.recorded_handle(), url, deadline, meet_dialog)
        elif self.bidi:
            open_by_bidi(
                self._handles.remote, self.bidi, url, deadline, is_waited_for=is_waited_for, meet_dialog=meet_dialog
            )

    def stop(self) -> None:
        """Stop the navigation of the current tab; does nothing where nothing is known of it."""
        tab = self._handles.recorded_handle()
        if self._is_shared:
            with suppress(NoAnswer, RemoteFailure):
                self._browser.connect().stop_loading(tab)
        elif self.bidi:
            _stop_loading(self.bidi, tab)

    @property
    def _is_shared(self) -> bool:
        return self._turn.record.instance is not None

    def wait(self, deadline: Deadline) -> PendingNavigation | None:
        """Wait for the answer to a navigation of the current tab; return it if there is none in time."""
        changed = self._subscriptions.navigations.changed
        with changed:
            while (pending := self.pending) and deadline.seconds_left:
                wait_for_change(self._turn, changed, deadline)
        return pending

    def check(self) -> None:
        """Raise once a navigation of the current tab has been waiting for so long that most servers have answered.

        Raises:
            NavigationWaits: It has.
        """
        pending = self.pending
        if pending and pending.seconds >= _ANSWERS:
            raise pending.error()

    @property
    def begun(self) -> int:
        """The number of navigations that have begun so far."""
        return self._subscriptions.navigations.begun

    def expect(self, before: int, seconds: float) -> None:
        """Wait until more than `before` navigations have begun, for some seconds at most."""
        changed = self._subscriptions.navigations.changed
        with changed:
            if self.bidi:
                changed.wait_for(lambda: self.begun > before, seconds)

    def await_document(self) -> None:
        """Wait for the answer to a navigation of the current tab, for so long that most servers have answered.

        Raises:
            NavigationWaits: There is none yet.
        """
        pending = self.pending
        if pending and (still := self.wait(Deadline(max(0, _ANSWERS - pending.seconds)))):
            raise still.error()


def open_by_bidi(
    remote: Remote,
    bidi: Bidi,
    url: str,
    deadline: Deadline,
    *,
    is_waited_for: bool,
    meet_dialog: Callable[[], object],
) -> None:
    """Navigate the current tab (browsingContext.navigate), until the document is there, or is interactive.

    Unlike geckodriver's own command, it answers when the URL is a download, or has no page: then the page stays. A load
    that is given up is stopped in Chromium, as its driver would have done.

    Source: https://www.w3.org/TR/webdriver-bidi/#command-browsingContext-navigate.

    Args:
        remote: The client of the session.
        bidi: Its BiDi connection.
        url: The URL to open.
        deadline: The time by which it has to be there.
        meet_dialog: Sends a command that an open dialog keeps from running, and a lost session, but no load.
        is_waited_for: False to return as soon as the new document takes the place of the one before.

    Raises:
        TimedOut: The page did not come in time.
        RemoteFailure: It could not be loaded; the message has the browser's own code.
        DialogOpen: A dialog prevents it, and stays open by policy.
    """
    meet_dialog()
    tab = remote.execute("w3cGetCurrentWindowHandle")
    with nullcontext(Future[None]()) if is_waited_for else _committed(bidi, tab) as enough:
        watch = Watch(enough, meet_dialog, _LOOKS_EVERY)
        # With `none` it would answer while the document before is still there.
        params = {"context": tab, "url": url, "wait": "interactive"}
        with _explaining(url, meet_dialog, partial(_stop_loading, bidi, tab)):
            bidi.call("browsingContext.navigate", **params, limit=deadline.seconds_left, watch=watch)


def open_by_devtools(
    browser: Chromium, tab: str, url: str, deadline: Deadline, meet_dialog: Callable[[], object]
) -> None:
    """Navigate a tab until its new document is there; a load that is given up is stopped.

    Args:
        browser: The connection beside the driver.
        tab: The handle of the tab.
        url: The URL to open.
        deadline: The time by which it has to be there.
        meet_dialog: As for `open_by_bidi`.

    Raises:
        TimedOut, RemoteFailure, DialogOpen: As `open_by_bidi` does.
    """
    meet_dialog()
    watch = Watch(Future(), meet_dialog, _LOOKS_EVERY)
    with _explaining(url, meet_dialog, partial(browser.stop_loading, tab)):
        browser.navigate(tab, url, limit=deadline.seconds_left, watch=watch)


@contextmanager
def _explaining(url: str, meet_dialog: Callable[[], object], stop: Callable[[], object]) -> Iterator[None]:
    """Turn what went wrong in loading a URL into its error, unless the URL has no page."""
    try:
        yield
    except NoAnswer as lost:
        meet_dialog()  # so is a lost session
        stop()
        raise TimedOut(f"{url} did not answer in time.", hint="Raise timeout or try again.") from lost
    except RemoteFailure as refused:
        if not _NO_PAGE.search(refused.message):
            raise


def _stop_loading(bidi: Bidi, tab: str) -> None:
    """Stop the navigation of a tab (CDP `Page.stopLoading`), by the tab's handle; does nothing in other browsers."""
    with suppress(NoAnswer, RemoteFailure):
        bidi.cdp("Page.stopLoading", context=tab)


@contextmanager
def _committed(bidi: Bidi, tab: str) -> Iterator[Future[None]]:
    """Return a future that is done once a tab has a new document, within the block."""
    committed: Future[None] = Future()

    def note(event: Mapping[str, Any]) -> None:
        if event["context"] == tab and not committed.done():
            committed.set_result(None)

    bidi.tap("browsingContext.navigationCommitted", note)
    try:
        yield committed
    finally:
        bidi.untap(note)
