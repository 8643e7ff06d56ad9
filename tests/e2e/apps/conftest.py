"""One Appium server and one session a platform for all tests of apps."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from orchestrator.demo.device_server import DeviceServer, missing
from tests.e2e.apps.phone import PLATFORMS, Phone, staged, start
from tests.e2e.stage import Stage


@pytest.fixture(scope="session")
def appium() -> Iterator[DeviceServer]:
    """The Appium server; without Node or Appium the tests are skipped, and fail where CI=true."""
    if (lack := missing()) is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(lack)
        pytest.skip(lack)
    with DeviceServer() as server:
        yield server


@pytest.fixture(scope="session")
def stage(appium: DeviceServer) -> Iterator[Stage]:
    """A server with a session on each platform and a browser beside them."""
    with staged(appium.url, "apps", "web") as stage:
        for platform in PLATFORMS:
            answer = start(stage, platform, platform)
            assert not answer.failed, answer.text
        yield stage


@pytest.fixture(params=PLATFORMS)
def phone(request: pytest.FixtureRequest, stage: Stage) -> Phone:
    """A phone with the app, wherever the test before it stopped."""
    return Phone(stage, request.param, request.param)
