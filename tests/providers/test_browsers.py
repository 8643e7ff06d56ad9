"""Browsers of one operating system alone, requested on another; and errors for missing programs of theirs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import DeviceBusy, StartFailed
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator_providers.local import drivers
from orchestrator_providers.local.provider import LocalProvider
from orchestrator_providers.local.xvfb import start_xvfb
from tests.servers.driver import StandIn

if TYPE_CHECKING:
    from .conftest import Begin

posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")


@pytest.fixture
def on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search drivers as on macOS."""
    machine = drivers.DriverFinder(dict(os.environ), "darwin", ())
    monkeypatch.setattr(drivers.DriverFinder, "this", lambda: machine)


@posix
@pytest.mark.usefixtures("on_a_mac")
def test_safari_is_started_without_browser_specific_options(begin: Begin, tmp_path: Path) -> None:
    """Safari gets no switches and no binary, and opens a window whatever the setting."""
    driver = StandIn(tmp_path, "safaridriver")
    start = begin({"safaridriver": driver.program}, browser="safari", options={"acceptInsecureCerts": True})
    endpoint = LocalProvider().endpoint(start)
    [flag, port] = driver.noted()[0]
    assert (flag, endpoint.remote_url) == ("-p", f"http://127.0.0.1:{port}")
    assert start.claims == ["Safari"]
    assert endpoint.capabilities == {
        "browserName": "safari",
        "pageLoadStrategy": "eager",
        "unhandledPromptBehavior": "ignore",
        "timeouts": {"script": 28_000, "pageLoad": 28_000},
        "acceptInsecureCerts": True,
    }


@posix
@pytest.mark.usefixtures("on_a_mac")
def test_a_second_safari_session_is_refused_with_the_name_of_the_first(begin: Begin, tmp_path: Path) -> None:
    """The session that has Safari is named before anything is started."""
    start = begin({"safaridriver": StandIn(tmp_path, "safaridriver").program}, browser="safari")
    start.held = SessionRecord(
        id="ann",
        namespace="test",
        type=SessionType.BROWSER,
        provider="local",
        owner="o",
        created_at=0,
        last_active_at=0,
    )
    with pytest.raises(DeviceBusy) as caught:
        LocalProvider().endpoint(start)
    assert str(caught.value) == (
        "Safari has a session already, 'ann', and allows one at a time. "
        "Use that session, close it, or use another browser."
    )
    assert start.processes == []


@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux lacks")
def test_a_browser_of_another_operating_system_is_refused(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the browser's system, and nothing is searched for."""
    with pytest.raises(StartFailed, match="Safari exists on macOS only"):
        LocalProvider().endpoint(begin(browser="safari"))
    machine = drivers.DriverFinder({}, "win32", ())
    monkeypatch.setattr(drivers.DriverFinder, "this", lambda: machine)
    with pytest.raises(StartFailed, match="WebKitGTK exists on Linux only"):
        LocalProvider().endpoint(begin(browser="webkitgtk"))


def test_a_missing_driver_or_virtual_display_is_reported_with_advice(begin: Begin) -> None:
    """The error names the missing driver or Xvfb, and how to get it."""
    bare = drivers.DriverFinder({"SE_OFFLINE": "true", "SE_MANAGER_PATH": "/nowhere"}, "linux", ())
    with pytest.raises(StartFailed) as caught:
        bare.find("webkitgtk", begin())
    assert caught.value.message == "WebKitWebDriver was not found."
    assert "orchestrator doctor" in caught.value.hint
    assert "set webkitwebdriver" in caught.value.hint
    with pytest.raises(StartFailed) as caught:
        start_xvfb(begin(), "WebKitGTK", bare)
    assert caught.value.message == ("WebKitGTK has no headless mode, and Xvfb, a virtual screen for it, was not found.")
    assert "apt-get install xvfb" in caught.value.hint
    assert "headless: false" in caught.value.hint


def test_an_xvfb_that_does_not_start_is_quoted_in_the_error(begin: Begin, tmp_path: Path) -> None:
    """The output of an Xvfb that does not start is in the error."""
    program = tmp_path / "Xvfb"
    program.write_text("#!/bin/sh\necho 'no room for a framebuffer'\nexit 1\n", "utf-8")
    program.chmod(0o700)
    with pytest.raises(StartFailed, match=r"Xvfb did not start: no room for a framebuffer\."):
        start_xvfb(begin(), "WebKitGTK", drivers.DriverFinder({"PATH": str(tmp_path)}, "linux", ()))
