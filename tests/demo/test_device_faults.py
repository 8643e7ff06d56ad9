"""Faults of simulated phones, requested or not: each is reported clearly, and leaves nothing behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from appium.webdriver import Remote
from appium.webdriver.common.appiumby import AppiumBy as By
from selenium.common.exceptions import InvalidSessionIdException, SessionNotCreatedException, WebDriverException

from orchestrator.demo.device_server import DeviceServer
from orchestrator.system.process_identity import gone
from tests.demo.phones import eventually, start
from tests.servers.ports import losing_its_port

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def device_server(needs_phones: None) -> Iterator[DeviceServer]:  # noqa: ARG001 — asked for first
    """An Appium server for this file alone: on the shared one, sessions of other tests have browsers."""
    with DeviceServer() as server:
        yield server


def browsers(server: DeviceServer) -> list[psutil.Process]:
    """Return the browsers that the server has started and that still run."""
    return living(psutil.Process(server.pid).children(recursive=True))


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that still run, without zombies."""
    return [process for process in processes if not gone(process)]


@pytest.mark.parametrize(
    ("capabilities", "message"),
    [
        ({"deviceName": "iPhone 99"}, "Unknown device 'iPhone 99': iOS is simulated on iPhone SE, "),
        ({"app": "/nowhere/shop.ipa"}, "The application at '/nowhere/shop.ipa' does not exist"),
        ({"app": str(Path(__file__))}, "is no zip archive"),
        ({"app": str(Path(__file__).parent)}, "has no sim.json"),
        ({"app": None, "bundleId": "org.example.none"}, "The app 'org.example.none' is not installed"),
        ({"simRefuseStart": "The lab is closed"}, "The lab is closed"),
    ],
)
def test_a_refused_start_names_the_reason_and_leaves_no_browser(
    device_server: DeviceServer, capabilities: dict[str, Any], message: str
) -> None:
    """A start with capabilities that cannot be met fails with the reason."""
    with pytest.raises(SessionNotCreatedException, match=message.replace("(", r"\(")):
        start(device_server.url, "iOS", **capabilities)
    assert browsers(device_server) == []


def test_a_second_session_on_a_udid_is_refused_while_the_first_lives(device_server: DeviceServer) -> None:
    """A second session on a udid is refused while the first one lives, and only then."""
    first = start(device_server.url, "Android", udid="emulator-5554")
    try:
        with pytest.raises(SessionNotCreatedException, match="Device 'emulator-5554' is already in use by session"):
            start(device_server.url, "Android", udid="emulator-5554")
        assert first.find_element(By.ACCESSIBILITY_ID, "loginButton").is_displayed()
    finally:
        first.quit()
    again = start(device_server.url, "Android", udid="emulator-5554")
    again.quit()


def _crash_after(server: DeviceServer, seconds: float) -> tuple[Remote, float]:
    """Let a phone crash during a call that waits; return its driver, and how long the call took until it failed."""
    driver = start(server.url, "iOS", simCrashAfter=seconds)
    driver.implicitly_wait(60)
    begun = time.monotonic()
    with pytest.raises(WebDriverException, match=r"crashed|gone|ended"):
        driver.find_element(By.ACCESSIBILITY_ID, "nowhere")
    return driver, time.monotonic() - begun


@pytest.mark.clock
def test_a_phone_crash_fails_the_running_call_at_once(device_server: DeviceServer) -> None:
    """Fails the call in flight long before its own time is over."""
    driver, took = _crash_after(device_server, 0.5)
    assert took < 5
    eventually(driver, lambda: browsers(device_server) == [])


def test_a_phone_crash_fails_the_running_call_and_ends_the_session(device_server: DeviceServer) -> None:
    """The call in flight fails, the next one finds no session."""
    # Late enough for the call to be in flight on a slow machine.
    driver, _ = _crash_after(device_server, 4)
    with pytest.raises(InvalidSessionIdException):
        _ = driver.page_source
    eventually(driver, lambda: browsers(device_server) == [])


def test_sim_slow_command_delays_the_named_command(device_server: DeviceServer) -> None:
    """The command that simSlowCommand names takes at least the given time."""
    driver = start(device_server.url, "Android", simSlowCommand={"command": "getPageSource", "ms": 700})
    try:
        begun = time.monotonic()
        _ = driver.page_source
        assert time.monotonic() - begun >= 0.7
    finally:
        driver.quit()


def test_sim_alert_at_start_covers_the_app_with_an_alert(device_server: DeviceServer) -> None:
    """An app started with simAlertAtStart is covered by an alert until it is dismissed."""
    driver = start(device_server.url, "iOS", simAlertAtStart="Software update available")
    try:
        assert driver.switch_to.alert.text == "Software update available"
        driver.switch_to.alert.dismiss()
        assert driver.find_element(By.ACCESSIBILITY_ID, "loginButton").is_displayed()
    finally:
        driver.quit()


def test_sim_hang_at_start_delays_the_session_start(device_server: DeviceServer) -> None:
    """A start with simHangAtStart takes at least the given time."""
    begun = time.monotonic()
    driver = start(device_server.url, "iOS", simHangAtStart=1.5)
    driver.quit()
    assert time.monotonic() - begun > 1.5


def test_an_idle_session_ends_after_new_command_timeout(device_server: DeviceServer) -> None:
    """The browser of a phone is gone once newCommandTimeout has passed without a command."""
    driver = start(device_server.url, "Android", newCommandTimeout=1)
    eventually(driver, lambda: browsers(device_server) == [])
    with pytest.raises(InvalidSessionIdException):
        _ = driver.page_source


@pytest.mark.usefixtures("needs_phones")
def test_stopping_the_device_server_leaves_no_process_and_no_folder() -> None:
    """SIGTERM with a session and its web view open leaves no process and no folder; the run's end checks again."""
    with DeviceServer() as server:
        driver = start(server.url, "iOS")
        driver.get("pocket://screen/web")
        driver.switch_to.context(driver.contexts[1])
        left = browsers(server)
        assert len(left) > 2
        folder = server.log.parent
    assert living(left) == []
    assert not folder.exists()


@pytest.mark.usefixtures("needs_phones")
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in that loses its port is a script")
def test_a_killed_appium_leaves_no_browser_and_no_chromedriver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the phone's browser nor the web view's chromedriver outlives a killed Appium.

    A chromedriver whose port was taken has been started a second time.
    """
    monkeypatch.setenv("PATH", str(losing_its_port(tmp_path).parent), prepend=os.pathsep)
    with DeviceServer() as server:
        driver = start(server.url, "iOS")
        driver.get("pocket://screen/web")
        driver.switch_to.context(driver.contexts[1])
        left = browsers(server)
        psutil.Process(server.pid).kill()
    assert len(left) > 2
    assert (tmp_path / "lost").exists()
    eventually(driver, lambda: living(left) == [])
