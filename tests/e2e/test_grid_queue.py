"""Starts that wait for a slot of a Selenium Grid: their place is told, and none is left in the queue."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from tests.e2e.harness import Home, answered, kill, until
from tests.e2e.stage import refused
from tests.grid_end import GridEnd
from tests.served import Answer, Served

SLOTS = 4
STARTS = 10


@pytest.fixture
def direct(grid: GridEnd) -> dict[str, Any]:
    """How the server of the run asks for a session at the Grid itself."""
    return {"provider": "selenium_grid", "platform": "browser", "browser": "chrome", "options": {"url": grid.url}}


def test_waiting_for_a_slot_that_may_come(modern: Served, home: Home, grid: GridEnd, direct: dict[str, Any]) -> None:
    """Its place is told; a start that is given up leaves the queue: closed, cancelled, too late, its server killed."""
    direct |= {"browser": "firefox"}
    options = {**direct.pop("options"), "waitForCapacity": True}
    told: list[str] = []
    calls = [modern.begin("start_session", sessionId="a", options=options, **direct)]
    until(lambda: len(grid.waiting()) == 1, "a request in the queue")
    calls.append(modern.listen(told, "start_session", sessionId="b", options=options, **direct))
    until(lambda: told, "its place")
    assert told[0] == "start_session: place 2 of 2 in the Grid's queue"
    modern.ok("close_session", sessionId="a")
    assert answered(calls[0]).failed
    until(lambda: len(grid.waiting()) == 1, "the closed one's leave")
    calls[1].cancel()
    until(lambda: not grid.waiting(), "the cancelled one's leave")
    answer = modern.call("start_session", sessionId="c", options={**options, "startTimeout": 2}, **direct)
    assert "did not start within 2 s: place 1 of 1 in the Grid's queue" in refused(answer, "start_failed")
    until(lambda: not grid.waiting(), "the late one's leave")
    with home.serve() as doomed:
        doomed.begin("start_session", options=options, **direct)
        until(grid.waiting, "a request in the queue")
        kill(doomed.process)
        until(lambda: not grid.waiting(), "the killed one's leave")


def test_ten_starts_on_four_slots(modern: Served, grid: GridEnd, direct: dict[str, Any]) -> None:
    """Four run, six wait, each told its place; all come as others are closed."""
    told: dict[str, list[str]] = {f"s{number}": [] for number in range(STARTS)}
    calls = {name: modern.listen(heard, "start_session", sessionId=name, **direct) for name, heard in told.items()}
    until(lambda: (len(grid.sessions()), len(grid.waiting())) == (SLOTS, STARTS - SLOTS), "four sessions, six waiting")
    seen: set[str] = set()

    def places() -> bool:
        seen.update(text for heard in told.values() for text in heard)
        return len([text for text in seen if text.endswith("of 6 in the Grid's queue")]) == STARTS - SLOTS

    until(places, "six places")
    finished: list[str] = []
    while len(finished) < STARTS:
        name = until(lambda: _done(calls, finished), "one of them")
        assert not answered(calls[name]).failed, answered(calls[name]).text
        finished.append(name)
        modern.ok("close_session", sessionId=name)
    until(lambda: not grid.sessions(), "all to be closed")


def _done(calls: dict[str, Future[Answer]], finished: list[str]) -> str:
    return next((name for name, call in calls.items() if call.done() and name not in finished), "")
