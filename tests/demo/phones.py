"""Simulated phones as tests ask for them, through the real Appium client."""

from __future__ import annotations

import threading
from typing import Any

from appium import webdriver
from appium.options.common import AppiumOptions
from appium.webdriver.common.appiumby import AppiumBy
from selenium.webdriver.support.wait import WebDriverWait

from tests.appium_end import POCKET

DEVICES = {
    "iOS": {"appium:automationName": "XCUITest", "appium:deviceName": "iPhone 15"},
    "Android": {"appium:automationName": "UiAutomator2", "appium:deviceName": "Pixel 8"},
}

_STARTING = threading.Lock()
"""The client can send one idempotency key twice when two sessions start at once."""


def start(url: str, platform: str, **capabilities: Any) -> webdriver.Remote:
    """Start a session; capabilities without a prefix get Appium's. `app=None` leaves the app out."""
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
    """Wait until the condition, a function of nothing, holds."""
    return WebDriverWait(driver, 60, 0.05).until(lambda _: condition())


def ios(driver: webdriver.Remote) -> bool:
    """Whether it is the iPhone."""
    return bool(driver.capabilities["platformName"] == "iOS")


def find(driver: webdriver.Remote, name: str) -> Any:
    """By accessibility id."""
    return driver.find_element(AppiumBy.ACCESSIBILITY_ID, name)
