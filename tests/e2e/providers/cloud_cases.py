"""Tables of requests and results for every cloud: a start on each platform that it serves, and its storage."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.servers.cloud import APP
from tests.servers.webdriver import PASSWORD, USER

ACCOUNTS = {
    "BROWSERSTACK_USERNAME": USER, "BROWSERSTACK_ACCESS_KEY": PASSWORD,
    "SAUCE_USERNAME": USER, "SAUCE_ACCESS_KEY": PASSWORD,
    "TESTMU_USERNAME": USER, "TESTMU_ACCESS_KEY": PASSWORD,
    "TESTINGBOT_KEY": USER, "TESTINGBOT_SECRET": PASSWORD,
    "DIGITALAI_ACCESS_KEY": PASSWORD,
}  # fmt: skip
BUILDS = dict.fromkeys(("BROWSERSTACK_BUILD_NAME", "SAUCE_BUILD_NAME", "LT_BUILD_NAME"), "nightly")
PROVIDERS = ["browserstack", "sauce_labs", "testmu", "testingbot"]
VARIABLES = {
    "browserstack": "BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY are not set",
    "sauce_labs": "SAUCE_USERNAME and SAUCE_ACCESS_KEY are not set",
    "testmu": "LT_USERNAME and LT_ACCESS_KEY are not set",
    "testingbot": "TESTINGBOT_KEY and TESTINGBOT_SECRET are not set",
    "digitalai": "DIGITALAI_ACCESS_KEY is not set",
}
OPEN = ["digitalai"]
"""Providers whose hub takes the access key as a capability."""
SHARED: dict[str, dict[str, Any]] = {
    "browser": {
        "pageLoadStrategy": "eager", "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": 28000, "pageLoad": 28000},
    },
    "ios": {
        "platformName": "iOS", "appium:automationName": "XCUITest", "appium:settings": {"respectSystemAlerts": True}
    },
    "android": {
        "platformName": "Android", "appium:automationName": "UiAutomator2", "appium:autoGrantPermissions": True
    },
}  # fmt: skip
"""Capabilities requested on a platform at every cloud."""
PHONES = {"ios": "iPhone 15", "android": "Pixel 8"}


class Case(NamedTuple):
    """A start, its capabilities at the hub beside SHARED, and its report to the cloud at the end.

    `marked` are method, path and JSON of the REST request, or a script and its arguments; `<id>` in them and
    in `dashboard` stands for the session's id.
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
        """The id of the test."""
        kind = "app" if "app" in self.start else self.start.get("browser", "chrome")
        return f"{self.provider}-{self.platform}-{kind}"

    @property
    def tunnelled(self) -> bool:
        """True if the start has a tunnel of its own."""
        return bool(self.start.get("options", {}).get("startTunnel"))


TUNNEL = "<the tunnel's name>"
REASON = "the cart is empty"
SESSION = {"automation_session": {"browser_url": "https://automate.browserstack.com/builds/b/sessions/s"}}
AUTOMATE = {("GET", "/automate/sessions/"): (200, SESSION), ("PUT", "/automate/sessions/"): (200, SESSION)}
APP_AUTOMATE = {(method, f"/app-{path[1:]}"): answer for (method, path), answer in AUTOMATE.items()}
BROWSERSTACK = {"sessionName": "mine", "buildName": "nightly", "idleTimeout": 300}
SAUCE = {"name": "mine", "build": "nightly", "idleTimeout": 1000}
TESTMU = {"w3c": True, "name": "mine", "build": "nightly", "idleTimeout": 600}
TESTINGBOT = {"name": "mine", "idletimeout": 300}
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
            "options": {"platformName": "linux", "tags": ["a"], "startTunnel": True, "android.gpu.mode": "hardware",
                        "custom-data": {"commit": "1"}},
            "capabilities": {"sauce:options": {"tags": ["b"], "build": "mine"}},
        },
        {
            "browserName": "chrome", "platformName": "linux",
            "sauce:options": SAUCE | {
                "tags": ["b"], "build": "mine", "tunnelName": TUNNEL, "android.gpu.mode": "hardware",
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
            "options": {"platformName": "Windows 11", "console": True, "smartUI.project": "Shop",
                        "startTunnel": True},
            "capabilities": {"LT:Options": {"console": "error"}},
        },
        {
            "browserName": "chrome",
            "LT:Options": TESTMU | {
                "platformName": "Windows 11", "console": "error", "smartUI.project": "Shop", "tunnel": True,
                "tunnelName": TUNNEL,
            },
        },
        "https://automation.lambdatest.com/logs/?sessionID=<id>", 600,
        [("PATCH", "/automation/api/v1/sessions/<id>", {"status_ind": "failed", "reason": REASON})],
        {("PATCH", "/automation/api/v1/sessions/"): OK},
    ),
    Case(
        "testmu", "ios", {"browser": "safari", "options": {"isRealMobile": True}},
        {
            "browserName": "Safari", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 600,
            "lt:options": TESTMU | {"platformName": "ios", "deviceName": "iPhone 15", "isRealMobile": True},
        },
        "", 600, [("lambda-status=failed", [])], {},
    ),
    Case(
        "testmu", "android", {"app": f"lt://{APP}", "options": {"build": "mine"}},
        {
            "appium:app": f"lt://{APP}", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 600,
            "lt:options": TESTMU | {
                "platformName": "android", "deviceName": "Pixel 8", "app": f"lt://{APP}", "build": "mine",
            },
        },
        "", 600, [("lambda-status=failed", [])], {},
    ),
    Case(
        "testingbot", "browser",
        {
            "options": {"platformName": "LINUX", "screen-resolution": "1280x1024", "startTunnel": True},
            "capabilities": {"tb:options": {"name": "other"}},
        },
        {
            "browserName": "chrome", "platformName": "LINUX",
            "tb:options": TESTINGBOT | {
                "name": "other", "screen-resolution": "1280x1024", "tunnel-identifier": TUNNEL,
            },
        },
        "https://testingbot.com/members/tests/<id>", 300,
        [("PUT", "/v1/tests/<id>", {"test[success]": ["0"], "test[status_message]": [REASON]})],
        {("PUT", "/v1/tests/"): OK},
    ),
    Case(
        "testingbot", "android", {"browser": "chrome", "options": {"build": "nightly"}},
        {
            "browserName": "Chrome", "appium:deviceName": "Pixel 8", "appium:newCommandTimeout": 300,
            "tb:options": TESTINGBOT | {"build": "nightly"},
        },
        "https://testingbot.com/members/tests/<id>", 300,
        [("PUT", "/v1/tests/<id>", {"test[success]": ["0"], "test[status_message]": [REASON]})],
        {("PUT", "/v1/tests/"): OK},
    ),
    Case(
        "testingbot", "ios", {"app": f"tb://{APP}", "options": {"realDevice": True}},
        {
            "appium:app": f"tb://{APP}", "appium:deviceName": "iPhone 15", "appium:newCommandTimeout": 300,
            "tb:options": TESTINGBOT | {"realDevice": True},
        },
        "https://testingbot.com/members/tests/<id>", 300,
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


class Storage(NamedTuple):
    """Requests and answers of an upload, then of a list of two apps."""

    provider: str
    custom_id: str | None
    form: dict[str, str]
    upload: list[tuple[str, str, Any]]
    stored: dict[str, str]
    list: list[tuple[str, str, Any]]
    first: dict[str, str]


STORAGES = [
    Storage(
        "browserstack", "Shop", {"custom_id": "Shop", "file": "shop.apk: the app"},
        [("POST", "/app-automate/upload", {"app_url": "bs://1", "custom_id": "Shop"})],
        {"app": "bs://1", "name": "shop.apk", "customId": "Shop"},
        [("GET", "/app-automate/recent_apps", [
            {"app_name": "b.ipa", "app_version": "2.0", "app_url": "bs://2", "app_id": "2",
             "uploaded_at": "2026-11-01"},
            {"app_name": "c.ipa", "app_url": "bs://3"},
            {"app_name": "d.ipa", "app_url": "bs://4"},
        ])],
        {"app": "bs://2", "name": "b.ipa", "version": "2.0", "id": "2", "uploadedAt": "2026-11-01"},
    ),
    Storage(
        "sauce_labs", None, {"name": "shop.apk", "payload": "shop.apk: the app"},
        [("POST", "/v1/storage/upload", {"item": {"id": "i1", "name": "shop.apk", "upload_timestamp": 1618522437}})],
        {"app": "storage:filename=shop.apk", "name": "shop.apk", "id": "i1", "uploadedAt": "2021-04-15T21:33:57+00:00"},
        [("GET", "/v1/storage/files?per_page=2", {"items": [
            {"id": "i2", "name": "b.ipa", "metadata": {"version": "12", "short_version": "2.7.1"}},
        ]})],
        {"app": "storage:filename=b.ipa", "name": "b.ipa", "version": "2.7.1", "id": "i2"},
    ),
    Storage(
        "testmu", "Shop", {"name": "shop.apk", "custom_id": "Shop", "appFile": "shop.apk: the app"},
        [("POST", "/app/upload/realDevice", {"app_id": "APP1", "name": "shop.apk", "app_url": "lt://APP1"})],
        {"app": "lt://APP1", "name": "shop.apk", "id": "APP1", "customId": "Shop"},
        [
            ("GET", "/app/data?type=android&level=user", {"data": [
                {"app_id": "APP2", "name": "b.apk", "updated_at": "2026-01-02"},
            ]}),
            ("GET", "/app/data?type=ios&level=user", {"data": [
                {"app_id": "APP3", "name": "c.ipa", "updated_at": "2026-01-03"},
            ]}),
        ],
        {"app": "lt://APP3", "name": "c.ipa", "id": "APP3", "uploadedAt": "2026-01-03"},
    ),
    Storage(
        "testingbot", None, {"file": "shop.apk: the app"},
        [("POST", "/v1/storage", {"app_url": "tb://k1"})],
        {"app": "tb://k1", "name": "shop.apk", "id": "k1"},
        [("GET", "/v1/storage?offset=0&count=2", {"data": [
            {"app_url": "tb://k2", "filename": "b.ipa", "version": "1.1", "created_at": "2026-02-02"},
        ]})],
        {"app": "tb://k2", "name": "b.ipa", "version": "1.1", "id": "k2", "uploadedAt": "2026-02-02"},
    ),
    Storage(
        "digitalai", "Shop", {"uniqueName": "Shop", "file": "shop.apk: the app"},
        [
            ("POST", "/api/v1/applications/new", {"status": "SUCCESS", "data": {"id": "7"}, "code": "OK"}),
            ("GET", "/api/v1/applications/7", {"id": 7, "name": "com.shop/.Main", "uniqueName": "Shop",
                                              "version": "4.1"}),
        ],
        {"app": "cloud:uniqueName=Shop", "name": "com.shop/.Main", "version": "4.1", "id": "7", "customId": "Shop"},
        [("GET", "/api/v1/applications", [{"id": 8, "name": "com.b/.Main", "releaseVersion": "2"}])],
        {"app": "cloud:com.b/.Main", "name": "com.b/.Main", "version": "2", "id": "8"},
    ),
]  # fmt: skip

PLACES: list[tuple[str, dict[str, Any] | None, str]] = [
    ("browserstack", {"platform": "browser"}, "hub-cloud.browserstack.com"),
    ("browserstack", None, "api-cloud.browserstack.com"),
    ("sauce_labs", {"platform": "browser"}, "ondemand.us-west-1.saucelabs.com"),
    ("sauce_labs", {"platform": "ios", "options": {"region": "eu-central-1"}}, "ondemand.eu-central-1.saucelabs.com"),
    ("sauce_labs", None, "api.us-west-1.saucelabs.com"),
    ("testmu", {"platform": "browser"}, "hub.lambdatest.com"),
    ("testmu", {"platform": "android"}, "mobile-hub.lambdatest.com"),
    ("testmu", None, "manual-api.lambdatest.com"),
    ("testingbot", {"platform": "ios"}, "hub.testingbot.com"),
    ("testingbot", None, "api.testingbot.com"),
    ("digitalai", {"platform": "browser"}, "acme.cloud.example"),
    ("digitalai", None, "acme.cloud.example"),
]
"""The vendor's host for a start, or for a list of apps (None)."""
