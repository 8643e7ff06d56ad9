"""Nodes of a Selenium Grid that end what nobody uses, drain and die, and a hub that dies: whose sessions go with it."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home, kill, until
from tests.e2e.stage import refused
from tests.grid_end import GridEnd, grid_end
from tests.served import Served

STATE = "return document.title"


@pytest.fixture(scope="module")
def frail() -> Iterator[GridEnd]:
    """A Grid of two nodes with two slots each, which end a session that is unused for 10 s."""
    with pytest.MonkeyPatch.context() as environment:
        # With these a node tells that its screen can be watched, as those of docker-selenium do.
        for name in "XVFB", "VNC", "NO_VNC":
            environment.setenv(f"SE_START_{name}", "true")
        with grid_end(session_timeout=10, hub=["--healthcheck-interval", "1"]) as grid:
            yield grid


def test_what_is_heard_of_is_kept(modern: Served, shared_home: Home, frail: GridEnd) -> None:
    """A node ends a session of somebody else's that nobody uses for its session timeout, and not ours meanwhile."""
    _start(modern, frail, "thinks")
    assert shared_home.record("thinks").keep_alive == 10
    used = shared_home.record("thinks").last_active_at
    theirs = frail.start()
    until(lambda: theirs not in frail.sessions(), "the node to end what is not used")
    assert frail.sessions() == [shared_home.record("thinks").remote_session_id]
    assert shared_home.record("thinks").last_active_at == used
    assert modern.ok("execute_script", sessionId="thinks", script="return 'I am'")["value"] == "I am"


def test_what_nodes_take_with_them(modern: Served, frail: GridEnd) -> None:
    """A draining node keeps its sessions and gets no more; one that dies loses its own; then the hub loses all.

    The last one here: nothing is left of the Grid.
    """
    where = {name: _start(modern, frail, name) for name in ("one", "two")}
    assert len(set(where.values())) == len(frail.nodes)
    row = modern.ok("list_sessions")["sessions"][0]
    assert row["remoteEnd"]["liveViewUrl"] == f"{frail.url}/ui/#/session/{row['remoteSessionId']}"
    _drain(frail, where["two"])
    assert _start(modern, frail, "three") == where["one"]
    assert modern.ok("execute_script", sessionId="two", script=STATE)["value"] == ""

    next(node for node in frail.nodes if node.url == where["one"]).kill()
    until(lambda: _listed(modern)["three"] == "lost", "a session that is told as lost without any call on it")
    for name in "one", "three":
        text = refused(modern.call("execute_script", sessionId=name, script=STATE), "session_lost")
        assert f"Session '{name}' is lost: the node of the Grid that it ran on is gone: " in text
    assert modern.ok("execute_script", sessionId="two", script=STATE)["value"] == ""

    until(lambda: _states(frail)[where["one"]] == "DOWN", "the hub to see that a node is dead")
    options = {"url": frail.url, "startTimeout": 2}
    answer = modern.call("start_session", provider="selenium_grid", platform="browser", options=options)
    assert "did not start within 2 s: place 1 of 1 in the Grid's queue" in refused(answer, "start_failed")

    kill(frail.hub)
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
