"""Appium-Python-Client's driver over our own connection, its endpoints and app states.

Importing it loads the client, so it is imported with the first app session only. The driver is used where it sends what
both drivers of Appium take. Our own `mobile:` commands (`automation.device_keys`) do the rest: the client's manage apps
by sending each driver the other one's arguments, too, and drop the answer of `mobile: removeApp`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from appium.webdriver import Remote as AppiumDriver
from appium.webdriver.applicationstate import ApplicationState

APP_STATES: Mapping[int, str] = {
    ApplicationState.NOT_RUNNING: "not running",
    ApplicationState.RUNNING_IN_BACKGROUND_SUSPENDED: "background",
    ApplicationState.RUNNING_IN_BACKGROUND: "background",
    ApplicationState.RUNNING_IN_FOREGROUND: "foreground",
}
"""App states in our words. `NOT_INSTALLED` is omitted: to XCUITest its number means an unknown state."""


class AppDriver(AppiumDriver):
    """The client's driver in a session that is open already.

    Args:
        send: `Remote.execute` of the session.
    """

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send

    def execute(self, driver_command: Any, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command; the client's methods expect the value in an envelope."""
        return {"value": self._send(driver_command, **(params or {}))}


class _EndpointTable(AppiumDriver):
    """Collects the commands that the client adds to a connection of selenium's."""

    def __init__(self) -> None:
        self.endpoints: dict[str, tuple[str, str]] = {}
        self.command_executor: Any = self
        self._add_commands()

    def add_command(self, name: str, method: str, path: str) -> None:
        """Add one, as a connection would."""
        self.endpoints[name] = method, path


@cache
def app_endpoints() -> Mapping[str, tuple[str, str]]:
    """Return method and path of Appium's commands, by their names in `MobileCommand`."""
    return _EndpointTable().endpoints
