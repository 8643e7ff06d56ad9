"""Several servers over one store: they list the same sessions, take turns on them, and end only their own."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from typing import NamedTuple

import pytest

from tests.e2e.doors.test_shell import shell
from tests.e2e.harness import Home, answered, kill, succeed
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

STAMPED = """
const began = performance.timeOrigin + performance.now();
await fetch('/tick?n=' + args[0]);
return [args[0], began, performance.timeOrigin + performance.now()];
"""
MIXED = ("auto", "legacy")
"""The two clients of a test use the two eras of the protocol."""


class Pair(NamedTuple):
    """Two servers on one home, for all tests that leave them intact."""

    home: Home
    servers: tuple[Served, Served]


@pytest.fixture(scope="module")
def _pair(new_home: Callable[[], Home]) -> Iterator[Pair]:
    home = new_home()
    with home.serve(MIXED[0]) as first, home.serve(MIXED[1]) as second:
        yield Pair(home, (first, second))


@pytest.fixture
def pair(_pair: Pair) -> Iterator[Pair]:
    """The servers, without any session."""
    yield _pair
    _pair.servers[0].ok("close_sessions", all=True)
    assert _pair.home.records() == []


def ids(server: Served) -> list[str]:
    """Return the listed ids."""
    return [row["sessionId"] for row in server.ok("list_sessions")["sessions"]]


@pytest.fixture
def base(site: Site) -> str:
    """A page, and paths that scripts in it request."""
    site.page("/tick", "tick")
    site.page("/held", "held")
    return site.page("/", "<title>start</title><input id=name><button onclick='document.title += 1'>Go</button>")


def test_two_clients_of_a_namespace_see_each_others_sessions(pair: Pair, base: str) -> None:  # W17 O14
    """Both list all sessions, each with a current one of its own, and either works in the other's by name."""
    first, second = pair.servers
    first.ok("start_browser", sessionId="a", navigationUrl=base)
    assert ids(second) == ["a"]
    assert second.ok("list_sessions")["currentSession"] is None
    second.ok("start_browser", sessionId="b", navigationUrl=base)
    assert ids(first) == ids(second) == ["a", "b"]
    current = [server.ok("list_sessions")["currentSession"] for server in (first, second)]
    assert current == ["a", "b"]
    assert second.ok("click_element", selector="button", sessionId="a")["title"] == "start1"
    assert first.ok("click_element", selector="button", sessionId="a")["title"] == "start11"
    assert first.ok("expect", title="start", sessionId="b")


def test_each_client_has_its_own_current_session(pair: Pair) -> None:  # W19 W37 X8
    """Choosing another client's session changes nothing for that client, nor does closing one's own."""
    first, second = pair.servers
    first.ok("start_browser", sessionId="a")
    second.ok("start_browser", sessionId="b")
    second.ok("set_current_session", sessionId="a")
    assert first.ok("list_sessions")["currentSession"] == "a"
    assert second.ok("list_sessions")["currentSession"] == "a"
    first.ok("close_session")
    assert first.ok("list_sessions")["currentSession"] is None
    assert second.ok("list_sessions")["currentSession"] == "b"


def test_another_clients_session_is_never_used_without_its_id(pair: Pair, base: str) -> None:  # W23 O1
    """Sessions of another client are no default: navigate starts a session, other tools name the open ids."""
    first, second = pair.servers
    first.ok("start_browser", sessionId="a")
    answer = second.call("get_text")
    assert answer.code == "no_session"
    assert "Open sessions: a." in answer.text
    assert second.ok("navigate", url=base)["session"]["sessionId"] == "browser-1"
    assert first.ok("list_sessions")["currentSession"] == "a"


@pytest.mark.required
def test_close_all_sessions_spares_other_clients_and_close_sessions_all_does_not(pair: Pair) -> None:  # W12 X25
    """close_all_sessions leaves the other client's sessions alone; close_sessions by all closes the namespace's."""
    first, second = pair.servers
    first.ok("start_browser", sessionId="a")
    second.ok("start_browser", sessionId="b")
    assert first.ok("close_all_sessions")["closed"] == ["a"]
    assert ids(first) == ["b"]
    assert first.ok("close_all_sessions")["closed"] == []
    assert first.ok("close_sessions", all=True)["closed"] == ["b"]
    assert second.call("get_text", sessionId="b").code == "session_not_found"
    until(pair.home.is_clean, "a clean home")


@pytest.mark.parametrize("end", ["EOF", "SIGTERM"])
def test_a_clients_sessions_survive_another_clients_end(home: Home, base: str, end: str) -> None:  # W1
    """The first client's end ends its own sessions; the second one's live on, the running call included."""
    with home.serve(MIXED[1]) as second:
        second.ok("start_browser", sessionId="b", navigationUrl=base)
        with home.serve(MIXED[0]) as first:
            first.ok("start_browser", sessionId="a", navigationUrl=base)
            assert first.ok("get_text", sessionId="b")
            running = second.begin("wait_for", title="go on", timeout=600_000, sessionId="b")
            until(lambda: home.tickets() == 1, "the call to run")
            if end == "SIGTERM":
                first.process.terminate()
        assert ids(second) == ["b"]
        assert len(home.folders()) == 1
        assert not running.done()
        running.cancel()
        second.ok("set_value", selector="#name", value="still here", sessionId="b")
        assert second.ok("expect", selector="#name", value="still here", sessionId="b")


def test_sessions_of_a_killed_server_can_be_used_by_another_one(home: Home, base: str) -> None:  # W1
    """SIGKILL of one server: the other one continues, and works in the sessions left behind."""
    with home.serve() as second:
        second.ok("start_browser", sessionId="b", navigationUrl=base)
        with home.serve(park_ttl="100") as first:
            first.ok("start_browser", sessionId="a", navigationUrl=base)
            kill(first.process)
        assert ids(second) == ["b", "a"]
        assert second.ok("click_element", selector="button", sessionId="a")["title"] == "start1"
        assert second.ok("click_element", selector="button", sessionId="b")["title"] == "start1"
        assert second.ok("close_session", sessionId="a")["closed"] == ["a"]


def test_of_two_servers_starting_one_session_id_exactly_one_succeeds(pair: Pair) -> None:  # W49 X22
    """Two servers start one id at once: one succeeds, the other gets session_exists, one browser runs."""
    first, second = pair.servers
    for name in ("one", "two", "three"):
        calls = [server.begin("start_browser", sessionId=name) for server in (first, second)]
        answers = [answered(call) for call in calls]
        assert sorted(answer.code for answer in answers) == ["", "session_exists"]
    assert ids(first) == ["one", "two", "three"]
    assert len(pair.home.folders()) == 3


def test_two_servers_of_a_namespace_give_out_different_session_ids(pair: Pair) -> None:  # W16
    """Automatic ids are counted for the namespace: servers that start at once get different ones."""
    first, second = pair.servers
    calls = [server.begin("start_browser") for server in (first, second, first, second)]
    started = [answered(call).data["sessionId"] for call in calls]
    assert sorted(started) == ["browser-1", "browser-2", "browser-3", "browser-4"]


def test_calls_of_two_servers_on_one_session_never_overlap(pair: Pair, site: Site, base: str) -> None:  # F12 W26
    """Both send without waiting: no two calls overlap, and the calls of each client keep their order."""
    first, second = pair.servers
    first.ok("start_browser", sessionId="a", navigationUrl=base)
    calls = [
        server.begin("execute_script", script=STAMPED, args=[f"{name}{number}"], sessionId="a")
        for number in range(8)
        for name, server in (("x", first), ("y", second))
    ]
    stamps = sorted((answered(call).data["value"] for call in calls), key=lambda stamp: float(stamp[1]))
    for before, after in pairwise(stamps):
        assert before[2] <= after[1], stamps
    order = [visit.query["n"] for visit in site.visits("/tick")]
    assert order == [stamp[0] for stamp in stamps]
    for name in ("x", "y"):
        assert [one for one in order if one[0] == name] == [f"{name}{number}" for number in range(8)]


def test_calls_of_two_servers_on_one_session_run_in_order_of_arrival(
    pair: Pair, site: Site, base: str
) -> None:  # F12 W27
    """Calls that two servers send to one session in turns run in exactly that order."""
    gate = site.gate("/held")
    first, second = pair.servers
    first.ok("start_browser", sessionId="a", navigationUrl=base)
    calls = [first.begin("execute_script", script="await fetch('/held')", sessionId="a")]
    gate.wait_entered()
    for number, server in enumerate((second, first, second, second, first, first)):
        calls.append(server.begin("execute_script", script=STAMPED, args=[number], sessionId="a"))
        until(lambda: pair.home.tickets() == len(calls), "the call to stand in the lane")
    gate.open()
    succeed(calls)
    assert [visit.query["n"] for visit in site.visits("/tick")] == list("012345")


def test_calls_of_two_servers_on_two_sessions_overlap(pair: Pair, site: Site) -> None:  # X9 F13
    """Two servers each load a page that is answered only when both requests have arrived."""
    url = site.meeting("/meeting", parties=2)
    first, second = pair.servers
    for name in ("a", "b"):
        first.ok("start_browser", sessionId=name)
    calls = [first.begin("navigate", url=url, sessionId="a"), second.begin("navigate", url=url, sessionId="b")]
    assert [answered(call).data["title"] for call in calls] == ["met", "met"]


def test_closing_a_session_answers_another_servers_running_and_waiting_calls(
    pair: Pair, site: Site, base: str
) -> None:  # W11 X23
    """A server closes a session in which the other one works and waits: both calls are answered, nothing hangs."""
    gate = site.gate("/held")
    first, second = pair.servers
    first.ok("start_browser", sessionId="a", navigationUrl=base)
    running = second.begin("execute_script", script="await fetch('/held')", sessionId="a")
    gate.wait_entered()
    waiting = second.begin("get_text", sessionId="a")
    until(lambda: pair.home.tickets() == 2, "both calls in the lane")
    assert first.ok("close_session", sessionId="a")["closed"] == ["a"]
    assert answered(running).code == "session_lost"
    assert answered(waiting).code == "session_not_found"
    until(pair.home.is_clean, "a clean home")
    gate.open()


def test_a_session_in_use_by_another_server_is_not_idle(pair: Pair, site: Site, base: str) -> None:  # X26 B36
    """Closing idle sessions spares one in which another server's call runs."""
    gate = site.gate("/held")
    first, second = pair.servers
    first.ok("start_browser", sessionId="a", navigationUrl=base)
    running = second.begin("execute_script", script="await fetch('/held'); return 1", sessionId="a")
    gate.wait_entered()
    assert first.ok("close_sessions", idleMs=0)["closed"] == []
    gate.open()
    assert answered(running).data["value"] == 1
    assert first.ok("close_sessions", idleMs=0)["closed"] == ["a"]


def test_an_unreadable_record_affects_its_own_session_alone(pair: Pair) -> None:  # W13 W11 W49
    """Other sessions continue, the list warns of the record, and closing its session ends the recorded processes."""
    first, second = pair.servers
    for name in ("a", "odd"):
        first.ok("start_browser", sessionId=name)
    with closing(sqlite3.connect(pair.home.folder / "sessions.db")) as db:
        db.execute("UPDATE sessions SET record = json_set(record, '$.tomorrow', 1) WHERE id = 'odd'")
        db.commit()
    assert ids(second) == ["a"]
    [warning] = second.ok("list_sessions")["warnings"]
    shown = shell(pair.home, "list").stdout
    assert f"Warning: {warning}\n" in shown
    assert shown.startswith("a: ")
    assert second.ok("get_text", sessionId="a")
    for tool in ("get_text", "start_browser"):
        answer = second.call(tool, sessionId="odd")
        assert answer.code == "session_lost"
        assert warning in answer.text
    second.ok("start_browser", sessionId="b")
    assert second.ok("close_session", sessionId="odd") == {"closed": ["odd"], "detached": [], "failed": []}
    assert second.call("get_text", sessionId="odd").code == "session_not_found"
    until(lambda: len(pair.home.folders()) == 2, "the end of what the record named")


STANDSTILL = 1.5
"""Seconds of a standstill after which a server looks whether the session is still its own."""
LOGS = "document.title += ' ' + args[0]"


def test_a_server_that_stood_still_stops_when_another_one_has_taken_over(
    pair: Pair, site: Site, base: str
) -> None:  # F12
    """Nothing of the first server's sequence runs between the steps of the second one's, and its error says why."""
    (first, second), home = pair.servers, pair.home
    site.page("/second", "second")
    gates = site.gate("/held"), site.gate("/second")
    first.ok("start_browser", sessionId="a", navigationUrl=base)
    before = first.begin("execute_sequence", sessionId="a", timeout=60_000, actions=steps("A1", "/held", "A2"))
    gates[0].wait_entered()
    first.process.suspend()
    since = time.monotonic()
    try:
        with closing(sqlite3.connect(home.folder / "sessions.db")) as db, db:
            db.execute("UPDATE tickets SET beat = beat - 40")  # as if it had stood still for so long
        after = second.begin("execute_sequence", sessionId="a", timeout=60_000, actions=steps("B1", "/second", "B2"))
        gates[0].open()
        gates[1].wait_entered()
        until(lambda: time.monotonic() > since + STANDSTILL, "the first server's standstill")
    finally:
        first.process.resume()
    stopped = answered(before)
    gates[1].open()
    succeed([after])
    assert (stopped.code, stopped.data["error"]["retryable"]) == ("remote_error", True)
    assert "Session 'a': another server took over while this one stood still; the call was stopped." in stopped.text
    assert stopped.data["error"]["completed"] in {1, 2}  # the held one, if nothing more of it was to be sent
    assert second.ok("execute_script", sessionId="a", script="return document.title")["value"] == "start A1 B1 B2"


def steps(before: str, path: str, after: str) -> list[dict[str, object]]:
    """Write a word into the page's title, wait for a path of the site, and write another one."""
    return [
        {"action": "execute_script", "script": LOGS, "args": [before]},
        {"action": "execute_script", "script": "await fetch(args[0])", "args": [path]},
        {"action": "execute_script", "script": LOGS, "args": [after]},
    ]
