"""Tests in each browser of a list, at a Selenium Grid or in a cloud; `-k chrome` takes one of them.

In this folder, at a Grid: `pytest -n 4 -c grid.ini --orchestrator-grid-url http://grid:4444`. At BrowserStack, with its
user and access key in the environment: `pytest -n 4 -c browserstack.ini`. The address of the shop is in the ini file.
"""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.pytest_plugin.handles import RecordedSession


@pytest.fixture(params=["chrome", "edge", "firefox"])
def session_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Every test runs once in each of these."""
    return {"browser": request.param, "navigation_url": "/"}


def test_four_products_are_shown(web: RecordedSession) -> None:
    """The page has its title and its products."""
    web.expect("role=heading[name=Kiln & Fern]", visible=True)
    web.expect("role=listitem", count=4)


def test_large_orders_are_sent_free_of_charge(web: RecordedSession) -> None:
    """Two teapots cost what they cost. The build that is tested fails here."""
    web.click_element("role=button[name=Add Teapot]")
    web.click_element("role=button[name=Add Teapot]")
    web.click_element("role=button[name=Cart (2)]")
    web.click_element("role=button[name=Check out]")
    web.expect("text=€108.00", visible=True, timeout=500)
