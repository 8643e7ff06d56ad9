"""Sessions with `options.private`: nothing but the driver reaches the browser, and what that costs."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from tests.e2e.harness import Home
from tests.servers.mcp import Served

pytestmark = pytest.mark.full

PAGE = "data:text/html,<title>Form</title><input id=name><button onclick='document.title=`Sent`'>Send</button>"
PRIVATE = {"private": True}
NEED_DEBUGGER = {"route": {"action": "block", "url": "*"}, "har": {"action": "start"}}


def ports(home: Home, session_id: str) -> list[int]:
    """Return the ports at which a session's browser can be reached."""
    browser = home.process(session_id, "browser")
    family = [browser, *browser.children(recursive=True)]
    found = [one for process in family for one in process.net_connections(kind="tcp")]
    return [one.laddr.port for one in found if one.status == psutil.CONN_LISTEN]


def refusal(server: Served, tool: str, **arguments: Any) -> str:
    """Return the text of a call that must be refused."""
    answer = server.call(tool, **arguments)
    assert answer.code in {"unsupported", "invalid_argument"}, answer.text
    return answer.text


def test_a_private_browser_listens_at_no_port_and_works(lasting: Home) -> None:
    """It is typed into, clicked, read, given tabs, saved, parked and restored; a usual one has the debugger's port."""
    with lasting.serve() as server:
        server.ok("start_browser", sessionId="usual")
        server.ok("start_browser", sessionId="p", navigationUrl=PAGE, options=PRIVATE)
        assert (len(ports(lasting, "usual")), ports(lasting, "p")) == (1, [])
        server.ok("set_value", selector="#name", value="Ann", sessionId="p")
        assert server.ok("click_element", selector="text=Send", sessionId="p")["title"] == "Sent"
        server.ok("tabs", action="new", url="about:blank", sessionId="p")
        server.ok("tabs", action="close", sessionId="p")
        server.ok("take_screenshot", sessionId="p")
        server.ok("save_storage_state", sessionId="p")
        pids = {process.pid for process in lasting.record("p").processes}
    with lasting.serve() as server:
        value = server.ok("execute_script", script="return document.querySelector('#name').value", sessionId="p")
        assert value["value"] == "Ann"
        assert {process.pid for process in lasting.record("p").processes} == pids


def test_what_needs_the_debugger_is_refused_with_that_reason(home: Home) -> None:
    """Routes, HAR, contexts, profiles, attached browsers and other browsers: before anything is started."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="p", options=PRIVATE)
        for tool, arguments in NEED_DEBUGGER.items():
            said = refusal(server, tool, sessionId="p", **arguments)
            assert "'p' is private: its browser has no debugger, which this needs. Start a session without" in said
        shared = refusal(server, "start_browser", sessionId="p:context")
        assert "'p:context' cannot share the browser of 'p': that is private, without a debugger" in shared
        recorded = refusal(server, "start_browser", options={**PRIVATE, "har": True})
        assert "a private browser has no debugger, which har and hars need" in recorded
        for arguments, reason in (
            ({"sessionId": "q:c"}, "contexts share a browser by its debugger"),
            ({"mode": "persistent"}, "a browser of mode persistent is reached by its debugger"),
            ({"browser": "firefox"}, "Firefox has no way to be driven without a port of its own: geckodriver"),
        ):
            assert reason in refusal(server, "start_browser", options=PRIVATE, **arguments)
        assert [record.id for record in home.records()] == ["p"]
