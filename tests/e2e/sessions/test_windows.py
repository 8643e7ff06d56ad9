"""Browsers with a window, on a virtual screen."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.e2e.harness import Home
from tests.needed import needed
from tests.servers.site import Site

pytestmark = pytest.mark.full


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A virtual screen of this test's own, as the display of what it starts."""
    program = shutil.which("Xvfb")
    needed(None if program else "Xvfb is not here: make webkitgtk")
    read, write = os.pipe()
    command = [str(program), "-displayfd", str(write), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server, os.fdopen(read) as told:
        os.close(write)
        display = f":{told.readline().strip()}"
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield display
        server.terminate()


@pytest.mark.usefixtures("screen")
def test_a_browser_with_a_window_is_started_used_parked_and_restored(home: Home, site: Site) -> None:  # W40 B5
    """With headless: false the page has a window with a frame of its own around it, and goes on after parking."""
    page = site.page("/", "<title>Form</title><label>Name <input id=name></label>")
    look = "return [outerHeight > innerHeight, /Headless/.test(navigator.userAgent)]"
    with home.serve(park_ttl="60") as server:
        server.ok("start_browser", sessionId="a", headless=False, navigationUrl=page)
        assert server.ok("execute_script", script=look, sessionId="a")["value"] == [True, False]
        server.ok("set_value", selector="#name", value="Ann", sessionId="a")
    with home.serve(park_ttl="60") as server:
        assert server.ok("expect", selector="#name", value="Ann", sessionId="a")["restored"] is True
        server.ok("close_session", sessionId="a")
