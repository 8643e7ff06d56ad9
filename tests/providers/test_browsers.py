"""Browsers of one system alone, elsewhere; and what there is to say where something of them is missing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import DeviceBusy, StartFailed
from orchestrator.models import SessionRecord, SessionType
from orchestrator_providers import drivers
from orchestrator_providers.local import LocalProvider
from orchestrator_providers.screen import screen
from tests.driver_stand_in import StandIn

if TYPE_CHECKING:
    from .conftest import Begin

posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")


@pytest.fixture
def on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for drivers as on macOS."""
    machine = drivers.Machine(dict(os.environ), "darwin", ())
    monkeypatch.setattr(drivers.Machine, "this", lambda: machine)


@posix
@pytest.mark.usefixtures("on_a_mac")
def test_safari_is_asked_for_without_options(begin: Begin, tmp_path: Path) -> None:
    """It takes none: no switches, no binary; a window is opened whatever the setting says."""
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
def test_safari_takes_one_session_at_a_time(begin: Begin, tmp_path: Path) -> None:
    """Who has it is said before anything is started."""
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
        "Safari has a session already, 'ann', and takes one at a time. "
        "Use that session, close it, or use another browser."
    )
    assert start.processes == []


@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux lacks")
def test_browsers_of_other_systems(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they are is said; nothing is looked for."""
    with pytest.raises(StartFailed, match="Safari is there on macOS alone"):
        LocalProvider().endpoint(begin(browser="safari"))
    machine = drivers.Machine({}, "win32", ())
    monkeypatch.setattr(drivers.Machine, "this", lambda: machine)
    with pytest.raises(StartFailed, match="WebKitGTK is there on Linux alone"):
        LocalProvider().endpoint(begin(browser="webkitgtk"))


def test_what_is_missing_of_a_browser_is_said(begin: Begin) -> None:
    """Its driver, the screen that it needs, and how to get them."""
    bare = drivers.Machine({"SE_OFFLINE": "true", "SE_MANAGER_PATH": "/nowhere"}, "linux", ())
    with pytest.raises(StartFailed) as caught:
        bare.find("webkitgtk", begin())
    assert caught.value.message == "WebKitWebDriver was not found."
    assert "orchestrator doctor" in caught.value.hint
    assert "set webkitwebdriver" in caught.value.hint
    with pytest.raises(StartFailed) as caught:
        screen(begin(), "WebKitGTK", bare)
    assert caught.value.message == (
        "WebKitGTK has no mode without a window, and Xvfb, a screen that nobody sees, was not found."
    )
    assert "apt-get install xvfb" in caught.value.hint
    assert "headless: false" in caught.value.hint


def test_a_screen_that_does_not_start_is_quoted(begin: Begin, tmp_path: Path) -> None:
    """What it said is all that anybody knows."""
    program = tmp_path / "Xvfb"
    program.write_text("#!/bin/sh\necho 'no room for a framebuffer'\nexit 1\n", "utf-8")
    program.chmod(0o700)
    with pytest.raises(StartFailed, match=r"Xvfb did not start: no room for a framebuffer\."):
        screen(begin(), "WebKitGTK", drivers.Machine({"PATH": str(tmp_path)}, "linux", ()))
