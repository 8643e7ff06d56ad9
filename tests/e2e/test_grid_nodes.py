"""Nodes of a Selenium Grid that drain and die, and a hub that dies: each takes its own sessions with it alone."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from tests.e2e.harness import kill, until
from tests.e2e.stage import refused
from tests.grid_end import GridEnd, grid_end
from tests.served import Served

STATE = "return document.title"


def test_what_nodes_take_with_them(modern: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draining node keeps its sessions and gets no more; one that dies loses its own; then the hub loses all."""
    # With these a node tells that its screen can be watched, as those of docker-selenium do.
    for name in "XVFB", "VNC", "NO_VNC":
        monkeypatch.setenv(f"SE_START_{name}", "true")
    with grid_end(nodes=2, sessions=2, hub=["--healthcheck-interval", "1"]) as grid:
        where = {name: _start(modern, grid, name) for name in ("one", "two")}
        assert len(set(where.values())) == len(grid.nodes)
        row = modern.ok("list_sessions")["sessions"][0]
        assert row["remoteEnd"]["liveViewUrl"] == f"{grid.url}/ui/#/session/{row['remoteSessionId']}"
        _drain(grid, where["two"])
        assert _start(modern, grid, "three") == where["one"]
        assert modern.ok("execute_script", sessionId="two", script=STATE)["value"] == ""

        next(node for node in grid.nodes if node.url == where["one"]).kill()
        until(lambda: _listed(modern)["three"] == "lost", "a session that is told as lost without any call on it")
        for name in "one", "three":
            text = refused(modern.call("execute_script", sessionId=name, script=STATE), "session_lost")
            assert f"Session '{name}' is lost: the node of the Grid that it ran on is gone: " in text
        assert modern.ok("execute_script", sessionId="two", script=STATE)["value"] == ""

        until(lambda: _states(grid)[where["one"]] == "DOWN", "the hub to see that a node is dead")
        options = {"url": grid.url, "startTimeout": 2}
        answer = modern.call("start_session", provider="selenium_grid", platform="browser", options=options)
        assert "did not start within 2 s: place 1 of 1 in the Grid's queue" in refused(answer, "start_failed")

        kill(grid.hub)
        text = refused(modern.call("execute_script", sessionId="two", script=STATE), "session_lost")
        assert "Session 'two' is lost: the remote end is gone: " in text


def _start(server: Served, grid: GridEnd, name: str) -> str:
    """Start a session; the address of its node."""
    wanted: dict[str, Any] = {"provider": "selenium_grid", "platform": "browser", "options": {"url": grid.url}}
    return str(server.ok("start_session", sessionId=name, **wanted)["remoteEnd"]["nodeUrl"])


def _listed(server: Served) -> dict[str, str]:
    return {row["sessionId"]: row["state"] for row in server.ok("list_sessions")["sessions"]}


def _drain(grid: GridEnd, url: str) -> None:
    """Have a node finish what it has and take nothing more, as who runs a Grid does before an update."""
    request = urllib.request.Request(f"{url}/se/grid/node/drain", method="POST", headers={"X-REGISTRATION-SECRET": ""})  # noqa: S310 - our own
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).close()
    until(lambda: _states(grid)[url] == "DRAINING", "the node to drain")


def _states(grid: GridEnd) -> dict[str, str]:
    return {node["uri"]: node["availability"] for node in grid.status()["nodes"]}
