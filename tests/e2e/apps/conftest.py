"""A session of each platform for all tests of apps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.e2e.apps.phone import PLATFORMS, Phone, staged, start
from tests.e2e.stage import Stage


@pytest.fixture(scope="session")
def stage(device_server: DeviceServer) -> Iterator[Stage]:
    """A server with a session of each platform and a browser."""
    with staged(device_server.url, "apps", "web") as stage:
        for platform in PLATFORMS:
            answer = start(stage, platform, platform)
            assert not answer.failed, answer.text
        yield stage


@pytest.fixture(params=PLATFORMS)
def phone(request: pytest.FixtureRequest, stage: Stage) -> Phone:
    """A phone with the app, in the state that the previous test left."""
    return Phone(stage, request.param, request.param)
