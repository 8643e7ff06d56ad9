"""`orchestrator doctor --check`: the self-test of browsers, phones and remote ends, and what it leaves behind."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET
from typing import Any
from urllib.parse import urlsplit

import anyio
import psutil
import pytest

from orchestrator.cli import main
from orchestrator.cli.doctor.check import run as check_run
from orchestrator.cli.doctor.check.page import served_page
from orchestrator.cli.doctor.check.target import choose_target
from orchestrator.demo.device_server import DeviceServer
from orchestrator.settings import Settings
from orchestrator.system import http
from tests.e2e.harness import Home
from tests.servers.appium import POCKET
from tests.servers.grid import GridEnd
from tests.servers.ports import free_port
from tests.servers.site import Site
from tests.servers.webdriver import PASSWORD, Relayed, relayed
from tests.waiting import until

pytestmark = pytest.mark.full

WEB = [
    *("start_session", "navigate", "get_visible_elements", "click_element", "set_value", "press_keys", "wait_for"),
    *("take_screenshot", "execute_script", "switch_frame, tabs", "cookies", "close_session"),
]
APP = [
    *("start_session", "get_visible_elements", "get_text", "wait_for", "tap_element", "set_value", "scroll"),
    *("take_screenshot", "execute_script", "manage_device", "manage_app", "close_session"),
]
PLATFORMS = ("ios", "android")


@dataclass
class Doctor:
    """The command on a home of the test's own."""

    home: Home

    def command(self, words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """Return the command and its environment."""
        environment = {**os.environ, "ORCHESTRATOR_HOME": str(self.home.folder)}
        return [sys.executable, "-m", "orchestrator", "doctor", *words], environment

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the command."""
        command, own = self.command(words)
        return subprocess.run(
            command, env={**own, **environment}, capture_output=True, text=True, check=False, timeout=150
        )

    def check(self, *words: str, code: int = 0, **environment: str) -> dict[str, Any]:
        """Run a self-test, which must end with this exit code; return its data."""
        done = self.run("--check", *words, "--json", **environment)
        assert done.returncode == code, done.stdout + done.stderr
        data: dict[str, Any] = json.loads(done.stdout)
        assert data["passed"] == (code == 0)
        self.assert_nothing_left()
        return data

    def assert_nothing_left(self) -> None:
        """Fail if an open session, a process, a profile or a picture is left."""
        until(self.home.is_clean, f"a clean home; left are {self.home.processes()} {self.home.folders()}")
        assert self.home.records() == []
        assert [name for name in self.home.files() if name.endswith(".png")] == []


@pytest.fixture
def doctor(home: Home) -> Doctor:
    """The command on a home that must be clean afterwards."""
    return Doctor(home)


@pytest.fixture
def refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs the command in this process, which must refuse; it returns what is said."""

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["orchestrator", "doctor", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        gc.unfreeze()  # unlike the command's process, this one goes on
        out, err = capsys.readouterr()
        assert (ended.value.code, out, list(tmp_path.iterdir())) == (2, "", [])
        return err

    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path))
    return run


def states(data: dict[str, Any]) -> dict[str, str]:
    """Return the state of each action."""
    return {row["action"]: row["state"] for row in data["actions"]}


def row(data: dict[str, Any], action: str) -> dict[str, Any]:
    """Return the row of an action."""
    found: dict[str, Any] = next(row for row in data["actions"] if row["action"] == action)
    return found


def test_chrome_is_tested_by_twelve_actions_and_nothing_is_left(doctor: Doctor) -> None:
    """Every action passes, with its time; the page is served by this machine."""
    data = doctor.check("chrome")
    assert states(data) == dict.fromkeys(WEB, "ok")
    assert all(row["ms"] >= 0 for row in data["actions"])
    assert data["session"].startswith("chrome ")
    assert row(data, "navigate")["said"].startswith("http://127.0.0.1:")
    assert (data["provider"], data["check"]) == ("local", "chrome")


@pytest.mark.usefixtures("needs_webkitgtk")
def test_webkitgtk_is_tested_by_twelve_actions(doctor: Doctor) -> None:
    """A browser without BiDi passes as well."""
    data = doctor.check("webkitgtk")
    assert states(data) == dict.fromkeys(WEB, "ok")
    assert data["session"].startswith("MiniBrowser ")


def test_a_remote_end_elsewhere_gets_a_data_page(doctor: Doctor, grid: GridEnd) -> None:
    """Where the address does not say that it is this machine, the page is in the URL, and cookies are left out."""
    data = doctor.check("selenium_grid", "--options", "url=secret:FARM", ORCHESTRATOR_SECRET_FARM=grid.url)
    assert states(data) == {**dict.fromkeys(WEB, "ok"), "cookies": "left out"}
    assert row(data, "navigate")["said"] == "a data: page"
    cookies = row(data, "cookies")
    assert (cookies["said"], cookies["hint"]) == (
        "A data: page has no cookies.",
        "Give --url, this machine's address as the browser reaches it, to test them.",
    )


def test_a_remote_end_gets_the_page_at_the_url_and_its_password_appears_nowhere(doctor: Doctor, grid: GridEnd) -> None:
    """`--url` serves the page for a Grid, whose session is gone afterwards and whose password is never shown."""
    url = f"http://localhost:{free_port()}/check"
    with relayed(grid.port, Relayed(), guarded=True) as relay:
        options = ("--options", "url=secret:FARM", "--url", url)
        data = doctor.check("selenium_grid", *options, ORCHESTRATOR_SECRET_FARM=relay.secret_url)
    assert states(data) == dict.fromkeys(WEB, "ok")
    assert row(data, "navigate")["said"] == url
    assert PASSWORD not in str(data)
    assert not grid.sessions()


def test_a_remote_end_that_cannot_reach_the_page_is_told_of_the_url(doctor: Doctor, grid: GridEnd) -> None:
    """Behind an address of this machine there may be another one, which does not find the page here."""
    elsewhere = {"goog:chromeOptions": {"args": ["--host-resolver-rules=MAP 127.0.0.1 ~NOTFOUND"]}}
    words = ["selenium_grid", "--options", f"url={grid.url}", "--capabilities", json.dumps(elsewhere)]
    data = doctor.check(*words, code=1, ORCHESTRATOR_UNSAFE_ARGS="true")
    navigate = row(data, "navigate")
    assert navigate["state"] == "failed"
    assert navigate["hint"].endswith(
        "If its browser runs elsewhere, such as in a container, give --url, this machine's address as it reaches it."
    )


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_settings_of_a_phone_are_tested_by_twelve_actions(
    doctor: Doctor, device_server: DeviceServer, platform: str
) -> None:
    """Without an app that of the phone's settings is used, which every phone has; no switch is touched."""
    data = doctor.check("appium", "--platform", platform, "--options", f"url={device_server.url}")
    assert states(data) == {**dict.fromkeys(APP, "ok"), "set_value": "left out"}
    assert row(data, "set_value")["said"] == "No text field is on the screen."
    assert "(simulated)" in data["session"]
    assert "sim-" not in data["session"]


def test_an_app_of_ones_own_is_tested_on_a_phone(doctor: Doctor, device_server: DeviceServer) -> None:
    """With --app all twelve actions run in it, typing included.

    Without --json, facts, a table and a verdict are printed, which a person can paste into a report.
    """
    words = ("--platform", "android", "--app", str(POCKET), "--options", f"url={device_server.url}")
    done = doctor.run("--check", "appium", *words)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.partition(":")[0] for line in lines[:4]] == ["session", "provider", "software", "date"]
    head, *rows = lines[5:18]
    assert head.split() == ["ACTION", "MS", "RESULT"]
    assert [line.split("  ")[0] for line in rows] == APP
    assert lines[-1].startswith("Passed in ")
    assert lines[-1].endswith(": 12 ok.")


def test_the_browser_of_a_phone_is_tested_on_a_web_page(doctor: Doctor, device_server: DeviceServer) -> None:
    """With --browser the actions are those of a page; a phone has one tab."""
    words = ("appium", "--platform", "ios", "--browser", "safari", "--options", f"url={device_server.url}")
    data = doctor.check(*words)
    on_phone = ["switch_frame" if action == "switch_frame, tabs" else action for action in WEB]
    assert states(data) == {**dict.fromkeys(on_phone, "ok"), "cookies": "left out"}


def test_without_the_browser_the_first_row_says_why_and_no_other_is_run(doctor: Doctor) -> None:
    """A browser that is not there fails the start with the reason and what to do, exit code 1."""
    data = doctor.check("edge", code=1, ORCHESTRATOR_EDGE_BINARY="/nowhere/msedge")
    assert states(data) == {**dict.fromkeys(WEB, "not run"), "start_session": "failed"}
    start = row(data, "start_session")
    assert "/nowhere/msedge" in start["said"]
    assert start["code"] == "start_failed"
    assert start["hint"]
    assert row(data, "navigate")["said"] == "No session was started."
    assert data["session"] == "none"


def test_a_page_that_is_not_reached_fails_and_the_session_is_ended(doctor: Doctor) -> None:
    """If the page does not open, what needs it is not run, and the browser is closed."""
    data = doctor.check("chrome", "--url", f"http://nowhere.invalid:{free_port()}", code=1)
    assert states(data) == {
        **dict.fromkeys(WEB, "not run"),
        **dict.fromkeys(("start_session", "close_session"), "ok"),
        "navigate": "failed",
    }
    assert "nowhere.invalid" in row(data, "navigate")["said"]
    assert row(data, "click_element")["said"] == "navigate failed."


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--check", "chrom"], "No browser or provider is called 'chrom'. Did you mean 'chrome'"),
        (["--check", "appium"], "appium has several platforms. Give --platform android or ios."),
        (["--check", "chrome", "--platform", "ios"], "local has no platform 'ios'. It has browser."),
        (["--check", "chrome", "--browser", "edge"], "chrome is a browser itself."),
        (["--check", "chrome", "--app", "x.apk"], "A browser is checked, and no app."),
        (["--check", "chrome", "--options", "url"], "orchestrator doctor: --options 'url' is no object."),
        (["--check", "chrome", "--url", "https://here"], "https://here is not an address for the page."),
        (["--check", "chrome", "--url", "http://here:x"], "http://here:x is not a URL"),
        (["--platform", "ios"], "--platform goes with --check."),
        (["--client", "zed", "--check", "chrome"], "--client goes with no option but --http and --json."),
    ],
)
def test_wrong_words_are_refused_before_anything_starts(
    refusal: Callable[..., str], words: list[str], says: str
) -> None:
    """A sentence says what is wrong, exit code 2."""
    assert refusal(*words).startswith(says)


def test_a_port_in_use_is_refused_before_anything_starts(refusal: Callable[..., str], site: Site) -> None:
    """A page cannot be served where something else listens."""
    port = urlsplit(site.url("/")).port
    said = refusal("--check", "chrome", "--url", f"http://localhost:{port}")
    assert said.startswith(f"The page cannot be served at port {port}: ")


def test_the_page_is_served_beyond_this_machine_only_with_a_url() -> None:
    """Without a URL nothing but the loopback interface answers; with one, the page is all that anybody gets."""
    addresses = [one.address for names in psutil.net_if_addrs().values() for one in names if one.family == AF_INET]
    outside = next((address for address in addresses if not address.startswith("127.")), None)
    if outside is None:
        pytest.skip("this machine has no other interface")
    with served_page() as url, pytest.raises(OSError, match="refused"):
        http.request("GET", url.replace("127.0.0.1", outside), timeout=5)
    port = free_port()
    with served_page(f"http://{outside}:{port}/check") as url:
        texts = {http.request("GET", f"{url}{path}", timeout=5).body for path in ("", "/../../page.py")}
    assert [text.count(b"<title>Check</title>") for text in texts] == [1]


def test_an_action_that_hangs_fails_when_the_two_minutes_are_over(
    doctor: Doctor, device_server: DeviceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What hangs is given up at the end of the time, the rest is not run, and the session is ended all the same."""
    monkeypatch.setattr(check_run, "LIMIT", check_run._CLOSE_WITHIN + 3)
    slow = {"command": "getPageSource", "ms": 25_000}
    target = choose_target(
        "appium",
        platform="ios",
        options=[f"url={device_server.url}", "startTimeout=60"],
        capabilities=[json.dumps({"appium:simSlowCommand": slow})],
    )
    began = time.monotonic()
    report = anyio.run(check_run.run_check, target, Settings.load({"home": str(doctor.home.folder)}))
    assert time.monotonic() - began < 25
    data = report.data()
    assert not data["passed"]
    assert row(data, "get_visible_elements")["said"] == "Its two minutes were over."
    assert {row(data, name)["state"] for name in APP[2:-1]} == {"not run"}
    doctor.assert_nothing_left()


def test_an_interrupted_self_test_ends_its_browser(doctor: Doctor) -> None:
    """Control and C amid the actions leaves no browser behind."""
    command, environment = doctor.command(["--check", "chrome"])
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        until(lambda: (doctor.home.folder / "sessions.db").exists() and doctor.home.drivers(), "a driver")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode != 0
    doctor.assert_nothing_left()
