"""Tests of users at a Selenium Grid with fewer slots than processes, and in a cloud that is told how they ended."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.demo import shop
from tests.e2e.providers.cloud_cases import ACCOUNTS, AUTOMATE
from tests.pytest_plugin.conftest import Project
from tests.servers.cloud import CloudHub, rest_end
from tests.servers.grid import GridEnd, grid_end
from tests.servers.site import Site
from tests.servers.webdriver import relayed

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(300)]

EXAMPLE = Path(__file__).parents[2] / "examples" / "shop_tests" / "browsers"


def test_more_processes_than_slots_queue_and_pass(project: Project, grid: GridEnd, site: Site) -> None:
    """Eight processes share the four slots of a Grid."""
    page = site.page("/", "<h1>Tea</h1>")
    project.write(
        "test_grid.py",
        f"""
import pytest

@pytest.mark.parametrize("number", range(8))
def test_tea(web, number):
    assert web.facts.provider == "selenium_grid"
    web.navigate({page!r})
    web.expect("h1", text="Tea")
""",
    )
    done = project.run("-n", "8", "--orchestrator-provider", "selenium_grid", "--orchestrator-grid-url", grid.url)
    assert done.counts() == {"passed": 8}, done.text
    assert grid.sessions() == []


@pytest.fixture
def browsers(project: Project) -> Project:
    """The part of examples/shop_tests that runs in a list of browsers."""
    shutil.copytree(EXAMPLE, project.folder, dirs_exist_ok=True)
    return project


@pytest.fixture(scope="module")
def broken_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a shop that charges for free delivery."""
    with shop.web(shop.bundle(tmp_path_factory.mktemp("shop"), "web", broken=True)) as page:
        yield page.url


@pytest.mark.usefixtures("needs_firefox")
def test_the_example_runs_in_each_browser_of_a_grid(browsers: Project, broken_shop: str) -> None:
    """Each test runs once in each browser, side by side; the report names the browsers that fail."""
    with grid_end(firefox=True) as grid:
        words = ("--orchestrator-grid-url", grid.url, "--orchestrator-base-url", broken_shop)
        done = browsers.run("-n", "4", "-c", "grid.ini", "-k", "not edge", "-rA", *words)
        assert grid.sessions() == []
    assert done.counts() == {"failed": 2, "passed": 2}, done.text
    for browser in ("chrome", "firefox"):
        assert f"PASSED test_browsers.py::test_four_products_are_shown[{browser}]" in done.text
        assert f"FAILED test_browsers.py::test_large_orders_are_sent_free_of_charge[{browser}]" in done.text


def test_the_example_tells_browserstack_name_build_and_how_a_test_ended(
    browsers: Project, broken_shop: str, grid: GridEnd
) -> None:
    """The hub gets what the ini file says, and the test's name; the REST API whether it passed, and why if not."""
    headless = "    headless=true\n"  # here are no screens
    browsers.write("browserstack.ini", (EXAMPLE / "browserstack.ini").read_text("utf-8") + headless)
    hub = CloudHub()
    with rest_end() as rest, relayed(grid.port, hub, guarded=True):
        rest.answers.update(AUTOMATE)
        places = {"browserstack": {"hub_url": hub.url, "api_url": rest.url}}
        browsers.environment |= {**ACCOUNTS, "ORCHESTRATOR_CLOUDS": json.dumps(places)}
        done = browsers.run("-c", "browserstack.ini", "-k", "chrome", "--orchestrator-base-url", broken_shop)
    assert done.counts() == {"failed": 1, "passed": 1, "deselected": 4}, done.text
    asked = [body["capabilities"]["alwaysMatch"] for _, path, body in hub.requests if path == "/session"]
    assert [one["browserName"] for one in asked] == ["chrome", "chrome"]
    said = {"os": "Windows", "osVersion": "11", "projectName": "shop", "buildName": "shop, nightly"}
    names = ["test_four_products_are_shown", "test_large_orders_are_sent_free_of_charge"]
    for one, name in zip(asked, names, strict=True):
        assert one["bstack:options"].items() >= {**said, "sessionName": f"test_browsers.py::{name}[chrome] web"}.items()
    told = [one.value for one in rest.requests if one.body]
    assert [one["status"] for one in told] == ["passed", "failed"]
    assert told[1]["reason"].startswith("orchestrator.errors.ExpectationFailed: Not as expected after")
