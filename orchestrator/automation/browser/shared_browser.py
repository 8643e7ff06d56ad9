"""Browsers shared by sessions: assign tabs, keep drivers from blocking each other.

A driver session that sees a newly loaded page of another session queries its load state with its next command
(`document.readyState`, with `pageLoadStrategy` eager; chromedriver 156). If a script or a dialog blocks that page by
then, the command hangs.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from orchestrator.errors import NoAnswer, OrchestratorError, TimedOut
from orchestrator.models.session import SessionRecord, SessionState
from orchestrator.sessions.connector import Connector
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.chromium import Chromium, ChromiumTab
from orchestrator.webdriver.devtools import debugger_address

_QUERY_SECONDS = 0.5
"""Seconds that a driver session may take to query pages that have just loaded."""


def wait_until_responsive(browser: Chromium, others: Collection[str], deadline: Deadline) -> None:
    """Wait until the pages in these tabs of other sessions respond: an unresponsive one would block the driver.

    Raises:
        TimedOut: A page does not respond.
    """
    while others := browser.unresponsive_tabs(others):
        if not deadline.seconds_left:
            raise TimedOut(
                "A page of another session in this browser does not respond, and would block this session's driver.",
                hint="A dialog may be open there: answer it in that session or close that session, then try again.",
            )


def find_own_handles(pages: Mapping[str, ChromiumTab], record: SessionRecord) -> list[str]:
    """The handles of a session's own tabs among all tabs of the browser.

    They are those of its browser context. Sessions in windows of a profile share a context: there they are the
    recorded tabs and those opened by them.
    """
    place = record.instance
    if place is None or not place.profile or place.isolated:
        return [handle for handle, page in pages.items() if place is None or page.context == place.context]
    mine = {tab.handle for tab in record.tabs}
    while more := {handle for handle, page in pages.items() if page.opener in mine} - mine:
        mine |= more
    return [handle for handle in pages if handle in mine]


def touch_other_sessions(
    mine: SessionRecord, sessions: Iterable[tuple[SessionRecord, bool]], connector: Connector
) -> None:
    """Make the drivers of other sessions query a page that this session has just loaded, while it responds.

    `sessions` are pairs of a record and True if a call runs in it: then its driver queries the page anyway.
    """
    threads = [
        threading.Thread(target=_query_page, args=(connector, other), name=f"query-{other.id}", daemon=True)
        for other, in_use in sessions
        if other.remote_url == mine.remote_url
        and other.id != mine.id
        and other.state is SessionState.ACTIVE
        and not in_use
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_QUERY_SECONDS)


def is_blocked_by_other_page(record: SessionRecord) -> bool:
    """True if a page of another session is unresponsive, which may block this session's driver."""
    try:
        with Chromium(debugger_address(record.capabilities), name=record.id) as browser:
            pages = browser.tabs()
            return bool(browser.unresponsive_tabs([tab for tab in pages if tab not in find_own_handles(pages, record)]))
    except NoAnswer:
        return False


def _query_page(connector: Connector, record: SessionRecord) -> None:
    with suppress(OrchestratorError):
        remote = connector.make_remote(record, timeout=_QUERY_SECONDS)
        try:
            remote.execute("getCurrentUrl")
        finally:
            remote.close()
