"""What goes wrong with simulated phones, asked for or not: each is told clearly, and nothing is left."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from appium.webdriver.common.appiumby import AppiumBy as By
from selenium.common.exceptions import InvalidSessionIdException, SessionNotCreatedException, WebDriverException

from orchestrator.demo.device_server import DeviceServer
from orchestrator.living import gone
from tests.demo.phones import eventually, start
from tests.ports import losing_its_port


def browsers(server: DeviceServer) -> list[psutil.Process]:
    """What the server has started and still runs."""
    return living(psutil.Process(server.pid).children(recursive=True))


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; one that nobody reaped does not."""
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
def test_refused_starts(device_server: DeviceServer, capabilities: dict[str, Any], message: str) -> None:
    """A session that cannot be says why."""
    with pytest.raises(SessionNotCreatedException, match=message.replace("(", r"\(")):
        start(device_server.url, "iOS", **capabilities)
    assert browsers(device_server) == []


def test_one_session_a_device(device_server: DeviceServer) -> None:
    """The second one on a udid is refused while the first lives, and no longer."""
    first = start(device_server.url, "Android", udid="emulator-5554")
    try:
        with pytest.raises(SessionNotCreatedException, match="Device 'emulator-5554' is already in use by session"):
            start(device_server.url, "Android", udid="emulator-5554")
        assert first.find_element(By.ACCESSIBILITY_ID, "loginButton").is_displayed()
    finally:
        first.quit()
    again = start(device_server.url, "Android", udid="emulator-5554")
    again.quit()


def test_crash_in_mid_call(device_server: DeviceServer) -> None:
    """The call in flight fails at once, the next one finds no session."""
    driver = start(device_server.url, "iOS", simCrashAfter=0.5)
    driver.implicitly_wait(20)
    begun = time.monotonic()
    with pytest.raises(WebDriverException, match=r"crashed|gone|ended"):
        driver.find_element(By.ACCESSIBILITY_ID, "nowhere")
    assert time.monotonic() - begun < 5
    with pytest.raises(InvalidSessionIdException):
        _ = driver.page_source
    eventually(driver, lambda: browsers(device_server) == [])


def test_slow_command(device_server: DeviceServer) -> None:
    """One command takes its time, the others do not."""
    driver = start(device_server.url, "Android", simSlowCommand={"command": "getPageSource", "ms": 700})
    try:
        begun = time.monotonic()
        _ = driver.page_source
        assert time.monotonic() - begun >= 0.7
    finally:
        driver.quit()


def test_alert_at_start(device_server: DeviceServer) -> None:
    """The app is found covered by an alert."""
    driver = start(device_server.url, "iOS", simAlertAtStart="Software update available")
    try:
        assert driver.switch_to.alert.text == "Software update available"
        driver.switch_to.alert.dismiss()
        assert driver.find_element(By.ACCESSIBILITY_ID, "loginButton").is_displayed()
    finally:
        driver.quit()


def test_start_that_hangs(device_server: DeviceServer) -> None:
    """A start can take longer than anybody waits for."""
    begun = time.monotonic()
    driver = start(device_server.url, "iOS", simHangAtStart=1.5)
    driver.quit()
    assert time.monotonic() - begun > 1.5


def test_idle_session_ends(device_server: DeviceServer) -> None:
    """After newCommandTimeout its browser is gone."""
    driver = start(device_server.url, "Android", newCommandTimeout=1)
    eventually(driver, lambda: browsers(device_server) == [])
    with pytest.raises(InvalidSessionIdException):
        _ = driver.page_source


@pytest.mark.usefixtures("device_server")
def test_server_ends_with_everything() -> None:
    """SIGTERM with a session and its web view open leaves no process and no folder; pytest's end looks, too."""
    with DeviceServer() as server:
        driver = start(server.url, "iOS")
        driver.get("pocket://screen/web")
        driver.switch_to.context(driver.contexts[1])
        left = browsers(server)
        assert len(left) > 2
        folder = server.log.parent
    assert living(left) == []
    assert not folder.exists()


@pytest.mark.usefixtures("device_server")
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in that loses its port is a script")
def test_killed_server_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the phone's browser nor the web view's chromedriver outlives an Appium that was killed.

    A chromedriver that found its port taken was started once more.
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
