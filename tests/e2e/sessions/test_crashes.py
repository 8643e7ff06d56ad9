"""Sudden deaths of browsers, drivers and servers: waiting callers get an error, and survivors can be used."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psutil
import pytest

from tests.e2e.harness import Home, answered, in_time, kill, runs
from tests.full_cases import every_other_full
from tests.servers.mcp import Answer, Served, served
from tests.servers.site import Site
from tests.waiting import PATIENCE, until

TOLD_WITHIN = 2.0
"""Seconds from a kill to the answer, as the contract demands."""
VICTIMS = ("chromium", "chromedriver")
FORM = """
<title>Form</title><label>Name <input id=name></label><label><input type=checkbox id=yes>Yes</label>
<button onclick="document.title = document.querySelector('#name').value">Send</button>
"""
RUNNING: dict[str, tuple[str, dict[str, Any]]] = {
    "a script": ("execute_script", {"script": "await fetch('/held')"}),
    "a page load": ("navigate", {"url": "/held"}),
    "a wait": ("wait_for", {"selector": "#never", "timeout": 600_000}),
    "a click": ("click_element", {"selector": "#never", "timeout": 600_000}),
    "a sequence": (
        "execute_sequence",
        {"actions": [{"action": "wait_for", "selector": "#never", "timeout": 600_000}], "timeout": 600_000},
    ),
}
"""Calls that never end by themselves."""


class Killed(NamedTuple):
    """The answer of a call whose browser or driver was killed, and the seconds until it came."""

    answer: Answer
    seconds: float


@pytest.fixture
def base(site: Site) -> Iterator[str]:
    """A page with a form; `/held` is never answered."""
    site.page("/held", "held")
    gate = site.gate("/held")
    yield site.page("/", FORM)
    gate.open()


@pytest.fixture
def kill_in_mid_call(modern: Served, shared_home: Home, site: Site, base: str) -> Callable[[str, str], Killed]:
    """Kill browser or driver during a call."""

    def run(victim: str, what: str) -> Killed:
        tool, arguments = RUNNING[what]
        arguments = {**arguments, **({"url": site.url("/held")} if tool == "navigate" else {})}
        modern.ok("start_browser", sessionId="a", navigationUrl=base)
        running = modern.begin(tool, sessionId="a", **arguments)
        until(lambda: shared_home.tickets() == 1, "the call to run")
        if "/held" in str(arguments):
            site.gate("/held").wait_entered()
        killed = kill(shared_home.process("a", victim))
        answer = answered(running)
        return Killed(answer, time.monotonic() - killed)

    return run


@pytest.mark.parametrize("what", every_other_full(RUNNING))
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_browser_or_driver_killed_in_mid_call_is_session_lost(
    kill_in_mid_call: Callable[[str, str], Killed], victim: str, what: str
) -> None:
    """SIGKILL of browser or driver: the running call answers session_lost, and says what to do."""
    answer = kill_in_mid_call(victim, what).answer
    assert answer.code == "session_lost", answer.text
    assert answer.data["error"]["sessionId"] == "a"
    assert "close_session" in answer.text


@pytest.mark.clock
@pytest.mark.parametrize("what", RUNNING)
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_in_mid_call_is_answered_within_two_seconds(
    kill_in_mid_call: Callable[[str, str], Killed], victim: str, what: str
) -> None:
    """SIGKILL of browser or driver: the running call has its answer within two seconds."""
    assert kill_in_mid_call(victim, what).seconds < in_time(TOLD_WITHIN)


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_lost_session_can_be_closed_and_started_again(
    server: Served, shared_home: Home, base: str, victim: str
) -> None:  # W11 W49 X22 O12
    """A lost session keeps its name and answers session_lost until it is closed; then the name is free."""
    server.ok("start_browser", sessionId="a", navigationUrl=base)
    running = server.begin("wait_for", selector="#never", timeout=600_000, sessionId="a")
    waiting = server.begin("get_text", sessionId="a")
    until(lambda: shared_home.tickets() == 2, "both calls in the lane")
    kill(shared_home.process("a", victim))
    assert [answered(call).code for call in (running, waiting)] == ["session_lost"] * 2
    assert server.call("get_text", sessionId="a").code == "session_lost"
    (row,) = server.ok("list_sessions")["sessions"]
    assert (row["sessionId"], row["state"]) == ("a", "lost")
    exists = server.call("start_browser", sessionId="a")
    assert exists.code == "session_exists"
    assert "lost" in exists.text
    assert server.ok("close_session", sessionId="a") == {"closed": ["a"], "detached": [], "failed": []}
    until(shared_home.is_clean, "a clean home")
    assert server.ok("close_session", sessionId="a")["closed"] == []
    assert server.ok("start_browser", sessionId="a", navigationUrl=base)["state"] == "active"
    assert server.ok("expect", title="Form", sessionId="a")


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_between_calls_is_reported_by_the_next_call(modern: Served, shared_home: Home, victim: str) -> None:
    """The call after the death of browser or driver answers session_lost."""
    answer = _kill_between_calls(modern, shared_home, victim).answer
    assert answer.code == "session_lost", answer.text


@pytest.mark.clock
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_between_calls_is_reported_within_two_seconds(modern: Served, shared_home: Home, victim: str) -> None:
    """The call after the death of browser or driver has its answer within two seconds."""
    assert _kill_between_calls(modern, shared_home, victim).seconds < in_time(TOLD_WITHIN)


@pytest.mark.parametrize("victim", VICTIMS)
def test_list_sessions_shows_a_session_lost_between_calls(
    modern: Served, shared_home: Home, victim: str
) -> None:  # W17 O15 W34
    """Listing checks the sessions in the background: soon the dead one is lost, the other one is not."""
    modern.ok("start_browser", sessionId="dead")
    modern.ok("start_browser", sessionId="alive")
    kill(shared_home.process("dead", victim))
    until(lambda: _states(modern) == {"dead": "lost", "alive": "active"}, "the dead session to be seen as lost")


def test_a_killed_browser_does_not_affect_another_session(
    modern: Served, shared_home: Home, site: Site, base: str
) -> None:
    """A killed browser of one session does not affect the running call of another."""
    for name in ("a", "b"):
        modern.ok("start_browser", sessionId=name, navigationUrl=base)
    running = modern.begin("execute_script", script="await fetch('/held'); return 'fine'", sessionId="b")
    site.gate("/held").wait_entered()
    kill(shared_home.process("a", "chromium"))
    assert modern.call("get_text", sessionId="a").code == "session_lost"
    site.gate("/held").open()
    assert answered(running).data["value"] == "fine"


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_during_a_start_fails_the_start(
    modern: Served, shared_home: Home, site: Site, victim: str
) -> None:  # X22
    """The start answers start_failed, nothing of it is left, its name is free."""
    gate = site.gate("/slow")
    start = modern.begin("start_browser", sessionId="a", navigationUrl=site.url("/slow"))
    gate.wait_entered()
    kill(shared_home.process("a", victim))
    answer = answered(start)
    assert answer.code == "start_failed", answer.text
    until(shared_home.is_clean, "nothing left of the start")
    gate.open()
    assert modern.ok("start_browser", sessionId="a")["state"] == "active"


@pytest.mark.full
def test_a_driver_that_stops_answering_counts_as_lost(home: Home, base: str) -> None:  # W11 O12 O20 X23 W34
    """Every call is bounded by the command deadline; a session that no longer answers can be closed all the same."""
    with home.serve(command_timeout="8") as server:
        for name in ("a", "b"):
            server.ok("start_browser", sessionId=name, navigationUrl=base)
        home.process("a", "chromedriver").suspend()
        running = server.begin("get_text", sessionId="a")
        waiting = server.begin("get_text", sessionId="a")
        assert server.ok("expect", title="Form", sessionId="b")
        assert [answered(call).code for call in (running, waiting)] == ["session_lost"] * 2
        assert "did not answer within 8 s" in answered(running).text
        assert server.ok("close_session", sessionId="a") == {"closed": ["a"], "detached": [], "failed": []}
        assert [record.id for record in home.records()] == ["b"]
        assert len(home.folders()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="psutil sets the limits of another process on Linux")
def test_a_server_without_an_open_file_left_loses_no_session(home: Home, base: str) -> None:  # W11
    """What the server lacks is not the death of its sessions: they are used on when there are files again."""
    with home.serve(command_timeout="30") as server:
        for name in ("a", "b"):
            server.ok("start_browser", sessionId=name, navigationUrl=base)
        before = server.process.rlimit(psutil.RLIMIT_NOFILE)
        server.process.rlimit(psutil.RLIMIT_NOFILE, (3, before[1]))
        server.ok("list_sessions")  # which asks the sessions for a sign of life soon
        waits = [server.begin("wait_for", selector="#never", timeout=3_000, sessionId=name) for name in ("a", "b")]
        assert "session_lost" not in [answered(wait).code for wait in waits]
        server.process.rlimit(psutil.RLIMIT_NOFILE, before)
        assert [row["state"] for row in server.ok("list_sessions")["sessions"]] == ["active", "active"]
        for name in ("a", "b"):
            assert server.ok("expect", title="Form", sessionId=name)


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit is a program of Linux")
def test_the_server_raises_its_limit_of_open_files(home: Home) -> None:
    """A shell's soft limit of 1,024 would do for ninety sessions: the server takes what it may have."""
    command = ("prlimit", "--nofile=256:4096")
    with served("auto", (), sys.stderr, "mcp", None, (), command, home=str(home.folder)) as server:
        server.ok("list_sessions")
        assert server.process.rlimit(psutil.RLIMIT_NOFILE) == (4096, 4096)


def test_a_ref_is_never_reused_by_the_next_server(lasting: Home, base: str) -> None:  # W50 X5 X42
    """The counter of refs is in the record: an element named by a later server gets a new number."""
    with lasting.serve() as first:
        first.ok("start_browser", sessionId="a", navigationUrl=base)
        before = {one["ref"] for one in first.ok("get_visible_elements", format="json")["elements"]}
        _die(first.process)
    with lasting.serve() as second:
        second.ok("navigate", url=base)
        after = {one["ref"] for one in second.ok("get_visible_elements", format="json")["elements"]}
        assert before
        assert not before & after
        assert second.call("click_element", selector=min(before), timeout=0).code == "stale_ref"


def test_a_server_that_dies_in_mid_call_leaves_a_usable_session(lasting: Home, site: Site, base: str) -> None:  # F12
    """The lane of a dead server is freed: the next server's call runs once the page is free."""
    with lasting.serve() as first:
        first.ok("start_browser", sessionId="a", navigationUrl=base)
        running = first.begin("execute_script", script="await fetch('/held')", sessionId="a")
        site.gate("/held").wait_entered()
        _die(first.process)
        assert running.exception(PATIENCE) or answered(running).failed
    with lasting.serve() as second:
        site.gate("/held").open()
        assert second.ok("execute_script", script="return document.title")["value"] == "Form"


@pytest.mark.full
def test_a_session_whose_server_died_in_mid_start_is_lost_and_can_be_closed(home: Home, site: Site) -> None:  # X22 O12
    """The session is lost, not stuck; closing it ends its browser and frees its name."""
    gate = site.gate("/slow")
    site.page("/slow", "<title>slow</title>")
    with home.serve(park_ttl="100") as first:
        first.begin("start_browser", sessionId="a", navigationUrl=site.url("/slow"))
        gate.wait_entered()
        _die(first.process)
    gate.open()
    with home.serve() as second:
        assert second.ok("list_sessions")["sessions"][0]["state"] == "lost"
        assert second.call("get_text", sessionId="a").code == "session_lost"
        assert second.ok("close_session", sessionId="a")["closed"] == ["a"]
        until(home.is_clean, "a clean home")
        second.ok("start_browser", sessionId="a")


def test_several_adopted_sessions_leave_none_current(lasting: Home) -> None:  # W19
    """A server that adopts two sessions owns both; a call must name one."""
    with lasting.serve() as first:
        first.ok("start_browser", sessionId="a")
        first.ok("start_browser", sessionId="b")
        _die(first.process)
    with lasting.serve() as second:
        assert second.ok("list_sessions")["currentSession"] is None
        answer = second.call("navigate", url="about:blank")
        assert answer.code == "no_session"
        assert "Open sessions: a, b." in answer.text
        assert second.ok("close_all_sessions")["closed"] == ["a", "b"]


def _kill_between_calls(server: Served, home: Home, victim: str) -> Killed:
    server.ok("start_browser", sessionId="a")
    kill(home.process("a", victim))
    asked = time.monotonic()
    answer = server.call("get_text", sessionId="a")
    return Killed(answer, time.monotonic() - asked)


def _states(server: Served) -> dict[str, str]:
    return {row["sessionId"]: row["state"] for row in server.ok("list_sessions")["sessions"]}


def _die(server: psutil.Process) -> None:
    kill(server)
    until(lambda: not runs(server), "the server to be gone")
