"""The tools that a client lists: all of them, or the sets named by a setting."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.e2e.conftest import ERAS
from tests.e2e.harness import Home, succeed
from tests.servers.mcp import served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

AGENTS = {"claim_session", "release_session"}
"""Tools that join the list when there may be several agents."""


def test_tools_outside_the_chosen_set_are_not_listed_but_can_be_called(home: Home) -> None:
    """A server with the core set lists only its tools, but runs any other tool."""
    with served("auto", ("--tools", "core"), sys.stderr, home=str(home.folder)) as server:
        names = [tool.name for tool in server.tools()]
        assert "click_element" in names
        assert "cookies" not in names
        server.ok("navigate", url="data:text/html,<title>Small</title><p>x")
        assert server.ok("tabs", action="list")["tabs"][0]["title"] == "Small"
        assert server.ok("execute_sequence", actions=[{"action": "scroll", "direction": "up"}])["completed"] == 1


def test_an_unknown_tool_set_stops_the_server_with_its_name() -> None:
    """A server with an unknown tool set does not start, and names it with the valid ones."""
    command = [sys.executable, "-m", "orchestrator", "serve", "--tools", "core,mobil"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert done.stderr.startswith("Setting 'tools': there is no set or tool 'mobil'. Did you mean 'mobile'? Sets: ")


@pytest.mark.parametrize("mode", ERAS)
def test_the_second_session_started_by_name_brings_the_agents_tools_with_one_notice(
    home: Home, site: Site, mode: str
) -> None:
    """The list grows once, and the client is told once, though another call ends only after the change."""
    site.page("/slow", "<title>slow</title>")
    gate = site.gate("/slow")
    with home.serve(mode, tools="core, default") as server, server.subscribed():
        server.ok("start_browser", sessionId="ann")
        server.ok("start_browser")
        before = [tool.name for tool in server.tools()]
        opening = server.begin("navigate", sessionId="ann", url=site.url("/slow"))
        gate.wait_entered()
        assert server.list_changes == []
        server.ok("start_browser", sessionId="ben")
        until(lambda: server.list_changes, "the notice of the change")
        gate.open()
        succeed([opening])
        server.ok("start_browser", sessionId="ann:cem")
        after = [tool.name for tool in server.tools()]
        assert set(after) - set(before) >= AGENTS
        assert [name for name in after if name in before] == before
        assert len(server.list_changes) == 1


def test_a_list_that_was_chosen_does_not_grow(home: Home) -> None:
    """Whoever lists a set other than `default` keeps it, whatever is started; nobody is told of a change."""
    with home.serve(tools="core") as server, server.subscribed():
        before = [tool.name for tool in server.tools()]
        server.ok("start_browser", sessionId="ann")
        server.ok("start_browser", sessionId="ben")
        assert [tool.name for tool in server.tools()] == before
        assert server.list_changes == []
