"""The activity log of a session can be read afterwards, even without a running server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.system.activity import entries
from tests.e2e.doors.test_shell import shell
from tests.e2e.harness import NAMESPACE, Home, kill
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

LOGIN = "<title>Login</title><label>User<input></label><label>Password<input type=password></label><button>Go</button>"


def logged_entries(home: Home, name: str) -> list[dict[str, Any]]:
    """Return the JSON output of `orchestrator log`."""
    return list(json.loads(shell(home, "log", name, "--json").stdout)["entries"])


def test_the_activity_log_lists_every_call_and_step_with_its_outcome(home: Home, site: Site) -> None:  # W33
    """Calls and steps are logged with their outcome; a closed session's log is read without a server."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="ann", navigationUrl=site.page("/", LOGIN))
        server.ok("set_value", selector="label=Password", value="pw1")
        assert server.call("click_element", selector="#none", timeout=50).failed
        steps = [
            {"action": "set_value", "selector": "label=User", "value": "ann"},
            {"action": "sync", "name": "ready"},
            {"action": "click_element", "selector": "#none", "timeout": 50, "optional": True},
        ]
        server.ok("execute_sequence", actions=steps)
        server.ok("close_session", sessionId="ann")
        pid = server.process.pid
    found = logged_entries(home, "ann")
    assert [(one.get("step"), one["action"], one.get("error", "ok")) for one in found] == [
        (None, "start", "ok"),
        (None, "navigate", "ok"),
        (None, "set_value", "ok"),
        (None, "click_element", "element_not_found"),
        (None, "execute_sequence", "ok"),
        (0, "set_value", "ok"),
        (1, "sync", "ok"),
        (2, "click_element", "element_not_found"),
        (None, "close", "ok"),
    ]
    assert {(one["door"], one["pid"]) for one in found} == {("mcp", pid)}
    head, *rows = shell(home, "log", "ann").stdout.splitlines()
    assert head.split() == ["TIME", "CALLER", "ACTION", "TOOK", "RESULT"]
    assert rows[-1].endswith("ok: it was closed")
    assert "pw1" not in "".join(path.read_text() for path in (home.folder / "logs").rglob("*.jsonl"))
    assert "No session: ben." in shell(home, "log", "ben").stderr


def test_the_activity_log_records_a_failed_start_and_a_lost_session(modern: Served, shared_home: Home) -> None:  # W33
    """A failed start and a loss between two calls are entries of the log."""
    assert modern.call("start_browser", sessionId="bad", navigationUrl="http://127.0.0.1:1/").failed
    modern.ok("start_browser", sessionId="ann")
    record, browser = shared_home.record("ann"), shared_home.process("ann", "chrome")
    kill(browser)
    until(lambda: modern.ok("list_sessions")["sessions"][0]["state"] == "lost", "the loss")
    until(lambda: entries(shared_home.folder, record)[-1].action == "lost", "its entry")
    assert (entries(shared_home.folder, record)[-1].error, record.namespace) == ("session_lost", NAMESPACE)
    assert logged_entries(shared_home, "bad")[0]["error"] == "start_failed"
