"""Sessions that share a browser: which tabs are whose, and whether those of others hold its driver up."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from orchestrator.actions.deadline import Deadline
from orchestrator.errors import TimedOut
from orchestrator.models import SessionRecord
from orchestrator.webdriver.chromium import Chromium, Page


def answering(browser: Chromium, others: Collection[str], patience: Deadline) -> None:
    """Wait until the pages in these tabs of other sessions answer: a driver that meets one which does not stands still.

    Raises:
        TimedOut: One does not.
    """
    while others := browser.mute(others):
        if not patience.left:
            raise TimedOut(
                "A page of another session in this browser does not answer, and the driver would wait for it.",
                hint="A dialog may be open there: use that session, answer it or close it, then try again.",
            )


def own(pages: Mapping[str, Page], record: SessionRecord) -> list[str]:
    """The handles of a session's own tabs, as the browser has them.

    They are those of its browser context. Sessions in windows of one profile share that: there its own are those that
    it knows, and what these opened.
    """
    place = record.instance
    if place is None or not place.profile or place.isolated:
        return [handle for handle, page in pages.items() if place is None or page.context == place.context]
    mine = {tab.handle for tab in record.tabs}
    while more := {handle for handle, page in pages.items() if page.opener in mine} - mine:
        mine |= more
    return [handle for handle in pages if handle in mine]
