"""The native snapshot against a real Appium server with the simulated phones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest

from orchestrator.automation.browser.selector import parse_selector
from orchestrator.demo.device_server import DeviceServer
from orchestrator.snapshot.methods import MARK, READY, SETTLE, SNAPSHOT, VERIFY
from orchestrator.webdriver.new_session import NewSessionRequest
from orchestrator.webdriver.remote import Remote
from tests.servers.appium import POCKET
from tests.snapshot.untyped import UntypedScreen
from tests.snapshot.web.chromium import Numbers, without_refs

pytestmark = [pytest.mark.full, pytest.mark.browser]

PHONES = {"ios": ("XCUITest", "iPhone 15"), "android": ("UiAutomator2", "Pixel 8")}
COUNTING = {
    "ios": "chain=**/XCUIElementTypeButton",
    "android": 'android=new UiSelector().className("android.widget.Button")',
}


class Device:
    """A session on a simulated phone, and its screen."""

    def __init__(self, server: DeviceServer, platform: str) -> None:
        automation, phone = PHONES[platform]
        capabilities = {
            "platformName": platform, "appium:automationName": automation, "appium:deviceName": phone,
            "appium:app": str(POCKET),
        }  # fmt: skip
        self.platform = platform
        self.remote = Remote(server.url, "", name=platform, timeout=60)
        NewSessionRequest(self.remote, capabilities, 60).send_and_wait(lambda: None)
        self.screen = UntypedScreen(self.remote, platform, Numbers())

    def ready(self, selector: str, need: str, **asked: Any) -> dict[str, Any]:
        """Wait until an element is ready for an action."""
        found: dict[str, Any] = self.screen.call(
            READY, locator=parse_selector(selector).data(), need=need, slice=30_000, **asked
        )
        assert found["ok"], found
        return found

    def open(self, link: str) -> None:
        """Open a screen of the app by its link."""
        self.remote.execute("get", url=f"pocket://{link}")

    def log_in(self) -> None:
        """Log in on the first screen, which is marked before."""
        self.open("screen/login")
        self.screen.call(MARK, name="login")
        self.fill("~emailField", "ada@example.org")
        self.fill("~passwordField", "correct horse")
        assert "correct horse" not in str(self.screen.call(SNAPSHOT, scope="page", json=True))
        self.tap('button "Log in"')

    def tap(self, selector: str) -> None:
        """Tap an element with one finger."""
        found = self.ready(selector, "point")
        steps = [
            {"type": "pointerMove", "duration": 0, "x": found["x"], "y": found["y"]},
            {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
        ]  # fmt: skip
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": steps}
        self.remote.execute("actions", actions=[finger])

    def fill(self, selector: str, value: str) -> None:
        """Type into an element, in place of what it holds."""
        self.ready(selector, "fill", value=value)
        element = next(iter(self.screen.handle().values()))
        self.remote.execute("clearElement", id=element)
        self.remote.execute("sendKeysToElement", id=element, text=value, value=list(value))
        assert self.screen.call(VERIFY, value=value)["same"]

    def settle(self, **asked: Any) -> dict[str, Any]:
        """Wait until the screen settles."""
        found: dict[str, Any] = self.screen.call(SETTLE, stability=150, slice=30_000, since=time.monotonic(), **asked)
        assert found["settled"], found
        return found

    def outline(self) -> str:
        """Return the outline's lines without refs."""
        return without_refs("\n".join(self.screen.call(SNAPSHOT, scope="page", json=False)["lines"]))


@pytest.fixture(scope="module", params=["ios", "android"])
def _device(device_server: DeviceServer, request: pytest.FixtureRequest) -> Iterator[Device]:
    found = Device(device_server, request.param)
    try:
        found.log_in()
        yield found
    finally:
        found.remote.delete(10)


@pytest.fixture
def device(_device: Device) -> Device:
    """A phone on which someone is logged in, at home, wherever the test before went."""
    # A link to the screen that was linked to last would open nothing.
    _device.open("item/1")
    _device.open("screen/home")
    _device.ready('button "List"', "point")
    return _device


def test_a_log_in_is_reported_as_a_different_screen(device: Device) -> None:
    """The screen after a log-in is reported as a whole, in the same words on both platforms."""
    device.log_in()
    delta = device.settle(name="login", limit=40)["delta"]
    assert (delta["sameDocument"], delta["disappeared"], delta["now"]["title"]) == (False, [], "Home")
    assert [without_refs(line) for line in delta["appeared"]][:6] == [
        "banner", 'heading "Home" [level=1]', "text: Welcome ada@example.org", "list", "listitem", 'button "List"',
    ]  # fmt: skip


def test_each_outline_selector_finds_its_element_at_the_remote_end(device: Device) -> None:
    """The element of `handle` is the one with the outline's selector, and with its ref."""
    device.settle()
    seen = set()
    for one in device.screen.call(SNAPSHOT, scope="viewport", json=True)["elements"]:
        assert device.ready(one["selector"], "present")["ref"] == one["ref"]
        seen.add(next(iter(device.screen.handle().values())))
    assert len(seen) == device.screen.call(SNAPSHOT, scope="viewport", json=True)["total"]


def test_platform_selector_strategies_are_resolved_by_the_driver(device: Device) -> None:
    """UiSelector and class chain are resolved by the driver, and their elements are in our outline."""
    assert device.ready(COUNTING[device.platform], "point")["line"].startswith('button "List"')
    broken = "ios=label ==" if device.platform == "ios" else "android=nonsense("
    refused = device.screen.call(READY, locator=parse_selector(broken).data(), need="point", slice=0)
    assert (refused["reason"], "was refused" in refused["detail"]) == ("invalid", True)


def test_an_alert_keeps_the_refs_of_the_screen_behind_it(device: Device) -> None:
    """The outline shows the alert first, and the screen behind it keeps its refs."""
    device.tap('button "Alerts"')
    device.settle()
    prompt = device.ready("text=Prompt", "point")["ref"]
    device.screen.call(MARK)
    device.tap('button "Confirm"')
    device.ready("text=Cancel", "point")
    assert device.outline().startswith('- dialog "Delete everything?" [modal]')
    assert '- button "Cancel"' in device.outline()
    device.tap("text=OK")
    delta = device.settle(limit=40)["delta"]
    assert "text: Deleted" in [*delta["appeared"], *delta["changed"]]
    assert delta["disappeared"] in ([], ["text: No answer yet"])
    assert device.ready("text=Prompt", "point")["ref"] == prompt


def test_a_spinner_keeps_the_devices_screen_unsettled(device: Device) -> None:
    """A visible spinner is named as the reason why the screen is not settled."""
    device.tap('button "Motion"')
    device.ready("role=progressbar", "present")
    restless = device.screen.call(SETTLE, stability=50, slice=100, since=time.monotonic())
    assert (restless["settled"], restless["reason"]) == (False, 'progressbar "Loading" is visible')


def test_the_outline_shows_the_values_of_native_controls(device: Device) -> None:
    """Values are the same on both platforms, but a slider's is a share on iOS and a number on Android."""
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
