"""Matching of requests to slots of a Selenium Grid, and requests of a start, as far as no Grid is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import InvalidArgument, ProviderAuth
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings
from orchestrator_providers.selenium_grid.provider import SeleniumGridOptions, SeleniumGridProvider
from orchestrator_providers.selenium_grid.slots import can_take, offers
from tests.providers.conftest import Begin
from tests.servers.answering import answering_server

LINUX = {"browserName": "chrome", "browserVersion": "140.0", "platformName": "linux"}
WINDOWS = {"browserName": "MicrosoftEdge", "platformName": "Windows 11", "se:downloadsEnabled": True}
PHONE = {"platformName": "android", "appium:automationName": "UiAutomator2", "appium:platformVersion": "14"}


@pytest.mark.parametrize(
    ("slot", "wanted", "can"),
    [
        (LINUX, {}, True),
        (LINUX, {"browserVersion": "140"}, True),
        (LINUX, {"browserVersion": "140.0"}, True),
        (LINUX, {"browserVersion": "stable"}, True),
        (LINUX, {"browserVersion": "14"}, False),
        (LINUX, {"browserVersion": "141.0"}, False),
        (LINUX, {"browserVersion": ""}, True),
        (LINUX, {"platformName": "ANY"}, True),
        (LINUX, {"platformName": "Linux"}, True),
        (LINUX, {"platformName": "unix"}, True),
        (LINUX, {"platformName": "windows"}, False),
        (LINUX, {"se:downloadsEnabled": True}, False),
        (LINUX, {"se:name": "x", "goog:chromeOptions": {"args": ["--x"]}, "acme:tier": 1}, True),
        ({**LINUX, "acme:tier": "Gold"}, {"acme:tier": "gold"}, True),
        ({**LINUX, "acme:tier": 1}, {"acme:tier": 2}, False),
        ({**LINUX, "se:name": "x"}, {"se:name": "y"}, True),
        (WINDOWS, {"browserName": "MicrosoftEdge", "platformName": "windows", "se:downloadsEnabled": True}, True),
        (WINDOWS, {"browserName": "MicrosoftEdge", "platformName": "mac"}, False),
        (WINDOWS, {"browserName": "MicrosoftEdge", "browserVersion": "140"}, False),
        ({"browserName": "safari", "platformName": "darwin"}, {"browserName": "safari", "platformName": "mac"}, True),
        ({"browserName": "safari", "platformName": "mac"}, {"browserName": "safari", "platformName": "windows"}, False),
        (PHONE, {"browserName": None, "platformName": "Android", "appium:platformVersion": "14"}, True),
        (PHONE, {"browserName": None, "platformName": "Android", "appium:platformVersion": "15"}, False),
        (PHONE, {"browserName": None, "platformName": "iOS"}, False),
        (PHONE, {"browserName": None, "platformName": "Android", "appium:automationName": "uiautomator2"}, True),
    ],
)
def test_a_slot_takes_what_the_grid_would_accept(
    slot: dict[str, Any],
    wanted: dict[str, Any],
    can: bool,  # noqa: FBT001 - the table's
) -> None:
    """A slot is matched by the rules of a Grid's own matcher; differing versions are left to the Grid."""
    assert can_take(slot, {"browserName": "chrome", **wanted}) is can


def test_grid_slots_are_summarised_with_the_most_frequent_first() -> None:
    """Equal slots are counted together, the most frequent first, and a long list is cut."""
    assert offers([WINDOWS, LINUX, LINUX, PHONE]) == (
        "2 x chrome 140.0 on linux, 1 x MicrosoftEdge on Windows 11 with downloads, 1 x UiAutomator2 on android 14"
    )
    many = offers([{"browserName": f"b{number}"} for number in range(9)])
    assert many.endswith("1 x b7, …")


def test_a_start_without_a_grid_url_or_its_secret_is_refused(begin: Begin) -> None:
    """A start is refused without a Grid URL, or if its secret is missing."""
    start = begin()
    start.options = SeleniumGridOptions()
    with pytest.raises(InvalidArgument, match="The URL of the Selenium Grid is missing") as caught:
        SeleniumGridProvider().endpoint(start)
    assert "options.url" in caught.value.hint
    assert "grid_url" in caught.value.hint
    start.options = SeleniumGridOptions(url="secret:NO_SUCH_GRID")
    with pytest.raises(ProviderAuth, match="NO_SUCH_GRID"):
        SeleniumGridProvider().endpoint(start)


def test_a_grid_is_asked_with_the_credentials_that_a_caller_gave(tmp_path: Path) -> None:
    """The record has the URL without credentials: the node is found with those given to this process."""
    slot = {"session": {"sessionId": "s1"}}
    node = {"id": "n1", "uri": "http://node.test", "sessionTimeout": 300_000, "slots": [slot]}
    with answering_server() as grid:
        grid.body = json.dumps({"value": {"ready": True, "nodes": [node]}}).encode()
        providers = Providers([SeleniumGridProvider()])
        record = SessionRecord(
            id="far",
            namespace="test",
            type=SessionType.BROWSER,
            provider="selenium_grid",
            owner="me",
            created_at=0,
            last_active_at=0,
            remote_url=providers.credentials.remember(grid.url.replace("://", "://ann:me@")),
            remote_session_id="s1",
        )
        facts = providers["selenium_grid"].attached(record, Settings(home=tmp_path))
    assert (facts.remote_end, facts.keep_alive) == ({"nodeId": "n1", "nodeUrl": "http://node.test"}, 300)
    assert [headers.get("Authorization") for headers in grid.headers] == ["Basic YW5uOm1l"]
