"""Nodes of a Selenium Grid that end idle sessions, drain or die, and a hub that dies: the sessions lost with each."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.harness import Home, kill
from tests.e2e.stage import refused
from tests.servers.grid import GridEnd, grid_end
from tests.servers.mcp import Served
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

STATE = "return document.title"


@pytest.fixture
def frail() -> Iterator[GridEnd]:
    """A Grid of two nodes with two slots each, which end a session after 20 s without a command."""
    with pytest.MonkeyPatch.context() as environment:
        # With these a node offers a view of its screen, as those of docker-selenium do.
        for name in "XVFB", "VNC", "NO_VNC":
            environment.setenv(f"SE_START_{name}", "true")
        with grid_end(session_timeout=20, hub=["--healthcheck-interval", "1"]) as grid:
            yield grid


def test_an_idle_session_on_a_grid_node_is_kept_alive(modern: Served, shared_home: Home, frail: GridEnd) -> None:
    """A node ends a foreign session at its session timeout, while an unused session of the server stays open."""
    _start(modern, frail, "thinks")
    assert shared_home.record("thinks").keep_alive == 20
    used = shared_home.record("thinks").last_active_at
    theirs = frail.start()
    until(lambda: theirs not in frail.sessions(), "the node to end what is not used", 100)
    assert frail.sessions() == [shared_home.record("thinks").remote_session_id]
    assert shared_home.record("thinks").last_active_at == used
    assert modern.ok("execute_script", sessionId="thinks", script="return 'I am'")["value"] == "I am"


def test_sessions_are_lost_with_a_dead_node_or_hub_but_kept_by_a_draining_node(modern: Served, frail: GridEnd) -> None:
    """A draining node keeps its sessions and gets no more; a dead one loses its own; a dead hub loses all."""
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
    options = {"url": frail.url, "startTimeout": 10}
    answer = modern.call("start_session", provider="selenium_grid", platform="browser", options=options)
    assert "did not start within 10 s: place 1 of 1 in the Grid's queue" in refused(answer, "start_failed")

    kill(frail.hub)
    text = refused(modern.call("execute_script", sessionId="two", script=STATE), "session_lost")
    assert "Session 'two' is lost: the remote end is gone: " in text


def _start(server: Served, grid: GridEnd, name: str) -> str:
    """Start a session; return the address of its node."""
    wanted: dict[str, Any] = {"provider": "selenium_grid", "platform": "browser", "options": {"url": grid.url}}
    return str(server.ok("start_session", sessionId=name, **wanted)["remoteEnd"]["nodeUrl"])


def _listed(server: Served) -> dict[str, str]:
    return {row["sessionId"]: row["state"] for row in server.ok("list_sessions")["sessions"]}


def _drain(grid: GridEnd, url: str) -> None:
    """Drain a node as administrators do before an update: it keeps its sessions and takes no more."""
    request = urllib.request.Request(f"{url}/se/grid/node/drain", method="POST", headers={"X-REGISTRATION-SECRET": ""})  # noqa: S310 - our own
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).close()
    until(lambda: _states(grid)[url] == "DRAINING", "the node to drain")


def _states(grid: GridEnd) -> dict[str, str]:
    return {node["uri"]: node["availability"] for node in grid.status()["nodes"]}
