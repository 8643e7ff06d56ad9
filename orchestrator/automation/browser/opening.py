"""Opens URLs by WebDriver BiDi, where the driver does not wait for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from orchestrator.errors import NoAnswer, RemoteFailure, TimedOut
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.websocket import Watch

_LOOKS_EVERY = 0.5
"""Seconds after which a load without an end looks for a dialog."""
_NO_PAGE = re.compile(r"NS_BINDING_ABORTED|net::ERR_ABORTED\b|canceled by concurrent navigation")
"""Codes of Firefox and Chromium for a URL without a page, such as an answer 204, and for one that another overtook."""


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
        try:
            # With `none` it would answer while the document before is still there.
            params = {"context": tab, "url": url, "wait": "interactive"}
            bidi.call("browsingContext.navigate", **params, limit=deadline.seconds_left, watch=watch)
        except NoAnswer as lost:
            meet_dialog()  # so is a lost session
            stop_loading(bidi, tab)
            raise TimedOut(f"{url} did not answer in time.", hint="Raise timeout or try again.") from lost
        except RemoteFailure as refused:
            if not _NO_PAGE.search(refused.message):
                raise


def stop_loading(bidi: Bidi, tab: str) -> None:
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
