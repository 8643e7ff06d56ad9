"""Calls of different sessions run side by side, calls of one session one after the other, in order of arrival."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import pairwise
from typing import Any

import pytest

from tests.e2e.harness import Home, answered, succeed
from tests.servers.mcp import Answer, Served
from tests.servers.site import Site
from tests.waiting import until

STAMPED = """
const began = performance.timeOrigin + performance.now();
await fetch('/tick?n=' + args[0]);
return [args[0], began, performance.timeOrigin + performance.now()];
"""
"""Sends a request to the site and returns its start and end, by the page's clock."""
HANGS = "document.title = 'running'; await fetch('/held'); document.title = 'done'; return 1"
"""Runs until the site's gate is opened."""

WAITED = 2.5
"""Seconds of waiting that an error tells of."""


@pytest.fixture
def base(site: Site) -> str:
    """A page, and paths that scripts in it request."""
    site.page("/tick", "tick")
    site.page("/held", "held")
    site.gate("/held")
    return site.page("/", "<title>start</title><button onclick='document.title += 1'>Go</button>")


@pytest.fixture
def busy(server: Served, site: Site, base: str) -> Iterator[tuple[Served, Future[Answer]]]:
    """A session `a` in the middle of a call that lasts until the gate is opened."""
    server.ok("start_browser", sessionId="a", navigationUrl=base)
    running = server.begin("execute_script", script=HANGS, sessionId="a")
    site.gate("/held").wait_entered()
    yield server, running
    site.gate("/held").open()


def test_calls_on_four_sessions_overlap(server: Served, site: Site) -> None:  # W1 W24 W25 X10 F13
    """Four sessions load pages that are only answered once all four requests are there at the same time."""
    names = ["a", "b", "c", "d"]
    starts = [server.begin("start_browser", sessionId=name) for name in names]
    succeed(starts)
    url = site.meeting("/meeting", parties=4)
    calls = [server.begin("navigate", url=url, sessionId=name) for name in names]
    assert [answered(call).data["title"] for call in calls] == ["met"] * 4
    visits = site.visits("/meeting")
    assert max(visit.began for visit in visits) <= min(visit.ended for visit in visits)


def test_starts_of_several_sessions_overlap(server: Served, site: Site) -> None:  # W1 W22
    """Three sessions are started at once: none waits for another one's first page."""
    url = site.meeting("/first", parties=3)
    starts = [server.begin("start_browser", navigationUrl=url) for _ in range(3)]
    assert sorted(answered(call).data["sessionId"] for call in starts) == ["browser-1", "browser-2", "browser-3"]


def test_calls_on_one_session_never_overlap_and_keep_their_order(
    server: Served, site: Site, base: str
) -> None:  # F12 W26
    """Twelve calls are sent without waiting: each begins after the end of the one before, in the order of sending."""
    server.ok("start_browser", sessionId="a", navigationUrl=base)
    calls = [server.begin("execute_script", script=STAMPED, args=[n], sessionId="a") for n in range(12)]
    stamps = [answered(call).data["value"] for call in calls]
    assert [int(visit.query["n"]) for visit in site.visits("/tick")] == list(range(12))
    assert_apart(stamps)


def test_calls_of_every_kind_on_one_session_keep_their_order(server: Served, site: Site, base: str) -> None:  # F12 W27
    """Reading, acting and whole sequences share one lane: each sees the effect of those before it."""
    site.page("/next", "<title>next</title><p>0</p>")
    server.ok("start_browser", sessionId="a", navigationUrl=base)
    grow = "document.body.append('+' + args[0])"
    calls = [
        server.begin("execute_script", script=grow, args=[1], sessionId="a"),
        server.begin("get_text", sessionId="a"),
        server.begin("navigate", url=site.url("/next"), sessionId="a"),
        server.begin("get_text", sessionId="a"),
        server.begin("execute_sequence", actions=[{"action": "execute_script", "script": grow, "args": [2]}] * 2,
                     sessionId="a"),
        server.begin("get_text", sessionId="a"),
        server.begin("execute_script", script=grow, args=[3], sessionId="a"),
        server.begin("get_text", sessionId="a"),
    ]  # fmt: skip
    texts = ["".join(answered(call).data["text"].split()) for call in calls[1::2]]
    assert texts == ["Go+1", "0", "0+2+2", "0+2+2+3"]


def test_no_other_call_runs_between_the_steps_of_a_sequence(
    busy: tuple[Served, Future[Answer]], site: Site
) -> None:  # W39
    """No call of any caller runs between two steps of a sequence."""
    server, running = busy
    steps = [{"action": "execute_script", "script": STAMPED, "args": [n]} for n in (1, 2, 3)]
    calls = [
        server.begin("execute_sequence", actions=steps, sessionId="a", verbose=True),
        server.begin("execute_script", script=STAMPED, args=[4], sessionId="a"),
        server.begin("execute_sequence", actions=steps, sessionId="a"),
    ]
    site.gate("/held").open()
    succeed([running, *calls])
    assert [int(visit.query["n"]) for visit in site.visits("/tick")] == [1, 2, 3, 4, 1, 2, 3]


def test_an_error_of_a_call_that_waited_for_long_names_the_call_that_it_waited_for(
    busy: tuple[Served, Future[Answer]], site: Site
) -> None:
    """A call whose client has given up holds its lane until it ends: the calls behind it say so in their errors."""
    server, running = busy
    heard: list[str] = []
    fails = server.begin("click_element", selector="#missing", timeout=1, sessionId="a")
    closed = server.listen(heard, "get_text", sessionId="a")
    until(lambda: heard, "the wait of both")
    since = time.monotonic()
    until(lambda: time.monotonic() > since + WAITED, "a long wait")
    site.gate("/held").open()
    succeed([running])
    assert re.search(r"The call was waiting behind execute_script of a for \d+ s\.", answered(fails).text)
    assert not answered(closed).failed


def test_a_call_that_waits_when_its_session_is_closed_names_the_call_that_it_waited_for(
    busy: tuple[Served, Future[Answer]],
) -> None:
    """Closing answers the calls that wait; what held them up is told."""
    server, running = busy
    heard: list[str] = []
    waits = server.listen(heard, "get_text", sessionId="a")
    until(lambda: heard, "the wait")
    since = time.monotonic()
    until(lambda: time.monotonic() > since + WAITED, "a long wait")
    server.ok("close_session", sessionId="a")
    assert re.search(r"The call was waiting behind execute_script of a for \d+ s\.", answered(waits).text)
    assert answered(running).code == "session_lost"


def test_a_hanging_session_holds_up_no_other_session(busy: tuple[Served, Future[Answer]], base: str) -> None:  # X9
    """While one session hangs, another one is started, used and closed."""
    server, running = busy
    server.ok("start_browser", sessionId="b", navigationUrl=base)
    assert server.ok("click_element", selector="button", sessionId="b")["title"] == "start1"
    assert server.ok("close_session", sessionId="b")["closed"] == ["b"]
    assert not running.done()


def test_calls_queue_behind_a_start_with_wait_false(
    server: Served, shared_home: Home, site: Site, base: str
) -> None:  # W26
    """wait=false answers at once with state starting; the calls queued after it run in order when it has started."""
    gate = site.gate("/slow")
    site.page("/slow", "<title>slow</title>")
    row = server.ok("start_browser", sessionId="a", navigationUrl=site.url("/slow"), wait=False)
    assert row["state"] == "starting"
    calls = [
        server.begin("execute_script", script="return document.title", sessionId="a"),
        server.begin("navigate", url=base, sessionId="a"),
        server.begin("execute_script", script="return document.title", sessionId="a"),
    ]
    gate.wait_entered()
    until(lambda: shared_home.tickets() == 4, "the start and three calls in the lane")
    (listed,) = server.ok("list_sessions")["sessions"]
    assert listed["state"] == "starting"
    assert server.call("start_browser", sessionId="a").code == "session_exists"
    assert not any(call.done() for call in calls)
    gate.open()
    first, _, last = [answered(call).data for call in calls]
    assert (first["value"], last["value"]) == ("slow", "start")
    assert server.ok("list_sessions")["sessions"][0]["state"] == "active"


def test_calls_queued_behind_a_failed_start_report_its_reason(
    server: Served, site: Site, shared_home: Home
) -> None:  # X22
    """The calls queued behind a failed start report its reason; its name is free."""
    gate = site.gate("/slow")
    site.page("/slow", "<title>slow</title>")
    server.ok("start_browser", sessionId="a", navigationUrl=site.url("/slow"), wait=False)
    call = server.begin("get_text", sessionId="a")
    gate.wait_entered()
    until(lambda: shared_home.tickets() == 2, "the start and the call in the lane")
    shared_home.process("a", "chromedriver").kill()
    answer = answered(call)
    assert answer.code == "session_not_found"
    assert "Its start failed: Session 'a' " in answer.text
    until(shared_home.is_clean, "nothing left of the start")
    assert server.ok("start_browser", sessionId="a")["state"] == "active"


def test_a_call_cancelled_before_its_turn_never_runs(
    busy: tuple[Served, Future[Answer]], site: Site, shared_home: Home
) -> None:
    """A call that is cancelled before its turn never runs; those behind it do."""
    server, running = busy
    dropped = server.begin("execute_script", script=STAMPED, args=["dropped"], sessionId="a")
    behind = server.begin("execute_script", script=STAMPED, args=["behind"], sessionId="a")
    until(lambda: shared_home.tickets() == 3, "three calls in the lane")
    assert dropped.cancel()
    until(lambda: shared_home.tickets() == 2, "the cancelled call to leave the lane")
    site.gate("/held").open()
    assert answered(running).data["value"] == 1
    assert answered(behind).data["value"][0] == "behind"
    assert [visit.query["n"] for visit in site.visits("/tick")] == ["behind"]


def test_a_cancelled_running_call_keeps_its_lane_until_the_remote_end_has_answered(
    busy: tuple[Served, Future[Answer]], site: Site, shared_home: Home
) -> None:
    """The lane passes on when the remote end has answered: the next call sees the cancelled one's effect."""
    server, running = busy
    assert running.cancel()
    behind = server.begin("execute_script", script="return document.title", sessionId="a")
    until(lambda: shared_home.tickets() == 2, "two calls in the lane")
    assert not behind.done()
    site.gate("/held").open()
    assert answered(behind).data["value"] == "done"
    assert server.ok("list_sessions")["sessions"][0]["state"] == "active"


@pytest.mark.parametrize("waiting", ["wait_for", "click_element", "execute_sequence"])
def test_cancelling_a_wait_for_an_element_frees_the_lane_soon(
    modern: Served, shared_home: Home, base: str, waiting: str
) -> None:
    """A waiting call ends soon after it was cancelled, and changed nothing."""
    never: dict[str, Any] = {"selector": "#never", "timeout": 600_000}
    arguments = {"actions": [{"action": "wait_for", **never}], "timeout": 600_000} if "seq" in waiting else never
    modern.ok("start_browser", sessionId="a", navigationUrl=base)
    call = modern.begin(waiting, sessionId="a", **arguments)
    until(lambda: shared_home.tickets() == 1, "the call to run")
    assert call.cancel()
    assert modern.ok("execute_script", script="return document.title", sessionId="a")["value"] == "start"
    assert shared_home.tickets() == 0


def test_closing_a_session_answers_its_running_and_queued_calls(
    busy: tuple[Served, Future[Answer]], shared_home: Home
) -> None:  # W11 X23
    """close_session never queues: it, the running call and a waiting one are answered while the page still hangs."""
    server, running = busy
    waiting = server.begin("get_text", sessionId="a")
    until(lambda: shared_home.tickets() == 2, "two calls in the lane")
    assert server.ok("close_session", sessionId="a")["closed"] == ["a"]
    assert answered(running).code == "session_lost"
    assert "it was closed" in answered(running).text
    assert answered(waiting).code == "session_not_found"
    until(shared_home.is_clean, "a clean home")


def test_closing_a_starting_session_stops_its_start(server: Served, site: Site, shared_home: Home) -> None:  # W11 X23
    """Closing a starting session stops the start: both calls are answered, nothing is left, the name is free."""
    gate = site.gate("/slow")
    start = server.begin("start_browser", sessionId="a", navigationUrl=site.url("/slow"))
    gate.wait_entered()
    assert server.ok("close_session", sessionId="a")["closed"] == ["a"]
    assert answered(start).failed
    until(shared_home.is_clean, "nothing left of the start")
    assert server.ok("start_browser", sessionId="a")["state"] == "active"


def assert_apart(stamps: list[list[float]]) -> None:
    """Fail unless each call began after the end of the one before."""
    for before, after in pairwise(stamps):
        assert before[2] <= after[1], stamps
