"""Which requests a slot of a Selenium Grid can take, and what a start asks of a Grid, as far as no Grid is needed."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import InvalidArgument, ProviderAuth
from orchestrator_providers.selenium_grid import SeleniumGridOptions, SeleniumGridProvider
from orchestrator_providers.slots import can_take, offers
from tests.providers.conftest import Begin

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
def test_a_slot(slot: dict[str, Any], wanted: dict[str, Any], can: bool) -> None:  # noqa: FBT001 - the table's
    """As a Grid's own matcher decides; where its versions differ, it is left to the Grid."""
    assert can_take(slot, {"browserName": "chrome", **wanted}) is can


def test_offers() -> None:
    """The same ones together, the most frequent first, and not more than can be read."""
    assert offers([WINDOWS, LINUX, LINUX, PHONE]) == (
        "2 x chrome 140.0 on linux, 1 x MicrosoftEdge on Windows 11 with downloads, 1 x UiAutomator2 on android 14"
    )
    many = offers([{"browserName": f"b{number}"} for number in range(9)])
    assert many.endswith("1 x b7, …")


def test_where_the_grid_is(begin: Begin) -> None:
    """Nothing says so; or a secret that is not there."""
    start = begin()
    start.options = SeleniumGridOptions()
    with pytest.raises(InvalidArgument, match="Nothing says where the Selenium Grid is") as caught:
        SeleniumGridProvider().endpoint(start)
    assert "options.url" in caught.value.hint
    assert "grid_url" in caught.value.hint
    start.options = SeleniumGridOptions(url="secret:NO_SUCH_GRID")
    with pytest.raises(ProviderAuth, match="NO_SUCH_GRID"):
        SeleniumGridProvider().endpoint(start)
