"""The tools that a client lists: all of them, or the sets named by a setting."""

from __future__ import annotations

import subprocess
import sys

from tests.e2e.harness import Home
from tests.servers.mcp import served


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
