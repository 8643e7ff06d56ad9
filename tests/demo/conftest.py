"""A phone of each platform for each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from appium import webdriver

from orchestrator.demo.device_server import DeviceServer
from tests.demo.phones import start
from tests.servers.appium import POCKET_ID


@pytest.fixture(scope="module", params=["iOS", "Android"])
def session(request: pytest.FixtureRequest, device_server: DeviceServer) -> Iterator[webdriver.Remote]:
    """A phone of each platform for the module."""
    driver = start(device_server.url, request.param)
    yield driver
    driver.quit()


@pytest.fixture
def phone(session: webdriver.Remote) -> webdriver.Remote:
    """The phone with the app started anew."""
    session.terminate_app(POCKET_ID)
    session.activate_app(POCKET_ID)
    return session
