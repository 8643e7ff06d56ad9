"""Several phones on one Appium server, and sessions whose phone or server dies during a call."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.e2e.apps.phone import LOG_IN, PLATFORMS, Phone, staged, start
from tests.e2e.harness import Home, answered, in_time, kill, runs
from tests.e2e.stage import Stage, refused
from tests.servers.appium import POCKET
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full

SECONDS = 2.0
"""Seconds within which the death of a remote end is noticed."""
ENDLESS = {"selector": "~nowhere", "timeout": 60_000}


@pytest.fixture(scope="module")
def _own(needs_phones: None) -> Iterator[tuple[Stage, DeviceServer]]:  # noqa: ARG001 — asked for first
    with DeviceServer() as server, staged(server.url, "own") as stage:
        yield stage, server


@pytest.fixture
def own(_own: tuple[Stage, DeviceServer]) -> Iterator[tuple[Stage, DeviceServer]]:
    """An MCP server without any session, and an Appium of this file's own."""
    yield _own
    _own[0].ok("close_sessions", all=True)


@pytest.fixture
def mortal(needs_phones: None) -> Iterator[tuple[Stage, DeviceServer]]:  # noqa: ARG001 — asked for first
    """An MCP server without any session, and an Appium that the test kills."""
    with DeviceServer() as server, staged(server.url, "mortal") as stage:
        yield stage, server


def browsers(server: DeviceServer) -> list[psutil.Process]:
    """Return the browsers that simulate the phones, without those that are just ending."""
    found = []
    for one in psutil.Process(server.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "chrom" in one.name():
                found.append(one)
    return found


def test_phones_of_both_platforms_and_a_browser_run_in_one_parallel_call(stage: Stage) -> None:  # W1 W9 W43
    """All sessions run their steps in one call; automatic ids are numbered by type."""
    names = []
    for platform, (wire, device) in PLATFORMS.items():
        more = {"appPath": str(POCKET), "deviceName": device}
        answer = stage.ok("start_app_session", platform=wire, **more)
        assert answer["sessionId"] == f"{platform}-1"
        names.append(answer["sessionId"])
    try:
        for name in PLATFORMS:
            Phone(stage, name, name).restart()
        stage.show("<p>Hello", sessionId="web")
        apps = {"sessionIds": [*PLATFORMS, *names], "actions": LOG_IN}
        web = {"sessionId": "web", "actions": [{"action": "expect", "selector": "p", "text": "Hello"}]}
        results = stage.ok("execute_parallel", sequences=[apps, web])["results"]
        assert {name: result["completed"] for name, result in results.items()} == {
            **dict.fromkeys([*PLATFORMS, *names], 3),
            "web": 1,
        }
    finally:
        for name in names:
            stage.ok("close_session", sessionId=name)


def _phone_dies(stage: Stage, server: DeviceServer, platform: str) -> float:
    """Kill a phone on which a call waits; return after how many seconds the call answered session_lost."""
    others = browsers(server)
    assert not start(stage, "phone", platform).failed
    call = stage.begin("wait_for", sessionId="phone", **ENDLESS)
    phone = next(one for one in browsers(server) if one not in others)
    until(lambda: stage.ok("list_sessions")["sessions"], "the session")
    died = kill(phone)
    refused(answered(call), "session_lost")
    return time.monotonic() - died


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_phone_that_dies_in_mid_call_is_session_lost(own: tuple[Stage, DeviceServer], platform: str) -> None:
    """The waiting call answers session_lost, and the session is listed as lost."""
    stage, server = own
    _phone_dies(stage, server, platform)
    assert stage.ok("list_sessions")["sessions"][0]["state"] == "lost"


@pytest.mark.clock
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_call_on_a_phone_that_dies_is_answered_within_two_seconds(
    own: tuple[Stage, DeviceServer], platform: str
) -> None:
    """Ends the waiting call soon after the phone."""
    stage, server = own
    assert _phone_dies(stage, server, platform) < in_time(SECONDS)


def test_a_session_is_lost_when_the_phones_instrumentation_process_dies(own: tuple[Stage, DeviceServer]) -> None:
    """Appium starts no other instrumentation process: the session is lost and can be closed."""
    stage, _ = own
    dies = {"appium:simServerDiesAt": "getPageSource"}
    assert not start(stage, "phone", "android", capabilities=dies).failed
    said = refused(stage.call("get_text", sessionId="phone"), "session_lost")
    assert "instrumentation process is not running" in said
    assert stage.ok("list_sessions")["sessions"][0]["state"] == "lost"
    assert stage.ok("close_session", sessionId="phone")["closed"] == ["phone"]


def _appium_dies(stage: Stage, server: DeviceServer) -> tuple[list[psutil.Process], float]:
    """Kill Appium while calls wait on its phones.

    Returns the browsers that it had, and after how many seconds all calls answered session_lost.
    """
    for platform in PLATFORMS:
        assert not start(stage, platform, platform).failed
    calls = [stage.begin("wait_for", sessionId=name, **ENDLESS) for name in PLATFORMS]
    below = browsers(server)
    died = kill(psutil.Process(server.pid))
    for call in calls:
        refused(answered(call), "session_lost")
    return below, time.monotonic() - died


def test_all_phone_sessions_are_lost_when_their_appium_server_dies(mortal: tuple[Stage, DeviceServer]) -> None:
    """Every session on a killed Appium is lost and can be closed; its phones end with it."""
    stage, server = mortal
    below, _ = _appium_dies(stage, server)
    assert set(stage.ok("close_sessions", all=True)["closed"]) == set(PLATFORMS)
    # Its child processes end with its pipe.
    until(lambda: not any(map(runs, below)), "no browser")


@pytest.mark.clock
def test_calls_on_phones_of_a_dead_appium_server_are_answered_within_two_seconds(
    mortal: tuple[Stage, DeviceServer],
) -> None:
    """Ends the waiting calls of all its phones soon after Appium."""
    _, told_after = _appium_dies(*mortal)
    assert told_after < in_time(SECONDS)


def test_the_next_mcp_server_goes_on_in_the_web_view_of_a_killed_one(
    device_server: DeviceServer, home: Home, site: Site
) -> None:
    """The next server is in the web views of the killed one, on both platforms, and gives no ref a second time."""
    before = {}
    with home.serve(appium_url=device_server.url, park_ttl="100") as first:
        for platform in PLATFORMS:
            phone = Phone(Stage(first, site), platform, platform)
            assert not start(phone.stage, platform, platform).failed
            phone.open("Web view")
            phone.ok("switch_context", context="WEBVIEW")
            before[platform] = phone.ok("get_visible_elements")["outline"]
        kill(first.process)
        until(lambda: not runs(first.process), "the server to be gone")
    with home.serve(appium_url=device_server.url, park_ttl="100") as second:
        for platform in PLATFORMS:
            phone = Phone(Stage(second, site), platform, platform)
            assert phone.ok("get_visible_elements")["outline"] == before[platform]
            phone.ok("switch_context", context="NATIVE_APP")
            refs = set(re.findall(r"\[(e\d+)\]", phone.ok("get_visible_elements")["outline"]))
            assert not refs & set(re.findall(r"\[(e\d+)\]", before[platform]))
            phone.ok("close_session")
