"""Opens URLs by WebDriver BiDi, in Firefox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from typing import Any

from orchestrator.errors import NoAnswer, RemoteFailure, TimedOut
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.websocket import Watch

_LOOKS_EVERY = 0.5
"""Seconds after which a load without an end looks for a dialog."""
_NO_PAGE = "NS_BINDING_ABORTED"
"""Code of Firefox for a URL that has no page, such as an answer 204, and of one that another navigation overtook."""


def open_by_bidi(remote: Remote, bidi: Bidi, url: str, deadline: Deadline, *, is_waited_for: bool) -> None:
    """Navigate the current tab (browsingContext.navigate), until the document is there, or is interactive.

    Unlike geckodriver's own command, it answers when the URL is a download, or has no page: then the page stays.

    Source: https://www.w3.org/TR/webdriver-bidi/#command-browsingContext-navigate.

    Args:
        remote: The client of the session.
        bidi: Its BiDi connection.
        url: The URL to open.
        deadline: The time by which it has to be there.
        is_waited_for: False to return as soon as the new document takes the place of the one before.

    Raises:
        TimedOut: The page did not come in time.
        RemoteFailure: It could not be loaded; the message has Firefox's own code.
        DialogOpen: A dialog prevents it, and stays open by policy.
    """
    remote.execute("getTitle")  # a dialog that is open is met here
    tab = remote.execute("w3cGetCurrentWindowHandle")
    with nullcontext(Future[None]()) if is_waited_for else _committed(bidi, tab) as enough:
        watch = Watch(enough, lambda: remote.execute("getTitle"), _LOOKS_EVERY)
        try:
            # With `none` it would answer while the document before is still there.
            params = {"context": tab, "url": url, "wait": "interactive"}
            bidi.call("browsingContext.navigate", **params, limit=deadline.seconds_left, watch=watch)
        except NoAnswer as lost:
            remote.execute("getTitle")  # a lost session is met here
            raise TimedOut(f"{url} did not answer in time.", hint="Raise timeout or try again.") from lost
        except RemoteFailure as refused:
            if _NO_PAGE not in refused.message:
                raise


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
