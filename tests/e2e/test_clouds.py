"""Every cloud, for every platform it serves: what reaches its hub and its REST API, with a real session behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.cloud_end import APP, CloudHub, RestEnd, rest_end
from tests.e2e.harness import Home
from tests.grid_end import GridEnd, grid_end
from tests.remote_end import PASSWORD, USER, relayed
from tests.served import Served

ACCOUNTS = {
    "BROWSERSTACK_USERNAME": USER, "BROWSERSTACK_ACCESS_KEY": PASSWORD,
}  # fmt: skip
PROVIDERS = ["browserstack"]
SHARED: dict[str, dict[str, Any]] = {
    "browser": {
        "pageLoadStrategy": "eager", "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": 28000, "pageLoad": 28000},
    },
    "ios": {"platformName": "iOS", "appium:automationName": "XCUITest"},
    "android": {
        "platformName": "Android", "appium:automationName": "UiAutomator2", "appium:autoGrantPermissions": True
    },
}  # fmt: skip
"""What is asked for on a platform whatever the cloud."""
PHONES = {"ios": "iPhone 15", "android": "Pixel 8"}


class Case(NamedTuple):
    """A start, what of it reaches the hub beside SHARED, and what is told at its end.

    `marked` are method, path and JSON of the REST request, or a script and its arguments; in `told` and in these, `ID`
    is the session's id.
    """

    provider: str
    platform: str
    start: dict[str, Any]
    asked: dict[str, Any]
    dashboard: str
    keep_alive: int | None
    marked: tuple[Any, ...]
    rest: dict[tuple[str, str], tuple[int, Any]]

    @property
    def name(self) -> str:
        """What the test is called."""
        kind = "app" if "app" in self.start else self.start.get("browser", "chrome")
        return f"{self.provider}-{self.platform}-{kind}"


SESSION = {"automation_session": {"browser_url": "https://automate.browserstack.com/builds/b/sessions/s"}}
BROWSERSTACK = {"sessionName": "mine", "buildName": "nightly", "idleTimeout": 300}
CASES = [
    Case(
        "browserstack", "browser",
        {
            "browserVersion": "stable", "headless": True,
            "options": {"os": "Linux", "osVersion": "12", "projectName": "Shop", "consoleLogs": "info", "local": True,
                        "localIdentifier": "running", "acceptInsecureCerts": True},
            "capabilities": {"bstack:options": {"osVersion": "mine", "chrome": {"driver": "156"}}},
        },
        {
            "browserName": "chrome", "browserVersion": "stable", "acceptInsecureCerts": True,
            "bstack:options": BROWSERSTACK | {
                "os": "Linux", "osVersion": "mine", "projectName": "Shop", "consoleLogs": "info", "local": True,
                "localIdentifier": "running", "chrome": {"driver": "156"},
            },
        },
        SESSION["automation_session"]["browser_url"], 300,
        ("PUT", "/automate/sessions/ID.json", {"status": "failed", "reason": "the cart is empty"}),
        {("GET", "/automate/sessions/"): (200, SESSION), ("PUT", "/automate/sessions/"): (200, SESSION)},
    ),
    Case(
        "browserstack", "ios", {"browser": "safari", "options": {"idleTimeout": 90, "realMobile": True}},
        {
            "browserName": "Safari", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 150,
            "bstack:options": BROWSERSTACK | {"idleTimeout": 150, "deviceName": "iPhone 15", "realMobile": True},
        },
        SESSION["automation_session"]["browser_url"], 150,
        ("PUT", "/automate/sessions/ID.json", {"status": "failed", "reason": "the cart is empty"}),
        {("GET", "/automate/sessions/"): (200, SESSION), ("PUT", "/automate/sessions/"): (200, SESSION)},
    ),
    Case(
        "browserstack", "android", {"app": f"bs://{APP}", "options": {"appiumVersion": "2.19.0"}},
        {
            "appium:app": f"bs://{APP}", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 300,
            "bstack:options": BROWSERSTACK | {"appiumVersion": "2.19.0"},
        },
        SESSION["automation_session"]["browser_url"], 300,
        ("PUT", "/app-automate/sessions/ID.json", {"status": "failed", "reason": "the cart is empty"}),
        {("GET", "/app-automate/sessions/"): (200, SESSION), ("PUT", "/app-automate/sessions/"): (200, SESSION)},
    ),
]  # fmt: skip


class Clouds(NamedTuple):
    """A server whose clouds are all at one hub and one REST API."""

    server: Served
    hub: CloudHub
    rest: RestEnd
    grid: GridEnd
    home: Home
    settings: Mapping[str, str]


@pytest.fixture(scope="module")
def end(device_server: DeviceServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clouds]:
    """One of each for all clouds."""
    home = Home(tmp_path_factory.mktemp("clouds"))
    with pytest.MonkeyPatch.context() as patch, grid_end(1, 1, appium=device_server.url) as grid, rest_end() as rest:
        for name, value in ACCOUNTS.items():
            patch.setenv(name, value)
        patch.setenv("BROWSERSTACK_BUILD_NAME", "nightly")
        with relayed(grid.port, CloudHub(), guarded=True) as hub:
            places = {name: {"hub_url": hub.url, "api_url": rest.url} for name in PROVIDERS}
            settings = {"clouds": json.dumps(places), "start_timeout": "60"}
            with home.serve(**settings) as server:
                yield Clouds(server, hub, rest, grid, home, settings)
    assert home.is_clean()


@pytest.fixture
def clouds(end: Clouds) -> Iterator[Clouds]:
    """The same, with nothing noted yet and no session left."""
    end.hub.requests.clear()
    end.rest.requests.clear()
    end.rest.answers.clear()
    yield end
    end.server.ok("close_sessions", all=True)
    assert end.grid.sessions() == []


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_session_is_asked_for_driven_marked_and_ended(clouds: Clouds, case: Case) -> None:
    """The hub gets exactly these capabilities and the API exactly these requests; a real session answers meanwhile."""
    clouds.rest.answers.update(case.rest)
    given = {"deviceName": PHONES[case.platform]} if case.platform in PHONES else {}
    row = clouds.server.ok("start_session", provider=case.provider, platform=case.platform, sessionId="mine",
                           **given, **case.start)  # fmt: skip
    assert clouds.hub.asked() == SHARED[case.platform] | case.asked
    session = row["remoteSessionId"]
    assert (row["provider"], row["type"], row["remoteUrl"]) == (case.provider, case.platform, clouds.hub.url)
    assert row["remoteEnd"] == {"dashboardUrl": case.dashboard.replace("ID", session)}
    assert clouds.home.record("mine").keep_alive == case.keep_alive
    assert clouds.server.ok("get_visible_elements")["total"] >= 0
    closed = clouds.server.ok("close_session", status="failed", reason="the cart is empty")
    assert closed == {"closed": ["mine"], "session": closed["session"]} if "session" in closed else {"closed": ["mine"]}
    told = [(one.method, one.path.replace(session, "ID"), one.json) for one in clouds.rest.requests if one.body]
    assert [*told, *clouds.hub.scripts()] == [case.marked]
    assert {one.account for one in clouds.rest.requests} <= {"basic"}
    assert urlsplit(clouds.hub.url).port
