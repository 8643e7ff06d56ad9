"""Several phones on one Appium server, and what becomes of sessions whose phone or server dies in mid-call."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from orchestrator.demo.device_server import DeviceServer
from tests.appium_end import POCKET
from tests.e2e.apps.phone import LOG_IN, PLATFORMS, Phone, staged, start
from tests.e2e.harness import Home, answered, in_time, kill, runs, until
from tests.e2e.stage import Stage, refused
from tests.site import Site

SECONDS = 2.0
"""Within which a dead remote end is noticed."""
ENDLESS = {"selector": "~nowhere", "timeout": 60_000}


@pytest.fixture
def own(needs_phones: None) -> Iterator[tuple[Stage, DeviceServer]]:  # noqa: ARG001 — asked for first
    """A server of ours and an Appium of this test's own."""
    with DeviceServer() as server, staged(server.url, "own") as stage:
        yield stage, server


def browsers(server: DeviceServer) -> list[psutil.Process]:
    """Those in which its phones are; one that is just ending has no name any more."""
    found = []
    for one in psutil.Process(server.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "chrom" in one.name():
                found.append(one)
    return found


def test_two_of_each_at_once_beside_browsers(stage: Stage) -> None:  # W1 W9 W41 W43
    """All six do their steps in one call; ids that nobody chose count up a type."""
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


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_phone_that_dies_is_noticed(own: tuple[Stage, DeviceServer], platform: str) -> None:
    """The call that waits on it answers session_lost within two seconds, and the session is listed as lost."""
    stage, server = own
    assert not start(stage, "phone", platform).failed
    call = stage.begin("wait_for", sessionId="phone", **ENDLESS)
    phone = browsers(server)[0]
    until(lambda: stage.ok("list_sessions")["sessions"], "the session")
    died = kill(phone)
    refused(answered(call), "session_lost")
    assert time.monotonic() - died < in_time(SECONDS)
    assert stage.ok("list_sessions")["sessions"][0]["state"] == "lost"


def test_what_drives_a_phone_dies(own: tuple[Stage, DeviceServer]) -> None:
    """Appium goes on and starts no other: the session is lost, and its name can be used again."""
    stage, _ = own
    dies = {"appium:simServerDiesAt": "getPageSource"}
    assert not start(stage, "phone", "android", capabilities=dies).failed
    said = refused(stage.call("get_text", sessionId="phone"), "session_lost")
    assert "instrumentation process is not running" in said
    assert stage.ok("list_sessions")["sessions"][0]["state"] == "lost"
    assert stage.ok("close_session", sessionId="phone")["closed"] == ["phone"]


def test_a_server_that_dies_is_noticed(own: tuple[Stage, DeviceServer]) -> None:
    """Every session on it is lost within two seconds; its names are free again once they are closed."""
    stage, server = own
    for platform in PLATFORMS:
        assert not start(stage, platform, platform).failed
    calls = [stage.begin("wait_for", sessionId=name, **ENDLESS) for name in PLATFORMS]
    below = browsers(server)
    died = kill(psutil.Process(server.pid))
    for call in calls:
        refused(answered(call), "session_lost")
    assert time.monotonic() - died < in_time(SECONDS)
    assert set(stage.ok("close_sessions", all=True)["closed"]) == set(PLATFORMS)
    # What stood below it ends with its pipe.
    until(lambda: not any(map(runs, below)), "no browser")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_another_server_goes_on_where_the_session_is(
    device_server: DeviceServer, home: Home, site: Site, platform: str
) -> None:
    """A server is killed while the session is in a web view: the next one is in it, too, and its refs are new ones."""
    with home.serve(appium_url=device_server.url, park_ttl="100") as first:
        phone = Phone(Stage(first, site), "phone", platform)
        assert not start(phone.stage, "phone", platform).failed
        phone.open("Web view")
        phone.ok("switch_context", context="WEBVIEW")
        before = phone.ok("get_visible_elements")["outline"]
        kill(first.process)
        until(lambda: not runs(first.process), "the server to be gone")
    with home.serve(appium_url=device_server.url, park_ttl="100") as second:
        phone = Phone(Stage(second, site), "phone", platform)
        assert phone.ok("get_visible_elements")["outline"] == before
        phone.ok("switch_context", context="NATIVE_APP")
        refs = set(re.findall(r"\[(e\d+)\]", phone.ok("get_visible_elements")["outline"]))
        assert not refs & set(re.findall(r"\[(e\d+)\]", before))
        phone.ok("close_session")
