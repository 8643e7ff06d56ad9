"""Browsers other than Chrome at the provider local: how each is asked for, refused what it cannot do, and ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.driver_stand_in import StandIn
from tests.e2e.conftest import _new_home
from tests.e2e.harness import Home, until
from tests.e2e.stage import refused
from tests.served import Served

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts")


class Bench:
    """A server that finds drivers of the test's own, and what they were told."""

    def __init__(self, server: Served, home: Home, folder: Path) -> None:
        self.server = server
        self.home = home
        self.folder = folder

    def stand_in(self, name: str) -> StandIn:
        """The driver of this name."""
        return StandIn(self.folder, name)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Firefox and Edge are files that nobody runs: their drivers are asked for them by name."""
    folder, home = tmp_path_factory.mktemp("drivers"), _new_home()
    programs = {name: folder / name for name in ("firefox", "msedge")}
    for program in programs.values():
        program.touch(0o700)
    drivers = {name: str(folder / name) for name in ("geckodriver", "msedgedriver")}
    where = {"firefox_binary": str(programs["firefox"]), "edge_binary": str(programs["msedge"]), **drivers}
    with home.serve("auto", **where) as server:
        yield Bench(server, home, folder)
    assert home.is_clean()


def test_firefox_is_asked_for_by_its_own_options(bench: Bench) -> None:
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
    assert (host, port, bidi) == ("--host=127.0.0.1", "--port=0", "--websocket-port=0")
    assert profiles.startswith(f"--profile-root={bench.home.folder / 'run'}")
    asked = driver.asked()
    assert asked.pop("timeouts") == {"script": 28_000, "pageLoad": 28_000}
    assert asked == {
        "browserName": "firefox",
        "pageLoadStrategy": "eager",
        "unhandledPromptBehavior": "ignore",
        "acceptInsecureCerts": True,
        "proxy": {"proxyType": "manual", "socksProxy": "p:1080", "socksVersion": 5},
        "moz:firefoxOptions": {
            "binary": str(bench.folder / "firefox"),
            "args": ["-headless", "-purgecaches"],
            "prefs": {"signon.rememberSignons": False},
        },
    }
    until(bench.home.is_clean, "a clean home")


def test_edge_is_asked_for_as_chrome_is(bench: Bench) -> None:
    """Its driver listens at a path that nobody can guess; its options have its vendor's name."""
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
    wanted_switches = {"--headless=new", "--window-size=800,687", "--host-resolver-rules=MAP shop.test 127.0.0.1:1"}
    assert wanted_switches <= set(options["args"])
    assert options["prefs"]["credentials_enable_service"] is False
    until(bench.home.is_clean, "a clean home")
