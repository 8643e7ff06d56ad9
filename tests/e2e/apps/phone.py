"""A simulated phone for the tests of apps, and a stage with a phone of each platform."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.stage import Stage
from tests.servers.appium import POCKET
from tests.servers.mcp import Answer, served
from tests.servers.site import Site

PLATFORMS = {"ios": ("iOS", "iPhone 15"), "android": ("Android", "Pixel 8")}
LOG_IN = [
    {"action": "set_value", "selector": "~emailField", "value": "ann@example.org"},
    {"action": "set_value", "selector": "~passwordField", "value": "correct horse"},
    {"action": "tap_element", "selector": "~loginButton"},
]


class Phone:
    """A session on a simulated phone with the app Pocket."""

    def __init__(self, stage: Stage, name: str, platform: str) -> None:
        self.stage = stage
        self.name = name
        self.is_ios = platform == "ios"

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool on this phone."""
        return self.stage.call(tool, **{"sessionId": self.name, **arguments})

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool on this phone, which must succeed; return its data."""
        return self.stage.ok(tool, **{"sessionId": self.name, **arguments})

    def restart(self) -> None:
        """Show the app as newly installed, at the log-in screen."""
        self.ok("manage_app", action="terminate", observe="none")
        self.ok("manage_app", action="activate", observe="none")

    def open(self, screen: str) -> None:
        """Show a screen of the app by a link."""
        link = f"pocket://screen/{screen.partition(' ')[0].lower()}"
        steps = [
            {"action": "manage_device", "do": "open_url", "value": link},
            {"action": "wait_for", "title": screen},
        ]
        self.ok("execute_sequence", actions=steps, stabilityMs=30)

    def outline(self, **arguments: Any) -> list[str]:
        """Return the lines of the outline without their refs and indents."""
        lines = self.ok("get_visible_elements", **arguments)["outline"].splitlines()
        return [line.strip().removeprefix("- ") for line in lines]

    def text(self) -> str:
        """Return the text of the screen."""
        return str(self.ok("get_text")["text"])


def start(stage: Stage, name: str, platform: str, **more: Any) -> Answer:
    """Start a session with Pocket."""
    wire, device = PLATFORMS[platform]
    arguments = {"platform": wire, "deviceName": device, "appPath": str(POCKET), **more}
    return stage.call("start_app_session", sessionId=name, **arguments)


@contextmanager
def staged(appium_url: str, namespace: str, *browsers: str) -> Iterator[Stage]:
    """Start a server that uses this Appium, with these browsers."""
    # The faults of the simulated phones are capabilities of their own.
    with Site() as site, served("auto", namespace=namespace, appium_url=appium_url, unsafe_args="true") as server:
        stage = Stage(server, site)
        for name in browsers:
            stage.ok("start_browser", sessionId=name)
        yield stage
