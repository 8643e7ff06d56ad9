"""The native snapshot against a real Appium server with the simulated phones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest

from orchestrator.demo.device_server import DeviceServer
from orchestrator.selector import parse
from orchestrator.snapshot.native.screen import Screen
from orchestrator.webdriver.creation import Creation
from orchestrator.webdriver.remote import Remote
from tests.appium_end import POCKET
from tests.snapshot.chromium import Numbers, without_refs

PHONES = {"ios": ("XCUITest", "iPhone 15"), "android": ("UiAutomator2", "Pixel 8")}
COUNTING = {
    "ios": "chain=**/XCUIElementTypeButton",
    "android": 'android=new UiSelector().className("android.widget.Button")',
}


class Device:
    """A session of a simulated phone, and its screen."""

    def __init__(self, server: DeviceServer, platform: str) -> None:
        automation, phone = PHONES[platform]
        capabilities = {
            "platformName": platform, "appium:automationName": automation, "appium:deviceName": phone,
            "appium:app": str(POCKET),
        }  # fmt: skip
        self.platform = platform
        self.remote = Remote(server.url, "", name=platform, timeout=60)
        Creation(self.remote, capabilities, 60).wait(lambda: None)
        self.screen = Screen(self.remote, platform, Numbers())

    def ready(self, selector: str, need: str, **asked: Any) -> dict[str, Any]:
        """Wait until an element is ready for something."""
        found = self.screen.call("ready", locator=parse(selector).data(), need=need, slice=5000, **asked)
        assert found["ok"], found
        return found

    def tap(self, selector: str) -> None:
        """Tap it with one finger."""
        found = self.ready(selector, "point")
        steps = [
            {"type": "pointerMove", "duration": 0, "x": found["x"], "y": found["y"]},
            {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
        ]  # fmt: skip
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": steps}
        self.remote.execute("actions", actions=[finger])

    def fill(self, selector: str, value: str) -> None:
        """Type into it."""
        self.ready(selector, "fill", value=value)
        element = next(iter(self.screen.handle().values()))
        self.remote.execute("sendKeysToElement", id=element, text=value, value=list(value))
        assert self.screen.call("verify", value=value)["same"]

    def settle(self, **asked: Any) -> dict[str, Any]:
        """Wait until it is at rest."""
        found = self.screen.call("settle", stability=150, slice=5000, since=time.monotonic(), **asked)
        assert found["settled"], found
        return found

    def outline(self) -> str:
        """Its lines without refs."""
        return without_refs("\n".join(self.screen.call("snapshot", scope="page", json=False)["lines"]))


@pytest.fixture(scope="module", params=["ios", "android"])
def device(device_server: DeviceServer, request: pytest.FixtureRequest) -> Iterator[Device]:
    """A phone that has just been unlocked and logged in."""
    found = Device(device_server, request.param)
    try:
        found.screen.call("mark", name="login")
        found.fill("~emailField", "ada@example.org")
        found.fill("~passwordField", "correct horse")
        assert "correct horse" not in str(found.screen.call("snapshot", scope="page", json=True))
        found.tap('button "Log in"')
        yield found
    finally:
        found.remote.delete(10)


def test_a_log_in_leads_to_another_screen(device: Device) -> None:
    """What it shows is told as a whole, in the same words on both platforms."""
    delta = device.settle(name="login", limit=40)["delta"]
    assert (delta["sameDocument"], delta["disappeared"], delta["now"]["title"]) == (False, [], "Home")
    assert [without_refs(line) for line in delta["appeared"]][:6] == [
        "banner", 'heading "Home" [level=1]', "text: Welcome ada@example.org", "list", "listitem", 'button "List"',
    ]  # fmt: skip


def test_each_selector_finds_its_element_at_the_remote_end(device: Device) -> None:
    """The element that `handle` gives is the one that the selector of the outline means, and so is its ref."""
    device.settle()
    seen = set()
    for one in device.screen.call("snapshot", scope="viewport", json=True)["elements"]:
        assert device.ready(one["selector"], "present")["ref"] == one["ref"]
        seen.add(next(iter(device.screen.handle().values())))
    assert len(seen) == device.screen.call("snapshot", scope="viewport", json=True)["total"]


def test_the_platform_finds_by_its_own_strategy(device: Device) -> None:
    """UiSelector and class chain are read by the driver, and what they find is in our outline."""
    assert device.ready(COUNTING[device.platform], "point")["line"].startswith('button "List"')
    broken = "ios=label ==" if device.platform == "ios" else "android=nonsense("
    refused = device.screen.call("ready", locator=parse(broken).data(), need="point", slice=0)
    assert (refused["reason"], "was refused" in refused["detail"]) == ("invalid", True)


def test_an_alert_comes_and_goes(device: Device) -> None:
    """Its lines alone appear, and the screen behind it keeps its refs."""
    device.tap('button "Alerts"')
    device.settle()
    prompt = device.ready("text=Prompt", "point")["ref"]
    device.screen.call("mark")
    device.tap('button "Confirm"')
    device.ready("text=Cancel", "point")
    assert device.outline().startswith('- dialog "Delete everything?" [modal]')
    assert '- button "Cancel"' in device.outline()
    device.tap("text=OK")
    delta = device.settle(limit=40)["delta"]
    assert "text: Deleted" in [*delta["appeared"], *delta["changed"]]
    assert delta["disappeared"] in ([], ["text: No answer yet"])
    assert device.ready("text=Prompt", "point")["ref"] == prompt


def test_a_spinner_keeps_it_from_rest(device: Device) -> None:
    """It is named."""
    device.tap("~Back")
    device.tap('button "Motion"')
    device.ready("role=progressbar", "present")
    restless = device.screen.call("settle", stability=50, slice=100, since=time.monotonic())
    assert (restless["settled"], restless["reason"]) == (False, 'progressbar "Loading" is visible')
    device.tap("~Back")


def test_controls_tell_what_they_hold(device: Device) -> None:
    """The same screen on both platforms; what iOS prints as a share of all, Android prints as a number."""
    device.tap('button "Controls"')
    device.settle()
    slider, choice = ('"Volume" = "30%"', '"Colour" = "Red"')
    if device.platform == "android":
        slider, choice = ('"volume" = "30.0"', '"colour" = "Red"')
    assert device.outline().endswith(
        dedent("""\
        - button "Not now" [disabled]""")
    )
    assert f"- slider {slider}" in device.outline()
    assert f"- combobox {choice}" in device.outline()
