"""The tools for apps, which join the list when an app is started."""

from __future__ import annotations

import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.e2e.apps.phone import start
from tests.e2e.conftest import ERAS
from tests.e2e.harness import Home
from tests.e2e.stage import Stage
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

SENTENCE = (
    "For apps: click_element taps; swipe, pinch, tap_element, switch_context, manage_app and manage_device are steps "
    "of execute_sequence, and tools by their names: describe_actions tells their parameters."
)

DENIED = "swipe,pinch,tap_element,upload_app,list_apps,list_devices,switch_context,manage_app,manage_device"
"""The tools for apps, without the one that starts them."""


@pytest.mark.parametrize("mode", ERAS)
def test_the_first_app_session_brings_the_mobile_tools_and_says_what_works_without_them(
    home: Home, site: Site, device_server: DeviceServer, mode: str
) -> None:
    """The list grows once, with one notice; a client that ignores it reads the same in the answer of the start."""
    with home.serve(mode, appium_url=device_server.url) as server, server.subscribed():
        server.ok("start_browser")
        before = {tool.name for tool in server.tools()}
        assert before.isdisjoint({"swipe", "pinch", "tap_element", "manage_app", "manage_device"})
        assert server.list_changes == []
        first = start(Stage(server, site), "phone", "ios")
        until(lambda: server.list_changes, "the notice of the change")
        assert first.data["next"] == SENTENCE
        assert SENTENCE in first.text
        joined = {tool.name for tool in server.tools()} - before
        assert {"swipe", "pinch", "tap_element", "manage_app", "manage_device"} <= joined
        second = start(Stage(server, site), "tablet", "android")
        assert "For apps" not in second.text + second.data_json
        until(lambda: len(server.list_changes) == 2, "the notice that the agents' tools joined, too")
        steps = [{"action": "swipe", "direction": "up"}, {"action": "manage_app", "do": "list"}]
        assert server.ok("execute_sequence", sessionId="phone", actions=steps)["completed"] == 2
        server.ok("close_all_sessions")
        assert len(server.list_changes) == 2


def test_each_agent_reads_with_its_own_first_app_what_works_without_the_mobile_tools(
    home: Home, site: Site, device_server: DeviceServer
) -> None:
    """What an app brings is told to the agent that starts it, and to nobody else who calls meanwhile."""
    with home.serve(appium_url=device_server.url) as server:
        ann, ben = (Stage(agent(server, name), site) for name in ("ann", "ben"))
        ben.ok("start_browser")
        assert SENTENCE in start(ann, "phone", "ios").text
        assert "For apps" not in ben.call("get_text").text
        assert SENTENCE in start(ben, "tablet", "android").text
        ann.ok("close_all_sessions")
        ben.ok("close_all_sessions")


@pytest.mark.parametrize("setting", [{"tools": "default,mobile"}, {"deny_tools": DENIED}])
def test_who_lists_or_denies_the_mobile_tools_is_told_nothing_about_them(
    home: Home, site: Site, device_server: DeviceServer, setting: dict[str, str]
) -> None:
    """Where the list stays as it was from the beginning, neither a notice nor the sentence comes."""
    with home.serve(appium_url=device_server.url, **setting) as server, server.subscribed():
        before = server.tools()
        assert "For apps" not in start(Stage(server, site), "phone", "ios").text
        assert server.tools() == before
        assert server.list_changes == []
        server.ok("close_all_sessions")


def agent(server: Served, name: str) -> Served:
    """Return the connection for an agent that its host names."""
    return server.as_agent(threadId=name)
