"""Rows of sessions: cached ones, and those that are made anew."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.models.session import Instance, SessionRecord, SessionState, SessionType
from orchestrator.sessions.rows import FactsCache

RECORD = SessionRecord(
    id="a", namespace="project", type=SessionType.BROWSER, provider="local", owner="me", created_at=1, last_active_at=2,
    remote_url="http://127.0.0.1:9515", remote_session_id="remote",
)  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"state": SessionState.LOST},
        {"url": "https://shop.example/cart"},
        {"capabilities": {"browserName": "firefox"}},
        {"parked_until": 3.0},
        {"remote_end": {"nodeId": "n1"}},
    ],
)
def test_a_row_is_never_stale_after_a_change_without_a_call(change: dict[str, Any]) -> None:
    """A change without a call, so with the same time of the last call, is in the next list."""
    cache = FactsCache()
    cache.list_facts([RECORD])
    [facts] = cache.list_facts([RECORD.with_changes(**change)])
    [shown] = FactsCache().list_facts([RECORD.with_changes(**change)])
    assert facts == shown
    assert facts != cache.list_facts([RECORD])[0]


def test_the_row_of_an_unchanged_record_is_made_once() -> None:
    """The second list reuses the facts of the first."""
    cache = FactsCache()
    [first] = cache.list_facts([RECORD])
    [second] = cache.list_facts([RECORD])
    assert second is first


def test_rows_name_the_sessions_that_share_their_browser() -> None:
    """Open sessions of one browser name each other; a lost one and those of other browsers are not named."""
    first = RECORD.with_changes(instance=Instance())
    second = first.with_changes(id="a:ann")
    lost = first.with_changes(id="a:bob", state=SessionState.LOST)
    other = first.with_changes(id="b", remote_url="http://127.0.0.1:9516")
    rows = FactsCache().list_facts([first, second, lost, other])
    assert [row.shared_with for row in rows] == [["a:ann"], ["a"], None, None]


def test_a_row_names_at_most_twenty_of_the_sessions_in_its_browser() -> None:
    """Of a thousand contexts in one browser each row names twenty others, so that the list grows evenly."""
    many = [RECORD.with_changes(id=f"a:{number}", instance=Instance()) for number in range(1000)]
    rows = FactsCache().list_facts(many)
    assert {len(row.shared_with or ()) for row in rows} == {20}
    assert not any(row.session_id in (row.shared_with or ()) for row in rows)
