"""Starts that wait for a slot of a Selenium Grid: their place is reported, and none is left in the queue."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.harness import Home, answered, kill
from tests.e2e.stage import refused
from tests.servers.grid import GridEnd
from tests.servers.mcp import Served
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

SLOTS = 4
STARTS = 10


@pytest.fixture
def direct(grid: GridEnd) -> dict[str, Any]:
    """Arguments of a start at the Grid itself."""
    return {"provider": "selenium_grid", "platform": "browser", "browser": "chrome", "options": {"url": grid.url}}


def test_a_start_queued_for_a_grid_slot_reports_its_place_and_leaves_when_given_up(
    modern: Served, home: Home, grid: GridEnd, direct: dict[str, Any]
) -> None:
    """A queued start leaves the Grid's queue when it is closed, cancelled, too late or its server is killed."""
    direct |= {"browser": "firefox"}
    options = {**direct.pop("options"), "waitForCapacity": True}
    told: list[str] = []
    calls = [modern.begin("start_session", sessionId="a", options=options, **direct)]
    until(lambda: len(grid.waiting()) == 1, "a request in the queue")
    calls.append(modern.listen(told, "start_session", sessionId="b", options=options, **direct))
    until(lambda: told[-1:] == ["start_session: place 2 of 2 in the Grid's queue"], "its place")
    modern.ok("close_session", sessionId="a")
    assert answered(calls[0]).failed
    until(lambda: len(grid.waiting()) == 1, "the closed one's leave")
    calls[1].cancel()
    until(lambda: not grid.waiting(), "the cancelled one's leave")
    answer = modern.call("start_session", sessionId="c", options={**options, "startTimeout": 10}, **direct)
    assert "did not start within 10 s: place 1 of 1 in the Grid's queue" in refused(answer, "start_failed")
    until(lambda: not grid.waiting(), "the late one's leave")
    with home.serve() as doomed:
        doomed.begin("start_session", options=options, **direct)
        until(grid.waiting, "a request in the queue")
        kill(doomed.process)
        until(lambda: not grid.waiting(), "the killed one's leave")


def test_starts_beyond_the_slots_of_a_grid_are_queued_and_served_in_order(
    modern: Served, grid: GridEnd, direct: dict[str, Any]
) -> None:
    """Ten starts on four slots: four run, and six report their places and start in that order."""
    told: dict[str, list[str]] = {f"s{number}": [] for number in range(STARTS)}
    calls = {name: modern.listen(heard, "start_session", sessionId=name, **direct) for name, heard in told.items()}
    came: list[str] = []
    for name, call in calls.items():
        call.add_done_callback(lambda _, name=name: came.append(name))  # type: ignore[misc]
    until(lambda: (len(came), len(grid.waiting())) == (SLOTS, STARTS - SLOTS), "four sessions, six waiting")

    def places() -> dict[str, str]:
        last = {heard[-1]: name for name, heard in told.items() if heard and name not in came}
        wanted = [f"start_session: place {place} of 6 in the Grid's queue" for place in range(1, STARTS - SLOTS + 1)]
        return {text: last[text] for text in wanted} if set(wanted) == set(last) else {}

    in_order = list(until(places, "six places").values())
    for closed in range(STARTS):
        until(lambda: len(came) > closed, "the next one")  # noqa: B023 - looked at here alone
        assert not answered(calls[came[closed]]).failed, answered(calls[came[closed]]).text
        modern.ok("close_session", sessionId=came[closed])
    assert came[SLOTS:] == in_order
    until(lambda: not grid.sessions(), "all to be closed")
