"""One Appium server for all tests of simulated phones."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from orchestrator.demo.device_server import DeviceServer, missing


@pytest.fixture(scope="session")
def device_server() -> Iterator[DeviceServer]:
    """The server; without Node or Appium the tests are skipped, and fail where CI=true."""
    if (lack := missing()) is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(lack)
        pytest.skip(lack)
    with DeviceServer() as server:
        yield server
