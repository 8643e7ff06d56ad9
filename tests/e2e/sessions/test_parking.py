"""Parking and restoring: sessions that a client leaves are parked, and restored unchanged for a later caller."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from orchestrator.sessions.store.leases import NOBODY_CAME
from orchestrator.system.activity import entries
from tests.e2e.harness import Home, answered, kill, runs
from tests.full_cases import every_other_full
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

PAGE = """
<title>Form</title><style>body { height: 5000px }</style>
<label>Name <input id=name></label><label><input type=checkbox id=yes>Yes</label>
<button onclick="document.title = document.querySelector('#name').value">Send</button>
<iframe srcdoc="<label>Inner <input id=inner></label>"></iframe>
"""
GOING = ["end of input", "SIGTERM", "SIGKILL"]
"""Ways in which the server ends."""


@pytest.fixture
def base(site: Site) -> Iterator[str]:
    """A page with a form, a frame and room to scroll; `/held` is never answered."""
    site.page("/held", "held")
    site.page("/other", "<title>Other</title>")
    gate = site.gate("/held")
    yield site.page("/", PAGE)
    gate.open()


def leave(server: Served, how: str) -> None:
    """End the server by a signal; end of input happens at the end of its block."""
    if how == "SIGKILL":
        kill(server.process)
    elif how != "end of input":
        server.process.send_signal(signal.Signals[how])
    if how != "end of input":
        until(lambda: not runs(server.process), "the end of the server")


def filled(server: Served, base: str) -> dict[str, Any]:
    """Create state in a session that could get lost; return its visible part."""
    server.ok("start_browser", sessionId="a", navigationUrl=base)
    server.ok("set_value", selector="#name", value="Ann", sessionId="a")
    server.ok("set_value", selector="#yes", value="true", sessionId="a")
    server.ok("execute_script", script="document.cookie = 'k=v'; self.mark = 42; scrollTo(0, 700)", sessionId="a")
    server.ok("tabs", action="new", url=f"{base}other", sessionId="a")
    server.ok("tabs", action="select", tab="t1", sessionId="a")
    server.ok("switch_frame", selector="iframe", sessionId="a")
    server.ok("set_value", selector="#inner", value="deep", sessionId="a")
    return seen(server)


def seen(server: Served) -> dict[str, Any]:
    """Return the visible state of the session that `filled` made."""
    inner = server.ok("execute_script", script="return document.querySelector('#inner').value", sessionId="a")
    server.ok("switch_frame", sessionId="a")
    script = "return [location.href, document.cookie, self.mark, scrollY, document.querySelector('#yes').checked]"
    page = server.ok("execute_script", script=script, sessionId="a")["value"]
    elements = server.ok("get_visible_elements", scope="page", format="json", sessionId="a")["elements"]
    tabs = server.ok("tabs", action="list", sessionId="a")["tabs"]
    server.ok("switch_frame", selector="iframe", sessionId="a")
    return {
        "inner": inner["value"],
        "page": page,
        "refs": [(one["name"], one["ref"]) for one in elements],
        "tabs": tabs,
    }


@pytest.mark.parametrize("how", every_other_full(GOING))
def test_a_parked_session_is_restored_as_it_was(
    lasting: Home, era: str, base: str, how: str
) -> None:  # B3 B4 B6 B7 B8 B9 B22 B30 W33 B17 B19 B20 B23 X41
    """A restored session has its page, tabs, frame, scroll, form, cookies and refs, however its server ended."""
    with lasting.serve(era) as first:
        before = filled(first, base)
        remote = lasting.record("a").remote_session_id
        leave(first, how)
    with lasting.serve(era) as second:
        listed = second.ok("list_sessions")
        assert listed["currentSession"] == "a"
        (row,) = listed["sessions"]
        assert (row["state"], row["url"], row["remoteSessionId"]) == ("parked", base, remote)
        assert row["parkedUntil"] > row["lastActiveAt"]
        answer = second.call("execute_script", script="return document.querySelector('#inner').value")
        assert answer.data["value"] == "deep"
        assert answer.data["restored"] is True
        assert re.search("Event: a was parked for .* and restored", answer.text)
        assert seen(second) == before
        assert "restored" not in second.ok("get_text", sessionId="a")
        assert second.ok("list_sessions")["sessions"][0]["state"] == "active"
        ref = dict(before["refs"])["Send"]
        second.ok("switch_frame")
        assert second.ok("click_element", selector=ref)["title"] == "Ann"
        done = {entry.action for entry in entries(lasting.folder, lasting.record("a"))}
        assert done >= ({"restore"} if how == "SIGKILL" else {"park", "restore"})


def test_sessions_of_a_killed_server_end_after_park_ttl_without_any_server(
    home: Home, base: str
) -> None:  # B34 O12 B14 X40
    """A busy and an idle session outlive their killed server, and end when no caller comes back in time."""
    names = ["busy", "idle"]
    with home.serve(park_ttl="5") as server:
        for name in names:
            server.ok("start_browser", sessionId=name, navigationUrl=base)
        server.begin("execute_script", script="await fetch('/held')", sessionId="busy")
        until(lambda: home.tickets() == 1, "the call to run")
        drivers = [home.process(name, "chromedriver") for name in names]
        leave(server, "SIGKILL")
        assert all(map(runs, drivers))
    until(lambda: not home.records(), "the end of both")
    for record in home.closed():
        assert record.lost_reason == NOBODY_CAME
        assert (record.parked_until or 0) - (record.parked_at or 0) == pytest.approx(5)
    assert [record.id for record in home.closed()] == names
    until(home.is_clean, "the end of their browsers, drivers and profiles")


@pytest.mark.full
def test_a_leaving_server_parks_working_sessions_and_ends_starting_or_lost_ones(
    lasting: Home, site: Site, base: str
) -> None:  # B3 B4 O12 B30
    """A server at the end of its input parks a busy session and ends a starting one and a lost one."""
    slow = site.gate("/slow")
    with lasting.serve() as server:
        for name in ("busy", "lost"):
            server.ok("start_browser", sessionId=name, navigationUrl=base)
        server.begin("execute_script", script="await fetch('/held'); self.done = true", sessionId="busy")
        server.begin("start_browser", sessionId="starting", navigationUrl=site.url("/slow"))
        site.gate("/held").wait_entered()
        slow.wait_entered()
        kill(lasting.process("lost", "chromedriver"))
        assert server.call("get_text", sessionId="lost").code == "session_lost"
    assert [(record.id, record.state) for record in lasting.records()] == [("busy", "parked")]
    assert len(lasting.folders()) == 1
    slow.open()
    site.gate("/held").open()
    with lasting.serve() as server:
        assert server.ok("wait_for", url=base, sessionId="busy")["restored"] is True
        assert server.ok("execute_script", script="return self.done", sessionId="busy")["value"] is True


def test_two_servers_share_a_parked_session_that_is_restored_once(lasting: Home, base: str) -> None:  # B2
    """Calls from two servers restore a parked session once; the first server of the namespace owns it."""
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="a", navigationUrl=base)
    with ExitStack() as stack:
        first = stack.enter_context(lasting.serve())
        first.ok("list_sessions")  # it is open, and owns the session, before the other one starts
        second = stack.enter_context(lasting.serve())
        calls = [one.begin("get_text", selector="label", sessionId="a") for one in (second, first, second, first)]
        answers = [answered(call) for call in calls]
        assert [answer.data["text"] for answer in answers] == ["Name"] * 4
        assert [answer.data.get("restored") for answer in answers].count(True) == 1
        assert second.ok("close_all_sessions")["closed"] == []
        assert first.ok("close_all_sessions")["closed"] == ["a"]
