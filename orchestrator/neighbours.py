"""Sessions in one browser, and where chromedriver has them wait for each other.

A driver session that has met a page of another one asks it, at its next command, how far each of its loads has come
(`document.readyState`, with `pageLoadStrategy` eager; chromedriver 156). Where a script or a dialog holds that page up
by then, it stands still.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

from orchestrator.actions.owning import own
from orchestrator.errors import NoAnswer, OrchestratorError
from orchestrator.models import SessionRecord, SessionState
from orchestrator.reach import Reach
from orchestrator.webdriver.chromium import Chromium
from orchestrator.webdriver.devtools import debugger_address

_AT_ONCE = 0.5
"""Seconds that a driver session may take to ask: it waits for nothing but pages that have just loaded."""


def loaded(mine: SessionRecord, sessions: Iterable[tuple[SessionRecord, bool]], reach: Reach) -> None:
    """Have the others ask a page of this session that has just loaded, while it answers.

    One in which a call runs, which the second of a pair says, does so by itself.
    """
    asked = [
        threading.Thread(target=_ask, args=(reach, one), name=f"ask-{one.id}", daemon=True)
        for one, in_use in sessions
        if one.remote_url == mine.remote_url and one.id != mine.id and one.state is SessionState.ACTIVE and not in_use
    ]
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join(_AT_ONCE)


def hold_up(record: SessionRecord) -> bool:
    """Whether a page of another session stands still, which may be why this one's driver does."""
    try:
        with Chromium(debugger_address(record.capabilities), name=record.id) as browser:
            pages = browser.pages()
            return bool(browser.mute([tab for tab in pages if tab not in own(pages, record)]))
    except NoAnswer:
        return False


def _ask(reach: Reach, record: SessionRecord) -> None:
    with suppress(OrchestratorError):
        remote = reach.of(record, timeout=_AT_ONCE)
        try:
            remote.execute("getCurrentUrl")
        finally:
            remote.close()
