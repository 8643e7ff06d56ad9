"""Persistent profiles of Firefox: logins live on in them, and one session has each at a time."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator

import psutil
import pytest
from typer.testing import CliRunner

from orchestrator.cli.commands import app
from orchestrator.errors import ProviderFailure
from orchestrator.system.machine import LocalMachine
from tests.e2e.harness import Home, runs
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.servers.site import Reply, Site
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("needs_firefox"), pytest.mark.timeout(300)]

KEPT = {"browser": "firefox", "mode": "persistent", "profile": "work"}
LOGIN = {"Set-Cookie": "user=ann; Path=/; Max-Age=86400"}


@pytest.fixture
def own(profiled: Served, shared_home: Home) -> Iterator[psutil.Process]:  # noqa: ARG001 — its profiles go last
    """A Firefox that a user started with the profile `work` of the home."""
    command = [str(LocalMachine.this().browser("firefox")), "-headless", "-no-remote", "-profile"]
    folder = shared_home.folder / "profiles" / "firefox" / "work"
    folder.mkdir(parents=True, mode=0o700)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        environ = {**os.environ, "TMPDIR": temporary}
        browser = psutil.Popen([*command, str(folder)], env=environ, stderr=subprocess.DEVNULL)
        yield browser
        parts = [browser, *browser.children(recursive=True)]
        browser.kill()
        browser.wait()
        until(lambda: not any(map(runs, parts)), "the user's Firefox to end")


def test_a_login_in_a_profile_of_firefox_survives_its_session(
    profiled: Served, shared_home: Home, site: Site
) -> None:  # X30 X31 X32 X17
    """A profile has one session at a time, and is not removed meanwhile; its login and storage live on."""
    home = site.page("/", "<title>home</title>")
    page = site.page("/in", Reply("<script>localStorage.basket = 'mug'</script>", headers=LOGIN))
    row = profiled.ok("start_browser", sessionId="ann", **KEPT, navigationUrl=page)
    assert (row["mode"], row["profile"]) == ("persistent", "work")
    second = refused(profiled.call("start_browser", sessionId="bob", **KEPT), "device_busy")
    assert "Profile 'work' is that of session 'ann', whose browser has one session." in second
    with pytest.raises(ProviderFailure, match=f"is open in process {shared_home.process('ann', 'firefox').pid}"):
        CliRunner().invoke(
            app,
            ["profiles", "remove", "firefox/work"],
            env={"ORCHESTRATOR_HOME": str(shared_home.folder)},
            catch_exceptions=False,
        )
    profiled.ok("close_session", sessionId="ann")
    until(shared_home.is_clean, "a clean home")
    profiled.ok("start_browser", sessionId="later", **KEPT, navigationUrl=home)
    kept = "return [document.cookie, localStorage.basket]"
    assert profiled.ok("execute_script", script=kept, sessionId="later")["value"] == ["user=ann", "mug"]


def test_a_profile_that_another_firefox_has_open_is_refused(profiled: Served, own: psutil.Process) -> None:
    """No second Firefox is started on it, and the error names the process that has it."""
    text = refused(profiled.call("start_browser", sessionId="ann", **KEPT), "start_failed")
    assert f"(process {own.pid}), which is not that of an open session." in text
    assert "another profile" in text
    assert runs(own)
