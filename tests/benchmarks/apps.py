"""The cost of acting in apps, compared with the bare Appium client, on the simulated phones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from appium import webdriver
from appium.webdriver.common.appiumby import AppiumBy
from selenium.webdriver.support.wait import WebDriverWait

from orchestrator.demo.device_server import DeviceServer, missing
from tests.benchmarks.measure import Figure, elapsed, in_turns
from tests.benchmarks.server import Server
from tests.demo.phones import start
from tests.servers.appium import POCKET, POCKET_ID

_PLATFORMS = ("iOS", "Android")
_MAIL, _PASSWORD = "ann@example.org", "correct horse"
_SIGNED_IN = f"Welcome {_MAIL}"
_LOGIN: list[dict[str, Any]] = [
    {"action": "set_value", "selector": "~emailField", "value": _MAIL},
    {"action": "set_value", "selector": "~passwordField", "value": _PASSWORD},
    {"action": "tap_element", "selector": "~loginButton"},
    {"action": "wait_for", "text": _SIGNED_IN},
]


def figures(server: Server, url: str, rounds: int) -> Iterator[Figure]:
    """Signing in and a tap, on each platform; nothing where the phones do not run."""
    for platform in _PLATFORMS:
        ours = _Ours(server, platform)
        classic = start(url, platform)
        mine, theirs = in_turns(rounds, ours.signed_in, partial(_signed_in, classic))
        yield Figure(f"sign in, {platform}, one sequence, the wait taken off (bare Appium client)", mine, theirs)
        ours.open()
        classic.get("pocket://screen/list")
        mine, theirs = in_turns(rounds, partial(elapsed, ours.tap), partial(elapsed, partial(_tap, classic)))
        yield Figure(f"tap_element, {platform}, observe none (bare Appium client: find, click)", mine, theirs)
        ours.close()
        classic.quit()


def phones() -> DeviceServer | None:
    """Return the server of the phones; None if a requirement is missing."""
    return None if missing() else DeviceServer()


class _Ours:
    """A simulated phone with the tests' app, driven by us."""

    def __init__(self, server: Server, platform: str) -> None:
        self._server = server
        self._name = platform.lower()
        self._call("start_app_session", platform=platform, appPath=str(POCKET))

    def signed_in(self) -> float:
        """The milliseconds of signing in, without the time that the screen was given to settle."""
        for action in ("terminate", "activate"):
            self._call("manage_app", action=action, app=POCKET_ID, observe="none")
        answer: dict[str, Any] = {}

        def run() -> None:
            answer.update(self._call("execute_sequence", actions=_LOGIN))

        return elapsed(run) - float(answer["stabilityWaitMs"])

    def open(self) -> None:
        self._call("manage_device", action="open_url", value="pocket://screen/list", observe="none")

    def tap(self) -> None:
        self._call("tap_element", selector="~Add thing 2", observe="none")

    def close(self) -> None:
        self._call("close_session")

    def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self._server.call(tool, sessionId=self._name, **arguments)


def _signed_in(phone: webdriver.Remote) -> float:
    phone.terminate_app(POCKET_ID)
    phone.activate_app(POCKET_ID)

    def run() -> None:
        for name, text in (("emailField", _MAIL), ("passwordField", _PASSWORD)):
            field = phone.find_element(AppiumBy.ACCESSIBILITY_ID, name)
            field.clear()
            field.send_keys(text)
        phone.find_element(AppiumBy.ACCESSIBILITY_ID, "loginButton").click()
        WebDriverWait(phone, 10, 0.02).until(lambda it: _SIGNED_IN in it.page_source)

    return elapsed(run)


def _tap(phone: webdriver.Remote) -> None:
    phone.find_element(AppiumBy.ACCESSIBILITY_ID, "Add thing 2").click()
