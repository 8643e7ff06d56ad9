"""Progress: a client that asks for it learns within the first second what a start or a queued call waits for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import Home, answered, in_time
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.servers.slow_driver import SlowDriver
from tests.waiting import until

pytestmark = pytest.mark.full

PAGE = "<title>ben</title><script>fetch('/held').then(() => document.body.append('late'))</script><body>now"
"""A page that shows `late` once the site's gate is opened."""


class Heard(list[str]):
    """Progress messages, and the time of the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = time.monotonic()
        self.first_after = 0.0

    def append(self, message: str) -> None:
        """Note a message."""
        self.first_after = self.first_after or time.monotonic() - self.asked
        super().append(message)


@pytest.fixture
def page(site: Site) -> Iterator[str]:
    """The address of the page."""
    site.page("/held", "held")
    gate = site.gate("/held")
    yield site.page("/", PAGE)
    gate.open()


def _start_and_queue(home: Home, tmp_path: Path) -> tuple[Heard, Heard]:
    """Start a browser at a server that was itself started a moment ago, and read it; return what both calls heard."""
    driver = SlowDriver(tmp_path)
    with home.serve(chromedriver=str(driver.program)) as server:
        started, queued = Heard(), Heard()
        start = server.listen(started, "start_browser", sessionId="ben")
        until(lambda: "start_browser: starting chrome" in started, "progress of the start")
        queued.asked = time.monotonic()
        reading = server.listen(queued, "get_text", sessionId="ben")
        until(lambda: queued, "progress of the queued call")
        driver.go()
        assert not answered(start).failed
        assert not answered(reading).failed
    return started, queued


def test_a_start_and_a_call_behind_it_report_what_they_wait_for(home: Home, tmp_path: Path) -> None:
    """Says that the server starts, then which browser it starts, and to the other call what it waits behind."""
    started, queued = _start_and_queue(home, tmp_path)
    assert started[0] in {"start_browser: the server is starting", "start_browser: starting chrome"}
    assert queued[0] == "get_text: waiting behind the start of ben"


@pytest.mark.clock
def test_a_start_and_a_call_behind_it_report_within_the_first_second(home: Home, tmp_path: Path) -> None:
    """Says something at once, though the server was itself started a moment ago."""
    started, queued = _start_and_queue(home, tmp_path)
    assert started.first_after < in_time(1.0)
    assert queued.first_after < in_time(1.0)


def _queue_two(server: Served, site: Site, page: str) -> tuple[Heard, Heard]:
    """Make two calls behind one that waits for the page; return what they heard."""
    server.ok("start_browser", sessionId="ben", navigationUrl=page)
    waits = server.begin("wait_for", sessionId="ben", text="late", timeout=60_000)
    second, third = Heard(), Heard()
    calls = [server.listen(heard, "get_text", sessionId="ben") for heard in (second, third)]
    until(lambda: second and third, "progress of both")
    site.gate("/held").open()
    assert not answered(waits).failed
    assert [answered(call).data["text"] for call in calls] == ["nowlate"] * 2
    return second, third


def test_a_queued_call_reports_which_call_of_its_session_it_waits_behind(server: Served, site: Site, page: str) -> None:
    """The call that runs is named, and how many others wait before this one."""
    second, third = _queue_two(server, site, page)
    assert (second[0], third[0]) == (
        "get_text: waiting behind wait_for of ben",
        "get_text: waiting behind wait_for of ben and 1 more",
    )


@pytest.mark.clock
def test_a_queued_call_reports_within_the_first_second(server: Served, site: Site, page: str) -> None:
    """Tells both of two calls soon what they wait for."""
    assert max(heard.first_after for heard in _queue_two(server, site, page)) < in_time(1.0)


def test_a_call_that_waits_for_another_agent_names_that_agent(server: Served, site: Site, page: str) -> None:
    """Agents that share a session are told who holds it, where their host names them."""
    server.ok("start_browser", sessionId="shop", navigationUrl=page)
    ben = server.as_agent(threadId="t-1", **{"x-codex-turn-metadata": {"thread_id": "t-1", "agent_path": "/root/ben"}})
    waits = ben.begin("wait_for", sessionId="shop", text="late", timeout=60_000)
    heard = Heard()
    call = server.listen(heard, "get_text", sessionId="shop")
    until(lambda: heard, "progress")
    assert heard[0] == "get_text: waiting behind wait_for of ben in shop"
    site.gate("/held").open()
    assert not answered(waits).failed
    assert not answered(call).failed


def test_a_call_that_waits_for_another_server_says_so(home: Home, site: Site, page: str) -> None:
    """The other server's call has no name here; that it is another process explains the wait."""
    with home.serve() as first, home.serve() as second:
        first.ok("start_browser", sessionId="ben", navigationUrl=page)
        waits = first.begin("wait_for", sessionId="ben", text="late", timeout=60_000)
        until(lambda: home.tickets() == 1, "the call of the first server")
        heard = Heard()
        call = second.listen(heard, "get_text", sessionId="ben")
        until(lambda: "get_text: waiting behind a call of another process on ben" in heard, "progress")
        site.gate("/held").open()
        assert not answered(waits).failed
        assert not answered(call).failed
