"""Apps started at a real Appium: the request, the answer, and the cleanup after a failure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from orchestrator.errors import DeviceBusy, InvalidArgument
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.e2e.harness import Home, kill, runs, succeed
from tests.e2e.stage import refused
from tests.servers.appium import POCKET, AppiumEnd, appium_end, environment, guarded
from tests.servers.mcp import Served
from tests.servers.ports import free_port
from tests.servers.webdriver import PASSWORD
from tests.waiting import until

pytestmark = pytest.mark.full

FORMS = [
    ("iOS", "ios", "iOS", "XCUITest", {}),
    ("ios", "ios", "iOS", "XCUITest", {"autoAcceptAlerts": True}),
    ("Android", "android", "Android", "UiAutomator2", {"noReset": True}),
]
PORTS = {
    "ios": {"appium:wdaLocalPort", "appium:mjpegServerPort"},
    "android": {"appium:systemPort", "appium:chromedriverPort", "appium:mjpegServerPort"},
}


@pytest.fixture(scope="module")
def end() -> Iterator[AppiumEnd]:
    """An Appium that is not ours."""
    with appium_end() as end:
        yield end


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the server's PATH, in front of all others."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def apps(
    end: AppiumEnd, programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Served, AppiumEnd, Home]]:
    """A server whose programs come from there; when the file is done no session is left on either side."""
    home = Home(tmp_path_factory.mktemp("apps"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(programs), prepend=":")
        # The faults of the simulated phones are capabilities of their own.
        with home.serve(appium_url=end.url, start_timeout="20", unsafe_args="true") as server:
            yield server, end, home
            assert server.ok("list_sessions")["sessions"] == []
    until(home.is_clean, "a clean home")


OURS: dict[str, dict[str, Any]] = {
    "android": {"appium:autoGrantPermissions": True},
    "ios": {"appium:settings": {"respectSystemAlerts": True}},
}
"""Capabilities requested by default."""


def failed(apps: tuple[Served, AppiumEnd, Home], code: str, **arguments: Any) -> str:
    """Return the error of a failing start, of which nothing may be left."""
    server, _, home = apps
    before = [record.id for record in home.records()]
    text = refused(server.call("start_app_session", **arguments), code)
    assert [record.id for record in home.records()] == before
    return text


@pytest.mark.parametrize(("platform", "type_", "name", "automation", "more"), FORMS, ids=[one[0] for one in FORMS])
def test_an_app_session_is_started_on_each_platform(
    apps: tuple[Served, AppiumEnd, Home], platform: str, type_: str, name: str, automation: str, more: dict[str, Any]
) -> None:  # W9 W41
    """Appium is asked for its own platform name and the app's absolute path, however the platform is written."""
    server, end, home = apps
    end.requests.clear()
    end.headers.clear()
    device = "iPhone 15" if type_ == "ios" else "Pixel 8"
    row = server.ok("start_app_session", platform=platform, appPath=str(POCKET), deviceName=device, **more)
    [asked] = end.started()
    ours = {
        "platformName": name, "appium:automationName": automation, "appium:newCommandTimeout": 1860,
        "appium:app": str(POCKET), "appium:deviceName": device,
        **OURS[type_],
        **{f"appium:{option}": value for option, value in more.items()},
    }  # fmt: skip
    assert {key: value for key, value in asked.items() if key not in PORTS[type_]} == ours
    assert (row["sessionId"], row["type"], row["provider"]) == (f"{type_}-1", type_, "appium")
    shown = {"platformName": name, "deviceName": f"{device} (simulated)", "automationName": automation}
    assert shown.items() <= row["capabilities"].items()
    assert row["capabilities"]["platformVersion"]
    assert home.record(f"{type_}-1").context == "NATIVE_APP"
    assert server.ok("close_session")["failed"] == []
    assert end.ended() == [row["remoteSessionId"]]


def test_two_android_sessions_started_at_once_share_no_ports(apps: tuple[Served, AppiumEnd, Home]) -> None:
    """Each start has ports of its own, except those that the user chose, and sends no idempotency key."""
    server, end, home = apps
    end.requests.clear()
    end.headers.clear()
    mine = {"capabilities": {"appium:systemPort": 8299, "appium:newCommandTimeout": 99}, "autoGrantPermissions": False}
    wishes: list[dict[str, Any]] = [
        {"sessionId": "a", "appPackage": "com.android.settings", **mine},
        {"sessionId": "b"},
    ]
    succeed([server.begin("start_app_session", platform="Android", **wish) for wish in wishes])
    assert len(end.started()) == 2
    assert end.keys() == []
    a, b = sorted(end.started(), key=lambda asked: "appium:appPackage" not in asked)
    assert (a["appium:systemPort"], a["appium:newCommandTimeout"], a["appium:autoGrantPermissions"]) == (
        8299,
        99,
        False,
    )
    ports = [asked[name] for asked in (a, b) for name in PORTS["android"]]
    assert len(set(ports)) == 6
    assert {claim for one in home.records() for claim in one.claims} == {f"port {port} at 127.0.0.1" for port in ports}
    server.ok("close_all_sessions")


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ({"platform": "symbian"}, "invalid_argument", "Argument 'platform' must be 'ios' or 'android'"),
        ({"appPath": str(POCKET.with_name("poket"))}, "invalid_argument", f"Did you mean {POCKET}?"),
        ({"appPath": str(POCKET / "no" / "x.app")}, "invalid_argument", f"the nearest existing one is {POCKET}."),
        ({"appPath": str(POCKET), "app": "bs://1"}, "invalid_argument", "appPath and app are both given"),
        ({"appPackage": "a.b"}, "invalid_argument", "appPackage is for Android only. Give bundleId."),
        ({"options": {"avd": "Pixel_8"}}, "invalid_argument", "Option 'avd' is of Android alone."),
        ({"options": {"wdaPort": 1}}, "invalid_argument", "Option 'wdaPort': there is no such option."),
        ({"capabilities": {"deviceName": "x"}}, "invalid_argument", "Write 'appium:deviceName'"),
        ({"options": {"url": "http://127.0.0.1:1", "autostart": False}}, "start_failed", "No Appium server answers at"),
    ],
    ids=["platform", "near", "far", "both", "package", "option", "unknown", "capability", "nobody"],
)
def test_an_invalid_app_start_is_refused_before_appium_is_asked(
    apps: tuple[Served, AppiumEnd, Home], arguments: dict[str, Any], code: str, expected: str
) -> None:
    """The error names the wrong argument and the right form, and Appium gets no request."""
    sent = len(apps[1].requests)
    assert expected in failed(apps, code, **{"platform": "iOS", **arguments})
    assert len(apps[1].requests) == sent


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"deviceName": "iPhone 99"}, "Unknown device 'iPhone 99': iOS is simulated on iPhone SE"),
        ({"capabilities": {"appium:simRefuseStart": "The phone is asleep"}}, "Details: The phone is asleep."),
        ({"bundleId": "org.nowhere"}, "The app 'org.nowhere' is not installed"),
        ({"automationName": "Telepathy"}, "Install it: appium driver install telepathy."),
    ],
    ids=["device", "refused", "app", "driver"],
)
def test_a_refused_app_start_is_reported_in_appiums_own_words(
    apps: tuple[Served, AppiumEnd, Home], arguments: dict[str, Any], expected: str
) -> None:
    """The error quotes Appium without a stack, and no session is left."""
    text = failed(apps, "start_failed", platform="iOS", **arguments)
    assert expected in text
    assert "    at " not in text


def test_an_app_session_that_starts_too_late_is_ended(apps: tuple[Served, AppiumEnd, Home]) -> None:
    """A start that hangs is given up after start_timeout, or when it is closed; a session created later is deleted."""
    _, end, home = apps
    hang = {"platform": "Android", "capabilities": {"appium:simHangAtStart": 10}}
    end.requests.clear()
    with home.serve(appium_url=end.url, start_timeout="5", unsafe_args="true") as server:
        text = refused(server.call("start_app_session", **hang), "start_failed")
        assert f"Session 'android-1' did not start within 5 s: {end.url} did not answer the request" in text
        server.ok("start_app_session", **hang, sessionId="left", wait=False)
        until(lambda: any(one.claims for one in home.records()), "a start under way")
        assert server.ok("close_session", sessionId="left")["closed"] == ["left"]
        assert home.records() == []
        assert until(lambda: len(end.ended()) == len(end.started()) >= 1, "the end of what came too late")


def test_a_second_session_on_a_device_is_refused_as_device_busy(apps: tuple[Served, AppiumEnd, Home]) -> None:  # W46
    """The error names the session on the device, our own before any request; a foreign one can be attached."""
    server, end, home = apps
    theirs = end.start(**{"appium:udid": "theirs"})
    server.ok("start_app_session", platform="iOS", sessionId="mine", udid="phone-1")
    sent = len(end.requests)
    text = failed(apps, "device_busy", platform="ios", udid="phone-1")
    assert "Device 'phone-1' has a session already: 'mine'. Use that session, close it" in text
    assert len(end.requests) == sent
    text = failed(apps, "device_busy", platform="ios", capabilities={"appium:udid": "theirs"})
    assert f"Device 'theirs' is already in use by session {theirs}. Wait until it is free" in text
    where = {"remoteUrl": end.url, "remoteSessionId": theirs, "sessionId": "handed"}
    text = refused(server.call("attach_session", **where), "invalid_argument")
    assert f"{end.url} belongs to 'appium', which has no browser sessions. Give platform: android or ios." in text
    row = server.ok("attach_session", **where, platform="iOS")
    assert (row["type"], row["owned"], row["capabilities"]["udid"]) == ("ios", False, "theirs")
    assert row["provider"] == "appium"
    assert home.record("handed").context == "NATIVE_APP"
    server.ok("close_all_sessions")
    assert theirs not in end.ended()
    end.ask("DELETE", theirs)


def test_appium_credentials_in_a_url_are_used_and_stay_secret(apps: tuple[Served, AppiumEnd, Home]) -> None:
    """A server that requires user and password gets those of the URL, and no other host does."""
    _, end, home = apps
    refusing = {"platform": "Android", "capabilities": {"appium:simRefuseStart": "Come in first"}}
    with guarded(end) as door:
        text = failed(apps, "provider_auth", **refusing, options={"url": door.url})
        assert f"The remote end at {door.url} refused our credentials" in text
        text = failed(apps, "start_failed", **refusing, options={"url": door.secret_url})
    assert "Come in first" in text
    assert PASSWORD not in text
    assert PASSWORD.encode() not in (home.folder / "sessions.db").read_bytes()


def test_start_session_at_provider_appium_takes_an_app_or_a_browser(
    apps: tuple[Served, AppiumEnd, Home],
) -> None:  # W55 W41
    """start_session takes an app as the remote end finds it, or a browser of the device."""
    server, end, _ = apps
    end.requests.clear()
    end.headers.clear()
    refusing = {"provider": "appium", "platform": "Android", "capabilities": {"appium:simRefuseStart": "Seen"}}
    server.call("start_session", **refusing, app="storage:filename=a.apk", deviceName="Pixel 8", platformVersion="14")
    server.call("start_session", **refusing, browser="chrome", headless=True)
    app, browser = end.started()
    seen = {name: app[f"appium:{name}"] for name in ("app", "deviceName", "platformVersion")}
    assert seen == {"app": "storage:filename=a.apk", "deviceName": "Pixel 8", "platformVersion": "14"}
    assert (browser["browserName"], browser["appium:isHeadless"], "browserName" in app) == ("Chrome", True, False)
    text = refused(server.call("start_session", **refusing, navigationUrl="http://a.test/"), "invalid_argument")
    assert "navigationUrl needs a browser" in text


def test_a_browser_session_on_a_device_begins_in_its_web_context(apps: tuple[Served, AppiumEnd, Home]) -> None:
    """The record holds the web context of a device's browser, whether it was started or attached."""
    server, end, home = apps
    where = {"provider": "appium", "platform": "android", "navigationUrl": "data:text/html,<title>Here</title>"}
    row = server.ok("start_session", **where, browser="chrome", sessionId="web")
    assert (row["capabilities"]["browserName"], row["url"]) == ("Chrome", where["navigationUrl"])
    assert home.record("web").context == "CHROMIUM"
    theirs = end.start(browserName="Safari")
    server.ok("attach_session", remoteUrl=end.url, remoteSessionId=theirs, platform="ios", sessionId="theirs")
    assert home.record("theirs").context.startswith("WEBVIEW_")
    server.ok("close_all_sessions")
    end.ask("DELETE", theirs)


def test_the_python_api_starts_app_sessions_with_the_same_errors_as_the_tools(end: AppiumEnd, home: Home) -> None:
    """App sessions and devices are available in the Python API, with the same words and errors."""
    with Orchestrator(Settings(home=home.folder, namespace="script", appium_url=end.url)) as orchestrator:
        with pytest.raises(InvalidArgument, match="Did you mean"):
            orchestrator.start_app_session("iOS", app_path=POCKET.with_name("poket").as_posix())
        phone = orchestrator.start_app_session("ANDROID", "phone", app_path=str(POCKET), udid="one")
        assert (phone.facts.type, phone.facts.capabilities["udid"]) == ("android", "one")
        with pytest.raises(DeviceBusy, match="Device 'one' has a session already: 'phone'"):
            orchestrator.start_session("appium", "Android", capabilities={"appium:udid": "one"})
        [device] = [one for one in orchestrator.list_devices().devices if one.taken_by == "phone"]
        assert (device.platform, device.udid, device.state) == ("android", "one", "in use")
        phone.close()


SIMULATORS = """{ "devices" : {
  "com.apple.CoreSimulator.SimRuntime.iOS-17-5" : [ {
    "lastBootedAt" : "2025-01-07T09:12:44Z", "dataPath" : "/x", "dataPathSize" : 18337792, "logPath" : "/y",
    "udid" : "5E1E2A5C-4B1A-4E0B-9F4B-0D8F6E0E7B11", "isAvailable" : true, "logPathSize" : 4096,
    "deviceTypeIdentifier" : "com.apple.CoreSimulator.SimDeviceType.iPhone-15", "state" : "Booted", "name" : "iPhone 15"
  } ],
  "com.apple.CoreSimulator.SimRuntime.iOS-16-4" : [ {
    "udid" : "A", "isAvailable" : false, "availabilityError" : "runtime profile not found", "state" : "Shutdown",
    "name" : "iPhone 14" } ],
  "com.apple.CoreSimulator.SimRuntime.watchOS-10-5" : [ {
    "udid" : "B", "isAvailable" : true, "state" : "Shutdown", "name" : "Apple Watch Series 9 (45mm)" } ]
} }"""
ATTACHED = """* daemon not running; starting now at tcp:5037
* daemon started successfully
List of devices attached
emulator-5554          device product:sdk_gphone64_x86_64 model:sdk_gphone64_x86_64 device:emu64xa transport_id:1
29221JEGR00379         unauthorized usb:1-1 transport_id:2

"""
ALLOW = "start it with --allow-insecure *:session_discovery."
AVDS = """INFO    | Storing crashdata in: /tmp/android-user/emu-crash-34.2.13.db, detection is enabled for process: 4711
Pixel_8_API_34
"""


@pytest.mark.skipif(sys.platform == "win32", reason="programs are shell scripts")
def test_list_devices_lists_simulators_and_android_devices_with_their_sessions(
    apps: tuple[Served, AppiumEnd, Home], programs: Path
) -> None:
    """Devices come from this machine's tools and our own sessions; a tool that fails gives a warning."""
    server, end, _ = apps
    said = {"xcrun": SIMULATORS, "adb": ATTACHED, "emulator": AVDS}
    for name, text in said.items():
        (programs / name).write_text(f"#!/bin/sh\ncat <<'.'\n{text}\n.\n", "utf-8")
        (programs / name).chmod(0o700)
    (programs / "adb").write_text("#!/bin/sh\necho 'error: no permissions' >&2\nexit 1\n", "utf-8")
    answer = server.call("list_devices")
    assert "Android devices could not be listed: adb ended with 1: error: no permissions." in answer.text
    (programs / "adb").write_text(f"#!/bin/sh\ncat <<'.'\n{ATTACHED}\n.\n", "utf-8")
    server.ok("start_app_session", platform="iOS", sessionId="here", udid="5E1E2A5C-4B1A-4E0B-9F4B-0D8F6E0E7B11")
    answer = server.call("list_devices")
    server.ok("close_session", sessionId="here")
    for name in said:
        (programs / name).unlink()
    assert answer.text.splitlines() == [
        "ios 17.5 simulator: iPhone 15, udid 5E1E2A5C-4B1A-4E0B-9F4B-0D8F6E0E7B11, booted, taken by here",
        "android emulator: sdk gphone64 x86 64, udid emulator-5554, ready",
        "android device: 29221JEGR00379, udid 29221JEGR00379, unauthorized",
        "android emulator: Pixel 8 API 34, avd Pixel_8_API_34, can be started",
        f"Warning: The Appium server at {end.url} does not list its sessions: {ALLOW}",
    ]
    assert answer.data["devices"][0]["takenBy"] == "here"


def test_an_appium_is_started_where_none_answers_and_ends_with_its_session(
    end: AppiumEnd, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An Appium is started for the session if none answers; its death is noticed, and closing ends it."""
    for name, value in environment(end).items():
        monkeypatch.setenv(name, value)
    program = Path(sys.prefix, "appium", "node_modules", "appium", "index.js")
    with home.serve(appium=str(program), appium_url=f"http://localhost:{free_port()}") as server:
        row = server.ok("start_app_session", platform="Android", appPath=str(POCKET))
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}", row["remoteUrl"])
        [process] = home.record("android-1").processes
        assert process.name == "appium"
        assert (Path(process.folder or "") / "appium.log").is_file()
        kill(psutil.Process(process.pid))
        until(lambda: server.ok("list_sessions")["sessions"][0]["state"] == "lost", "the loss")
        assert server.ok("close_session")["closed"] == ["android-1"]
        server.ok("start_app_session", platform="iOS", sessionId="again")
        appium = psutil.Process(home.record("again").processes[0].pid)
        assert server.ok("close_session")["failed"] == []
        assert not runs(appium)
