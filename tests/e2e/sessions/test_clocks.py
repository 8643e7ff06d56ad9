"""A wall clock that steps, as NTP and a resumed virtual machine do: sessions go on, and so does their upkeep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import Home, kill
from tests.needed import needed
from tests.servers.clock import SteppedClock, missing
from tests.servers.mcp import Served
from tests.waiting import until

pytestmark = pytest.mark.full

PAGE = "data:text/html,<title>Form</title><input id=name>"
STEPS = pytest.mark.parametrize("hours", [-1, 1], ids=["an hour back", "an hour ahead"])


@pytest.fixture
def clock(tmp_path: Path) -> Iterator[SteppedClock]:
    """A clock for the servers of the test; skips where none can be set, and fails in CI."""
    needed(missing())
    clock = SteppedClock(tmp_path)
    with clock.installed():
        yield clock


def rows(server: Served) -> dict[str, dict[str, Any]]:
    """Return the listed sessions by id."""
    return {row["sessionId"]: row for row in server.ok("list_sessions")["sessions"]}


def fill(server: Served) -> None:
    """Start a session that may be idle for half an hour, with something in its page."""
    server.ok("start_browser", sessionId="a", navigationUrl=PAGE, options={"idleTimeout": "30m"})
    server.ok("set_value", selector="#name", value="Ann", sessionId="a")


def name_in_page(server: Served) -> Any:
    """Return what `fill` typed."""
    return server.ok("execute_script", script="return document.querySelector('#name').value", sessionId="a")["value"]


@STEPS
def test_a_session_goes_on_when_the_clock_steps(lasting: Home, clock: SteppedClock, hours: int) -> None:
    """A session is neither lost nor idle after the step: browser and driver are the same, and so is the page."""
    with lasting.serve() as server:
        fill(server)
        server.ok("start_browser", sessionId="dead")
        before = {process.pid for process in lasting.record("a").processes}
        browser = lasting.process("dead", "browser")
        clock.step(hours)
        kill(browser)
        # Both are checked because they are listed: once the dead one is found lost, the other has been looked at, too.
        until(lambda: rows(server)["dead"]["state"] == "lost", "the check of the sessions")
        assert rows(server)["a"]["state"] == "active"
        assert name_in_page(server) == "Ann"
        assert {process.pid for process in lasting.record("a").processes} == before


@STEPS
def test_upkeep_goes_on_when_the_clock_steps(lasting: Home, clock: SteppedClock, hours: int) -> None:
    """A session with an idle limit of two seconds ends after it, as if nobody had set the clock."""
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="short", options={"idleTimeout": "2s"})
        clock.step(hours)
        until(lambda: "short" not in rows(server), "the end of the idle session")
        assert "nobody used it for 2 s" in server.call("get_text", sessionId="short").text


@STEPS
def test_a_second_server_kills_nothing_after_a_step(lasting: Home, clock: SteppedClock, hours: int) -> None:
    """A server that starts after the step takes the first one for alive, and leaves its session and processes alone."""
    with lasting.serve() as first:
        fill(first)
        clock.step(hours)
        with lasting.serve() as second:
            assert rows(second)["a"]["state"] == "active"
            assert not rows(second)["a"]["owned"]
        assert name_in_page(first) == "Ann"


@STEPS
def test_a_parked_session_keeps_its_time_when_the_clock_steps(lasting: Home, clock: SteppedClock, hours: int) -> None:
    """The keeper neither ends a parked session early nor gives it an hour more; it is restored with its page."""
    with lasting.serve() as server:
        fill(server)
    with lasting.serve(park_ttl="2s") as server:
        server.ok("start_browser", sessionId="short")
    clock.step(hours)
    until(lambda: [record.id for record in lasting.records()] == ["a"], "the end of the session of two seconds")
    with lasting.serve() as server:
        assert name_in_page(server) == "Ann"
