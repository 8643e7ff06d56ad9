"""Every cloud, for every platform it serves: what reaches its hub and its REST API, with a real session behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.cloud_end import APP, CloudHub, RestEnd, rest_end
from tests.e2e.harness import Home
from tests.grid_end import GridEnd, grid_end
from tests.remote_end import PASSWORD, USER, relayed
from tests.served import Served

ACCOUNTS = {
    "BROWSERSTACK_USERNAME": USER, "BROWSERSTACK_ACCESS_KEY": PASSWORD,
    "SAUCE_USERNAME": USER, "SAUCE_ACCESS_KEY": PASSWORD,
    "TESTMU_USERNAME": USER, "TESTMU_ACCESS_KEY": PASSWORD,
    "TESTINGBOT_KEY": USER, "TESTINGBOT_SECRET": PASSWORD,
    "DIGITALAI_ACCESS_KEY": PASSWORD,
}  # fmt: skip
BUILDS = dict.fromkeys(("BROWSERSTACK_BUILD_NAME", "SAUCE_BUILD_NAME", "LT_BUILD_NAME"), "nightly")
PROVIDERS = ["browserstack", "sauce_labs", "testmu", "testingbot"]
OPEN = ["digitalai"]
"""Those whose hub takes the access key as a capability."""
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

    `marked` are method, path and JSON of the REST request, or a script and its arguments; `<id>` in them and
    in `dashboard` is the session's.
    """

    provider: str
    platform: str
    start: dict[str, Any]
    asked: dict[str, Any]
    dashboard: str
    keep_alive: int | None
    marked: list[tuple[Any, ...]]
    rest: dict[tuple[str, str], tuple[int, Any]]

    @property
    def name(self) -> str:
        """What the test is called."""
        kind = "app" if "app" in self.start else self.start.get("browser", "chrome")
        return f"{self.provider}-{self.platform}-{kind}"


REASON = "the cart is empty"
SESSION = {"automation_session": {"browser_url": "https://automate.browserstack.com/builds/b/sessions/s"}}
AUTOMATE = {("GET", "/automate/sessions/"): (200, SESSION), ("PUT", "/automate/sessions/"): (200, SESSION)}
APP_AUTOMATE = {(method, f"/app-{path[1:]}"): answer for (method, path), answer in AUTOMATE.items()}
BROWSERSTACK = {"sessionName": "mine", "buildName": "nightly", "idleTimeout": 300}
SAUCE = {"name": "mine", "build": "nightly", "idleTimeout": 1000}
TESTMU = {"w3c": True, "name": "mine", "build": "nightly", "idleTimeout": 1800}
TESTINGBOT = {"name": "mine", "idletimeout": 1800}
OK = (200, {"success": True})
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
        [("PUT", "/automate/sessions/<id>.json", {"status": "failed", "reason": REASON})], AUTOMATE,
    ),
    Case(
        "browserstack", "ios", {"browser": "safari", "options": {"idleTimeout": 90, "realMobile": True}},
        {
            "browserName": "Safari", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 150,
            "bstack:options": BROWSERSTACK | {"idleTimeout": 150, "deviceName": "iPhone 15", "realMobile": True},
        },
        SESSION["automation_session"]["browser_url"], 150,
        [("PUT", "/automate/sessions/<id>.json", {"status": "failed", "reason": REASON})], AUTOMATE,
    ),
    Case(
        "browserstack", "android", {"app": f"bs://{APP}", "options": {"appiumVersion": "2.19.0"}},
        {
            "appium:app": f"bs://{APP}", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 300,
            "bstack:options": BROWSERSTACK | {"appiumVersion": "2.19.0"},
        },
        SESSION["automation_session"]["browser_url"], 300,
        [("PUT", "/app-automate/sessions/<id>.json", {"status": "failed", "reason": REASON})], APP_AUTOMATE,
    ),
    Case(
        "sauce_labs", "browser",
        {
            "options": {"platformName": "linux", "tags": ["a"], "tunnelName": "running", "android.gpu.mode": "hardware",
                        "custom-data": {"commit": "1"}},
            "capabilities": {"sauce:options": {"tags": ["b"], "build": "mine"}},
        },
        {
            "browserName": "chrome", "platformName": "linux",
            "sauce:options": SAUCE | {
                "tags": ["b"], "build": "mine", "tunnelName": "running", "android.gpu.mode": "hardware",
                "custom-data": {"commit": "1"},
            },
        },
        "https://app.us-west-1.saucelabs.com/tests/<id>", 1000,
        [("PUT", f"/rest/v1/{USER}/jobs/<id>", {"passed": False, "custom-data": {"reason": REASON}})],
        {("PUT", "/rest/v1/"): OK},
    ),
    Case(
        "sauce_labs", "android", {"browser": "chrome", "options": {"phoneOnly": True}},
        {
            "browserName": "Chrome", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 90,
            "sauce:options": {"name": "mine", "build": "nightly", "phoneOnly": True},
        },
        "https://app.us-west-1.saucelabs.com/tests/<id>", 90,
        [(f"sauce:context={REASON}", []), ("sauce:job-result=failed", [])], {},
    ),
    Case(
        "sauce_labs", "ios", {"app": f"storage:filename={APP}", "options": {"region": "eu-central-1"}},
        {
            "appium:app": f"storage:filename={APP}", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 90,
            "sauce:options": {"name": "mine", "build": "nightly"},
        },
        "https://app.us-west-1.saucelabs.com/tests/<id>", 90,
        [(f"sauce:context={REASON}", []), ("sauce:job-result=failed", [])], {},
    ),
    Case(
        "testmu", "browser",
        {
            "options": {"platformName": "Windows 11", "console": True, "smartUI.project": "Shop", "tunnel": True,
                        "tunnelName": "running"},
            "capabilities": {"LT:Options": {"console": "error"}},
        },
        {
            "browserName": "chrome",
            "LT:Options": TESTMU | {
                "platformName": "Windows 11", "console": "error", "smartUI.project": "Shop", "tunnel": True,
                "tunnelName": "running",
            },
        },
        "https://automation.lambdatest.com/logs/?sessionID=<id>", 1800,
        [("PATCH", "/automation/api/v1/sessions/<id>", {"status_ind": "failed", "reason": REASON})],
        {("PATCH", "/automation/api/v1/sessions/"): OK},
    ),
    Case(
        "testmu", "ios", {"browser": "safari", "options": {"isRealMobile": True}},
        {
            "browserName": "Safari", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 1800,
            "lt:options": TESTMU | {"platformName": "ios", "deviceName": "iPhone 15", "isRealMobile": True},
        },
        "", 1800, [("lambda-status=failed", [])], {},
    ),
    Case(
        "testmu", "android", {"app": f"lt://{APP}", "options": {"build": "mine"}},
        {
            "appium:app": f"lt://{APP}", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 1800,
            "lt:options": TESTMU | {
                "platformName": "android", "deviceName": "Pixel 8", "app": f"lt://{APP}", "build": "mine",
            },
        },
        "", 1800, [("lambda-status=failed", [])], {},
    ),
    Case(
        "testingbot", "browser",
        {
            "options": {"platformName": "LINUX", "screen-resolution": "1280x1024", "tunnel-identifier": "running"},
            "capabilities": {"tb:options": {"name": "other"}},
        },
        {
            "browserName": "chrome", "platformName": "LINUX",
            "tb:options": TESTINGBOT | {
                "name": "other", "screen-resolution": "1280x1024", "tunnel-identifier": "running",
            },
        },
        "https://testingbot.com/members/tests/<id>", 1800,
        [("PUT", "/v1/tests/<id>", {"test[success]": ["0"], "test[status_message]": [REASON]})],
        {("PUT", "/v1/tests/"): OK},
    ),
    Case(
        "testingbot", "android", {"browser": "chrome", "options": {"build": "nightly"}},
        {
            "browserName": "Chrome", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 1800,
            "tb:options": TESTINGBOT | {"build": "nightly"},
        },
        "https://testingbot.com/members/tests/<id>", 1800,
        [("PUT", "/v1/tests/<id>", {"test[success]": ["0"], "test[status_message]": [REASON]})],
        {("PUT", "/v1/tests/"): OK},
    ),
    Case(
        "testingbot", "ios", {"app": f"tb://{APP}", "options": {"realDevice": True}},
        {
            "appium:app": f"tb://{APP}", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 1800,
            "tb:options": TESTINGBOT | {"realDevice": True},
        },
        "https://testingbot.com/members/tests/<id>", 1800,
        [("PUT", "/v1/tests/<id>", {"test[success]": ["0"], "test[status_message]": [REASON]})],
        {("PUT", "/v1/tests/"): OK},
    ),
    Case(
        "digitalai", "browser", {"options": {"osName": "Linux"}, "capabilities": {"digitalai:testName": "other"}},
        {
            "browserName": "chrome", "digitalai:testName": "other", "digitalai:osName": "Linux",
            "digitalai:accessKey": PASSWORD,
        },
        "", None, [("seetest:client.setReportStatus", ["Failed", REASON])], {},
    ),
    Case(
        "digitalai", "ios", {"browser": "safari"},
        {
            "browserName": "Safari", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 1860,
            "digitalai:options": {
                "testName": "mine", "deviceQuery": "@os='ios' and @name='iPhone 15'", "accessKey": PASSWORD,
            },
        },
        "", None, [("seetest:client.setReportStatus", ["Failed", REASON])], {},
    ),
    Case(
        "digitalai", "android", {"app": f"cloud:uniqueName={APP}", "options": {"deviceQuery": "@os='android'"}},
        {
            "appium:app": f"cloud:uniqueName={APP}", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 1860,
            "digitalai:options": {"testName": "mine", "deviceQuery": "@os='android'", "accessKey": PASSWORD},
        },
        "", None, [("seetest:client.setReportStatus", ["Failed", REASON])], {},
    ),
]  # fmt: skip


class Clouds(NamedTuple):
    """A server whose clouds are all at one Grid and one REST API.

    The door asks for the account; the other one is for the vendor that wants the access key among the capabilities.
    """

    server: Served
    door: CloudHub
    other: CloudHub
    rest: RestEnd
    grid: GridEnd
    home: Home
    settings: Mapping[str, str]

    def hub(self, provider: str) -> CloudHub:
        """Where this provider's sessions are."""
        return self.other if provider in OPEN else self.door


@pytest.fixture(scope="module")
def end(device_server: DeviceServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clouds]:
    """One of each for all clouds."""
    home = Home(tmp_path_factory.mktemp("clouds"))
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        grid = stack.enter_context(grid_end(1, 1, appium=device_server.url))
        rest = stack.enter_context(rest_end())
        door = stack.enter_context(relayed(grid.port, CloudHub(), guarded=True))
        other = stack.enter_context(relayed(grid.port, CloudHub()))
        for name, value in {**ACCOUNTS, **BUILDS}.items():
            patch.setenv(name, value)
        places = {name: {"hub_url": door.url, "api_url": rest.url} for name in PROVIDERS}
        places |= {name: {"hub_url": other.url, "api_url": rest.url} for name in OPEN}
        settings = {"clouds": json.dumps(places), "start_timeout": "60"}
        yield Clouds(stack.enter_context(home.serve(**settings)), door, other, rest, grid, home, settings)
    assert home.is_clean()


@pytest.fixture
def clouds(end: Clouds) -> Iterator[Clouds]:
    """The same, with nothing noted yet and no session left."""
    end.door.requests.clear()
    end.other.requests.clear()
    end.rest.requests.clear()
    end.rest.answers.clear()
    yield end
    end.server.ok("close_sessions", all=True)
    assert end.grid.sessions() == []


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_session_is_asked_for_driven_marked_and_ended(clouds: Clouds, case: Case) -> None:
    """The hub gets exactly these capabilities and the API exactly these requests; a real session answers meanwhile."""
    hub = clouds.hub(case.provider)
    clouds.rest.answers.update(case.rest)
    device = {"deviceName": PHONES[case.platform]} if case.platform in PHONES else {}
    wish = {"provider": case.provider, "platform": case.platform, "sessionId": "mine", **device, **case.start}
    row = clouds.server.ok("start_session", **wish)
    session = row["remoteSessionId"]
    assert hub.asked() == SHARED[case.platform] | case.asked
    assert (row["provider"], row["type"]) == (case.provider, case.platform)
    assert row.get("remoteEnd", {}).get("dashboardUrl", "") == case.dashboard.replace("<id>", session)
    assert clouds.home.record("mine").keep_alive == case.keep_alive
    clouds.server.ok("get_visible_elements")
    assert clouds.server.ok("close_session", status="failed", reason=REASON)["closed"] == ["mine"]
    told = [(one.method, one.path.replace(session, "<id>"), one.value) for one in clouds.rest.requests if one.body]
    assert [*told, *hub.scripts()] == case.marked
    assert {one.account for one in clouds.rest.requests} <= {"basic"}


def test_a_session_is_attached_with_the_account_of_the_environment(clouds: Clouds) -> None:
    """The URL of the hub says whose it is, and needs no credentials; closing only lets go."""
    session = clouds.grid.start()
    wish = {"remoteUrl": clouds.door.url, "remoteSessionId": session, "sessionId": "theirs"}
    row = clouds.server.ok("attach_session", **wish)
    assert (row["provider"], row["owned"], row["capabilities"]["browserName"]) == ("browserstack", False, "chrome")
    clouds.server.ok("get_visible_elements", sessionId="theirs")
    told = clouds.server.ok("close_session", sessionId="theirs")
    assert (told["closed"], clouds.grid.sessions()) == (["theirs"], [session])
    clouds.grid.ask("DELETE", session)
