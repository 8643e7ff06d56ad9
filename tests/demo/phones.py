"""Simulated phones, started and used through the real Appium client."""

from __future__ import annotations

import threading
from typing import Any

from appium import webdriver
from appium.options.common import AppiumOptions
from appium.webdriver.common.appiumby import AppiumBy
from selenium.webdriver.support.wait import WebDriverWait

from tests.servers.appium import POCKET

DEVICES = {
    "iOS": {"appium:automationName": "XCUITest", "appium:deviceName": "iPhone 15"},
    "Android": {"appium:automationName": "UiAutomator2", "appium:deviceName": "Pixel 8"},
}

_STARTING = threading.Lock()
"""The client can send one idempotency key twice when two sessions start at once."""


def start(url: str, platform: str, **capabilities: Any) -> webdriver.Remote:
    """Start a session; capabilities without a prefix get Appium's. `app=None` omits the app."""
    wanted = {"app": str(POCKET)} | capabilities
    options = AppiumOptions()
    options.load_capabilities(
        {"platformName": platform}
        | DEVICES[platform]
        | {
            name if ":" in name or name == "browserName" else f"appium:{name}": value
            for name, value in wanted.items()
            if value is not None
        }
    )
    with _STARTING:
        return webdriver.Remote(url, options=options)


def eventually(driver: webdriver.Remote, condition: Any) -> Any:
    """Wait until a condition holds."""
    return WebDriverWait(driver, 60, 0.05).until(lambda _: condition())


def ios(driver: webdriver.Remote) -> bool:
    """Return True for the iPhone."""
    return bool(driver.capabilities["platformName"] == "iOS")


def find(driver: webdriver.Remote, name: str) -> Any:
    """Find an element by accessibility id."""
    return driver.find_element(AppiumBy.ACCESSIBILITY_ID, name)
