"""Apps behind a Selenium Grid: a relay node hands their sessions to Appium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.e2e.apps.phone import LOG_IN, PLATFORMS, Phone
from tests.e2e.stage import Stage, refused
from tests.servers.appium import POCKET
from tests.servers.grid import GridEnd, grid_end

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def relaying(device_server: DeviceServer) -> Iterator[GridEnd]:
    """A Grid of one node that relays to the server of simulated phones."""
    with grid_end(nodes=0, appium=device_server.url) as grid:
        yield grid


@pytest.fixture(params=PLATFORMS)
def far(request: pytest.FixtureRequest, stage: Stage, relaying: GridEnd) -> Iterator[Phone]:
    """A phone with the app, through the Grid."""
    platform, device = PLATFORMS[request.param]
    name = f"far-{request.param}"
    where = {"platform": platform, "provider": "selenium_grid", "options": {"url": relaying.url}}
    row = stage.ok("start_session", sessionId=name, **where, deviceName=device, app=str(POCKET))
    assert (row["type"], row["provider"], row["remoteUrl"]) == (request.param, "selenium_grid", relaying.url)
    yield Phone(stage, name, request.param)
    stage.ok("close_session", sessionId=name)
    assert relaying.sessions() == []


def test_an_app_is_driven_through_a_grid(far: Phone) -> None:
    """An app behind a Grid is filled in and read, natively and in a web view; its device's state is read."""
    steps = [
        *LOG_IN,
        {"action": "tap_element", "selector": 'role=button[name="Web view"]'},
        {"action": "switch_context", "context": "WEBVIEW"},
        {"action": "set_value", "selector": "#what", "value": "Tea"},
        {"action": "click_element", "selector": "#order-button"},
        {"action": "get_text", "selector": "#order"},
        {"action": "switch_context", "context": "NATIVE_APP"},
        {"action": "tap_element", "selector": 'role=button[name="Back"]'},
    ]
    answer = far.ok("execute_sequence", actions=steps, verbose=True)
    assert answer["steps"][7]["result"]["text"] == "Tea"
    assert "text: Welcome ann@example.org" in far.outline()
    assert far.ok("manage_device", action="rotate", value="landscape")["value"] == "landscape"
    assert far.ok("execute_script", script="mobile: deviceInfo")["value"]["simulated"]


def test_a_device_that_no_grid_node_has_is_refused_with_what_the_grid_offers(stage: Stage, relaying: GridEnd) -> None:
    """The start is refused at once, and the error lists the slots of the Grid."""
    where = {"platform": "iOS", "provider": "selenium_grid", "options": {"url": relaying.url}}
    text = refused(stage.call("start_session", sessionId="far", **where, deviceName="iPhone 3G"), "start_failed")
    assert "no slot of the Grid can take iOS iPhone 3G. It offers 1 x " in text
    assert "1 x XCUITest iPhone 15 on IOS" in text
