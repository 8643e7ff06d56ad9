"""Browsers other than Chrome at the provider local: their requests, refused abilities, and their end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from orchestrator.models.browser_support import ABILITIES, TITLES
from tests.e2e.conftest import _new_home
from tests.e2e.harness import Home, kill
from tests.e2e.stage import refused
from tests.servers.driver import StandIn
from tests.servers.mcp import Answer, Served
from tests.waiting import until

OF_A_START: dict[str, dict[str, Any]] = {
    "host_rules": {"options": {"hostRules": {"shop.test": "127.0.0.1"}}},
    "proxy": {"options": {"proxy": "http://p:1"}},
    "args": {"args": ["--headless"]},
    "headless": {"headless": True},
    "version": {"options": {"browserVersion": "99"}},
    "bidi": {"capabilities": {"webSocketUrl": True}},
    "storage_state": {"storageState": "nowhere.json"},
    "contexts": {"sessionId": "shop:ann"},
    "profile": {"mode": "persistent"},
    "attached": {"mode": "attached", "debuggerAddress": "127.0.0.1:1"},
    "emulate": {"device": "Pixel 7"},
    "private": {"options": {"private": True}},
}
OF_A_PAGE: dict[str, dict[str, Any]] = {
    "full_page": {"tool": "take_screenshot", "fullPage": True},
    "print": {"tool": "print_page"},
    "console": {"tool": "get_console"},
    "requests": {"tool": "get_network"},
    "network": {"tool": "route", "action": "block", "url": "*"},
    "color_scheme": {"tool": "emulate", "colorScheme": "dark"},
    "permissions": {"tool": "set_policy", "permissions": "allow"},
    "file_pickers": {"tool": "set_policy", "filePickers": "deny"},
    "touch": {"tool": "tap_element", "x": 1, "y": 1},
    "passkeys": {"tool": "passkeys", "action": "list"},
}
"""Arguments that use each ability of the table."""

pytestmark = [pytest.mark.full, pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts")]


class Bench:
    """A server with stand-in drivers of the test's own, and their notes."""

    def __init__(self, server: Served, home: Home, folder: Path) -> None:
        self.server = server
        self.home = home
        self.folder = folder

    def stand_in(self, name: str) -> StandIn:
        """Return the stand-in driver of this name."""
        return StandIn(self.folder, name)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A server with stand-in drivers, and empty files in place of Firefox and Edge."""
    folder, home = tmp_path_factory.mktemp("drivers"), _new_home()
    programs = {name: folder / name for name in ("firefox", "msedge")}
    for program in programs.values():
        program.touch(0o700)
    drivers = {name: str(folder / name) for name in ("geckodriver", "msedgedriver")}
    where = {"firefox_binary": str(programs["firefox"]), "edge_binary": str(programs["msedge"]), **drivers}
    with home.serve("auto", **where) as server:
        yield Bench(server, home, folder)
    until(home.is_clean, "a clean home")


def test_firefox_is_requested_with_its_own_options_ports_and_profile_folder(bench: Bench) -> None:
    """The driver gets ports and a profile folder of the session's own; Firefox its switches, no window, the proxy."""
    driver = bench.stand_in("geckodriver")
    text = refused(
        bench.server.call(
            "start_browser", browser="firefox", args=["-purgecaches"],
            options={"proxy": "socks5://p:1080", "acceptInsecureCerts": True},
        ),
        "start_failed",
    )  # fmt: skip
    assert "could not be started" in text
    host, port, bidi, profiles = driver.noted()[0]
    assert (host, bidi) == ("--host=127.0.0.1", "--websocket-port=0")
    assert int(port.removeprefix("--port=")) > 0, "it refuses all requests that do not name its port"
    assert profiles.startswith(f"--profile-root={bench.home.folder / 'run'}")
    asked = driver.asked()
    assert asked.pop("timeouts") == {"script": 28_000, "pageLoad": 28_000}
    assert asked == {
        "browserName": "firefox",
        "pageLoadStrategy": "eager",
        "unhandledPromptBehavior": "ignore",
        "webSocketUrl": True,
        "acceptInsecureCerts": True,
        "proxy": {"proxyType": "manual", "socksProxy": "p:1080", "socksVersion": 5},
        "moz:firefoxOptions": {
            "binary": str(bench.folder / "firefox"),
            "args": ["-headless", "-purgecaches"],
            "prefs": {"signon.rememberSignons": False, "print.enabled": False},
        },
    }
    until(bench.home.is_clean, "a clean home")


def test_edge_is_requested_like_chrome_with_options_under_its_own_vendor_name(bench: Bench) -> None:
    """Edge's driver listens at an unguessable path; its options have the vendor's name."""
    driver = bench.stand_in("msedgedriver")
    wanted = {"browser": "edge", "options": {"hostRules": {"shop.test": "127.0.0.1:1"}}}
    refused(bench.server.call("start_browser", viewport={"width": 800, "height": 600}, **wanted), "start_failed")
    port, base = driver.noted()[0]
    assert port == "--port=0"
    assert len(base) == len("--url-base=/") + 32
    asked = driver.asked()
    options = asked["ms:edgeOptions"]
    assert (asked["browserName"], options["binary"]) == ("MicrosoftEdge", str(bench.folder / "msedge"))
    assert "goog:chromeOptions" not in asked
    assert {"--headless=new", "--window-size=800,687"} <= set(options["args"])
    [rules] = [one for one in options["args"] if one.startswith("--host-resolver-rules=")]
    assert "MAP shop.test 127.0.0.1:1" in rules
    assert options["prefs"]["credentials_enable_service"] is False
    until(bench.home.is_clean, "a clean home")


def assert_refused(answer: Answer, browser: str, ability: str) -> None:
    """Fail unless the answer is the refusal in the table."""
    text = refused(answer, "unsupported")
    row = ABILITIES[ability]
    assert f"{TITLES[browser]} has no {row.what}: {row.lacking[browser]}. {row.instead}" in text


def test_a_start_option_that_a_browser_lacks_is_unsupported(bench: Bench) -> None:
    """An option that the table of abilities denies is refused before anything is started or searched for."""
    assert set(OF_A_START) | set(OF_A_PAGE) == set(ABILITIES)
    for ability, wish in OF_A_START.items():
        for browser in ABILITIES[ability].lacking:
            assert_refused(bench.server.call("start_browser", browser=browser, **wish), browser, ability)
    assert bench.home.folders() == []


@pytest.fixture(scope="module")
def webkit(bench: Bench, needs_webkitgtk: None) -> dict[str, Any]:  # noqa: ARG001 — asked for first
    """A session of WebKitGTK; its row."""
    return bench.server.ok("start_browser", browser="webkitgtk", sessionId="webkit")


def test_a_tool_that_a_browser_lacks_is_unsupported_in_its_pages(
    bench: Bench, modern: Served, webkit: dict[str, Any]
) -> None:
    """A tool that the table of abilities denies is refused in started and in attached sessions."""
    modern.ok(
        "attach_session", sessionId="safari", remoteUrl=webkit["remoteUrl"], remoteSessionId=webkit["remoteSessionId"],
        capabilities={"browserName": "Safari"},
    )  # fmt: skip
    for ability, wish in OF_A_PAGE.items():
        assert {"safari", "webkitgtk"} <= set(ABILITIES[ability].lacking)
        assert_refused(bench.server.call(**wish, sessionId="webkit"), "webkitgtk", ability)
        assert_refused(modern.call(**wish, sessionId="safari"), "safari", ability)
    modern.ok("close_sessions", all=True)


def test_webkitgtk_has_an_xvfb_of_its_own_that_ends_with_the_session(bench: Bench, webkit: dict[str, Any]) -> None:
    """WebKitGTK's processes are recorded; a killed driver loses the session, and closing ends all of them."""
    assert webkit["capabilities"]["browserName"] == "MiniBrowser"
    record = bench.home.record("webkit")
    assert {one.name for one in record.processes} == {"Xvfb", "WebKitWebDriver", "MiniBrowser"}
    [key] = bench.home.folders()[0].glob("xauthority")
    assert key.stat().st_mode & 0o077 == 0
    driver = next(one.pid for one in record.processes if one.name == "WebKitWebDriver")
    kill(psutil.Process(driver))
    refused(bench.server.call("get_text", sessionId="webkit"), "session_lost")
    assert bench.server.ok("close_session", sessionId="webkit")["closed"] == ["webkit"]
    until(bench.home.is_clean, "a clean home")


@pytest.mark.usefixtures("needs_webkitgtk")
def test_webkitgtk_reports_why_a_page_cannot_be_loaded(bench: Bench) -> None:
    """WebKitGTK shows a blank page with the reason, and its driver reports none: the error has the page's."""
    bench.server.ok("start_browser", browser="webkitgtk", sessionId="second")
    text = refused(
        bench.server.call("navigate", url="http://no-such-host.invalid/", sessionId="second"), "remote_error"
    )
    assert "http://no-such-host.invalid/ could not be loaded: " in text
    bench.server.ok("close_session", sessionId="second")
