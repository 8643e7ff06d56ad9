"""A Firefox at a node of a Selenium Grid."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Home
from tests.servers.grid import grid_end
from tests.servers.site import Site
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

PAGE = """
<title>Form</title><label>Name <input id=name></label>
<button onclick="document.title = document.querySelector('#name').value">Go</button>
"""


def test_a_firefox_at_a_grid_is_read_and_acted_in_and_ends_with_its_session(
    home: Home,
    site: Site,
    needs_firefox: None,  # noqa: ARG001
) -> None:
    """Its page, its console and its cookies are there by the BiDi socket of the Grid; its slot is free afterwards."""
    url = site.page("/", PAGE)
    with grid_end(nodes=1, sessions=1, firefox=True) as grid, home.serve(grid_url=grid.url, tools="all") as server:
        start = {"provider": "selenium_grid", "platform": "browser", "browser": "firefox"}
        row = server.ok("start_session", sessionId="far", **start)
        assert row["capabilities"]["browserName"] == "firefox"
        server.ok("navigate", url=url, sessionId="far")
        server.ok("set_value", selector="label=Name", value="Ann", sessionId="far")
        assert server.ok("click_element", selector="text=Go", sessionId="far")["title"] == "Ann"
        server.ok("execute_script", script="console.warn('seen')", sessionId="far")
        assert "seen" in server.call("get_console", sessionId="far").text
        server.ok("cookies", action="set", name="a b", value="1", sessionId="far")
        assert server.ok("execute_script", script="return document.cookie", sessionId="far")["value"] == "a b=1"
        server.ok("close_session", sessionId="far")
        until(lambda: not grid.sessions(), "the free slot")
