"""The shop that is tested: built for three platforms into `build`, and served for the web."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from orchestrator.demo import shop
from orchestrator.demo.device_server import DeviceServer

BUILD = Path("build")


def pytest_configure(config: pytest.Config) -> None:
    """Build and serve the shop; the processes of pytest-xdist use what the first one has made."""
    if hasattr(config, "workerinput"):
        return
    servers = ExitStack()
    config.add_cleanup(servers.close)
    page = servers.enter_context(shop.web(shop.bundle(BUILD / "web", "web", broken=True)))
    os.environ["SHOP_URL"] = page.url
    shop.bundle(BUILD / "ios", "ios", broken=True)
    shop.bundle(BUILD / "android", "android", broken=True)
    if "ORCHESTRATOR_APPIUM_URL" not in os.environ:
        os.environ["ORCHESTRATOR_APPIUM_URL"] = servers.enter_context(DeviceServer()).url


@pytest.fixture(scope="session")
def base_url() -> str:
    """The address of the shop."""
    return os.environ["SHOP_URL"]
