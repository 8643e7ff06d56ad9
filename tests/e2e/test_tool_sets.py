"""Which tools a client is told of: all of them, or the sets that a setting names."""

from __future__ import annotations

import subprocess
import sys

from tests.e2e.harness import Home
from tests.served import served


def test_a_set_is_listed_and_the_rest_works_all_the_same(home: Home) -> None:
    """A client with little room reads the core; what its user names besides can still be called."""
    with served("auto", ("--tools", "core"), sys.stderr, home=str(home.folder)) as server:
        names = [tool.name for tool in server.tools()]
        assert "click_element" in names
        assert "cookies" not in names
        server.ok("navigate", url="data:text/html,<title>Small</title><p>x")
        assert server.ok("tabs", action="list")["tabs"][0]["title"] == "Small"
        assert server.ok("execute_sequence", actions=[{"action": "scroll", "direction": "up"}])["completed"] == 1


def test_a_set_that_there_is_not_is_named() -> None:
    """The server does not start with half of what was meant."""
    command = [sys.executable, "-m", "orchestrator", "serve", "--tools", "core,mobil"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert "Setting 'tools': there is no set 'mobil'; write all, or some of core, browser," in done.stderr
