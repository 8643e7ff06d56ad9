"""The wheel with its extra in one environment with the plug-ins that testers have: nothing of one is another's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine, needed_switches
from tests.pytest_plugin.conftest import Project
from tests.servers.site import Site

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(900)]

NEIGHBOURS = [
    "allure-pytest>=2.16,<3",
    "pytest-asyncio>=1.5,<2",
    "pytest-base-url>=2.1,<3",
    "pytest-html>=4.2,<5",
    "pytest-playwright>=0.10,<1",
    "pytest-rerunfailures>=16.7,<17",
    "pytest-selenium>=4.1,<5",
    "pytest-xdist>=3.8,<4",
]
OURS = "orchestrator"


@pytest.fixture(scope="module")
def python(new_environment: Callable[..., Path]) -> Path:
    """The Python of an environment with the wheel, its extra `bdd`, and the other plug-ins."""
    return new_environment(*NEIGHBOURS)


@pytest.fixture
def neighbourhood(project: Project, python: Path) -> Project:
    """A project whose tests run in that environment."""
    project.python = python
    return project


def lines(project: Project, option: str, *words: str) -> list[str]:
    """Return what pytest lists, a line each."""
    listed = project.run(option, *words)
    assert listed.code == 0, listed.text
    return listed.text.splitlines()


def fixtures(shown: list[str]) -> list[tuple[str, str]]:
    """Return the fixtures of `--fixtures -v`: name and place."""
    found = (re.match(r"(\w+)(?: \[\w+ scope\])? -- (\S+)", line) for line in shown)
    return [(one[1], one[2]) for one in found if one]


def markers(shown: list[str]) -> list[str]:
    """Return the markers of `--markers`."""
    return [line.split(":", 1)[0] for line in shown if line.startswith("@pytest.mark.")]


def options(shown: list[str]) -> set[str]:
    """Return the options and ini keys of `--help`."""
    flags = {flag for line in shown if re.match(r"  -", line) for flag in re.findall(r"(?<![\w-])--[\w-]+", line)}
    return flags | {found[1] for line in shown if (found := re.match(r"  (\w+) \(", line))}


def test_no_fixture_marker_or_option_of_another_plug_in_is_redefined(neighbourhood: Project) -> None:
    """Without ours pytest lists the same fixtures, markers and options of others as with it, and none of ours."""
    neighbourhood.write("test_none.py", "")
    alone = ("-p", f"no:{OURS}")
    both = fixtures(lines(neighbourhood, "--fixtures", "-v"))
    theirs = fixtures(lines(neighbourhood, "--fixtures", "-v", *alone))
    assert {"page", "selenium", "base_url", "extras", "anyio_backend", "event_loop_policy"} <= {
        one for one, _ in theirs
    }
    ours = [one for one in both if one not in theirs]
    assert [one for one in both if one in theirs] == theirs
    assert {"web", "sessions", "world"} <= {name for name, _ in ours}
    assert {name for name, _ in ours} & {name for name, _ in theirs} == set()
    both_marked = markers(lines(neighbourhood, "--markers"))
    marked = markers(lines(neighbourhood, "--markers", *alone))
    added = [one for one in both_marked if one not in marked]
    assert sorted(one.removeprefix("@pytest.mark.").partition("(")[0] for one in added) == [
        "platforms",
        "session_options",
        "skip_platform",
        "users",
    ]
    assert {one.partition("(")[0] for one in added} & {one.partition("(")[0] for one in marked} == set()
    both_said = options(lines(neighbourhood, "--help"))
    said = options(lines(neighbourhood, "--help", *alone))
    assert {"--browser", "--headed", "--driver", "--base-url", "--reruns", "--html", "--alluredir"} <= said
    assert said <= both_said
    assert {one for one in both_said - said if not re.match("--orchestrator-|orchestrator_", one)} == set()


_CONFTEST = """
import pytest


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {{**browser_type_launch_args, "executable_path": {chromium!r}, "args": {switches!r}}}


@pytest.fixture
def chrome_options(chrome_options):
    chrome_options.binary_location = {chromium!r}
    for switch in ("--headless=new", *{switches!r}):
        chrome_options.add_argument(switch)
    return chrome_options


@pytest.fixture
def chrome_service(chrome_service):
    chrome_service.path = {driver!r}
    return chrome_service


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
_AWAITED = """
import pytest


@pytest.mark.asyncio
async def test_asyncio(async_web):
    await async_web.navigate("/")
    await async_web.expect("h1", text="Tea")


@pytest.mark.anyio
async def test_anyio(async_web):
    await async_web.navigate("/")
    await async_web.expect("h1", text="Tea")
"""
_BLOCKING = """
import allure
import pytest


def test_ours(web):
    web.navigate("/")
    web.expect("h1", text="Tea")


def test_playwright(page):
    page.goto("/")
    assert page.inner_text("h1") == "Tea"


def test_selenium(selenium, base_url):
    selenium.get(base_url)
    assert selenium.find_element("css selector", "h1").text == "Tea"


def test_all_in_one(web, page, selenium, base_url):
    page.goto("/")
    selenium.get(base_url)
    web.navigate("/")
    assert page.title() == selenium.title == web.expect("h1", text="Tea").title == "shop"


@allure.title("Two users")
@pytest.mark.users("alice", "bob", navigation_url="/")
def test_users(alice, bob):
    for user in (alice, bob):
        user.expect("h1", text="Tea")


TRIED = []


@pytest.mark.flaky(reruns=1)
def test_again(web):
    TRIED.append(web.id)
    web.navigate("/")
    web.expect("h1", text="Tea" if len(TRIED) > 1 else "Coffee", timeout=0)
"""


def test_a_test_of_each_plug_in_runs_beside_ours_in_one_run(neighbourhood: Project, site: Site) -> None:
    """Playwright, Selenium, asyncio and anyio drive their browsers in a run with ours; reports have our files."""
    here = LocalMachine.this()
    chromium = here.browser("chrome")
    switches, driver = [*needed_switches(Settings())], str(here.driver(chromium))
    given = {"chromium": str(chromium), "driver": driver, "switches": switches}
    # What the other browsers leave among the temporary files goes with the home.
    neighbourhood.environment["TMPDIR"] = str(neighbourhood.home.folder)
    neighbourhood.write("conftest.py", _CONFTEST.format(**given))
    neighbourhood.write("test_awaited.py", _AWAITED)
    neighbourhood.write("test_blocking.py", _BLOCKING)
    page = site.page("/", "<title>shop</title><h1>Tea</h1>")
    theirs = ("--browser", "chromium", "--driver", "Chrome", "--base-url", page, "--sensitive-url", "nowhere")
    reports = ("--html", "report.html", "--alluredir", "allure", "--junitxml", "junit.xml")
    # Playwright leaves an event loop in its process, in which no test with `await` can run.
    done = neighbourhood.run("-n", "2", "--dist", "loadfile", *theirs, *reports, "-rA", patience=300)
    assert done.counts() == {"passed": 8, "rerun": 1}, done.text
    for name in ("asyncio", "anyio", "ours", "playwright[chromium]", "selenium", "all_in_one[chromium]", "again"):
        assert re.search(rf"^PASSED test_\w+\.py::test_{re.escape(name)}", done.text, re.MULTILINE), name
    assert "web screenshot" in (neighbourhood.folder / "report.html").read_text("utf-8")
    assert [*(neighbourhood.folder / "allure").glob("*-attachment.png")]
    # Not in the folder of pytest-playwright, each process of which empties it.
    results = neighbourhood.folder / "orchestrator-results"
    assert [str(one.relative_to(results)) for one in results.glob("*/*.png")] == [
        "test_blocking-test_again/web-failed.png"
    ]
