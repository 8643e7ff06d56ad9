"""Going away and coming back: what a client leaves is parked, and is handed back as it was to whoever names it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.activity import entries
from tests.e2e.harness import Home, kill, runs, until
from tests.served import Served
from tests.site import Site

PAGE = """
<title>Form</title><style>body { height: 5000px }</style>
<label>Name <input id=name></label><label><input type=checkbox id=yes>Yes</label>
<button onclick="document.title = document.querySelector('#name').value">Send</button>
<iframe srcdoc="<label>Inner <input id=inner></label>"></iframe>
"""
GOING = ["end of input", "SIGTERM", "SIGINT", "SIGKILL"]
"""How a client, or whoever started the server, makes it go."""


@pytest.fixture
def base(site: Site) -> Iterator[str]:
    """A page with a form, a frame and room to scroll; `/held` is never answered."""
    site.page("/held", "held")
    site.page("/other", "<title>Other</title>")
    gate = site.gate("/held")
    yield site.page("/", PAGE)
    gate.open()


def leave(server: Served, how: str) -> None:
    """Have the server end in one of the ways but the end of input, which comes with the end of its block."""
    if how == "SIGKILL":
        kill(server.process)
    elif how != "end of input":
        server.process.send_signal(signal.Signals[how])
    if how != "end of input":
        until(lambda: not runs(server.process), "the end of the server")


def filled(server: Served, base: str) -> dict[str, Any]:
    """Work in a session until there is much that could get lost; what can be seen of it."""
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
    """What a client sees of the session that `filled` has left."""
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


@pytest.mark.parametrize("how", GOING)
def test_a_session_is_as_it_was(
    lasting: Home, era: str, base: str, how: str
) -> None:  # B1 B3 B4 B5 B6 B7 B8 B9 B22 B30 W33 W35 X42
    """However its server ended: page, tabs, frame, scroll, form, cookies and refs; the first result says it is back."""
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
        assert "a was parked for" in answer.text
        assert "is as it was" in " ".join(answer.data["events"])
        assert seen(second) == before
        assert "restored" not in second.ok("get_text", sessionId="a")
        assert second.ok("list_sessions")["sessions"][0]["state"] == "active"
        ref = dict(before["refs"])["Send"]
        second.ok("switch_frame")
        assert second.ok("click_element", selector=ref)["title"] == "Ann"
        done = {entry.action for entry in entries(lasting.folder, lasting.record("a"))}
        assert done >= ({"restore"} if how == "SIGKILL" else {"park", "restore"})
