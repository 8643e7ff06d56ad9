"""Parked sessions whose browser is not a Chromium of this machine's own: at a Selenium Grid, and WebKitGTK."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.harness import Home
from tests.servers.site import Site

pytestmark = pytest.mark.full

FORM = "<title>Form</title><label>Name <input id=name></label>"


@pytest.fixture(params=["Selenium Grid", "WebKitGTK"])
def place(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a start is given for a browser elsewhere."""
    if request.param == "WebKitGTK":
        request.getfixturevalue("needs_webkitgtk")
        return {"provider": "local", "browser": "webkitgtk"}
    return {"provider": "selenium_grid", "options": {"url": request.getfixturevalue("grid").url}}


def test_a_session_elsewhere_is_parked_and_restored_as_it_was(
    home: Home, site: Site, place: dict[str, Any]
) -> None:  # B3 B4 B5 B6 B7 B15
    """Its client goes; another server's first call finds the same browser, with its page and what was typed into it."""
    page = site.page("/", FORM)
    with home.serve(park_ttl="60") as server:
        server.ok("start_session", sessionId="a", platform="browser", navigationUrl=page, **place)
        server.ok("set_value", selector="#name", value="Ann", sessionId="a")
        before = home.record("a")
    assert home.record("a").state == "parked"
    with home.serve(park_ttl="60") as server:
        answer = server.ok("expect", selector="#name", value="Ann", sessionId="a")
        assert answer["restored"] is True
        assert server.ok("execute_script", script="return location.href", sessionId="a")["value"] == page
        assert home.record("a").remote_session_id == before.remote_session_id
        assert server.ok("close_session", sessionId="a")["closed"] == ["a"]
