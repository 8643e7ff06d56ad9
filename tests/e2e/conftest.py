"""Servers, homes and a web site for end-to-end tests."""

from __future__ import annotations

import itertools
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from orchestrator import sync
from orchestrator.models.browser_support import TITLES
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine
from tests.conftest import OWN_BROWSERS
from tests.e2e.harness import NAMESPACE, Home
from tests.e2e.stage import Stage
from tests.needed import needed
from tests.servers.mcp import Served, served
from tests.servers.site import Site
from tests.waiting import until

ERAS = ("auto", "legacy")
"""Ways to negotiate the protocol's version: that of clients since 2026, and the earlier handshake."""

_numbers = itertools.count(1)


def _new_home() -> Home:
    # Beside the run's own home and not below pytest's folder: a browser's socket must have a short path.
    folder = Path(os.environ["ORCHESTRATOR_HOME"]).with_name(f"e{next(_numbers)}")
    folder.mkdir()
    return Home(folder)


@pytest.fixture(scope="session")
def new_home() -> Callable[[], Home]:
    """Return a function that makes homes."""
    return _new_home


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site of this test's own."""
    with Site() as site:
        yield site


@pytest.fixture(scope="session")
def theatre() -> Iterator[Served]:
    """The server of all stages; tests crash pages by the browser's own page for that."""
    # Files of tests share one connection, on which calls of different sessions have overlapped.
    with served(namespace="stage", tools="all", file_urls="all", require_session_id="never") as server:
        yield server


@pytest.fixture(scope="session")
def needs_webkitgtk() -> None:
    """Skip what needs WebKitGTK if it is missing; fail instead where CI=true."""
    here = LocalMachine.this()
    is_here = here.program("WebKitWebDriver") and here.program("Xvfb")
    needed(None if is_here else "WebKitGTK is not here: make webkitgtk")


@pytest.fixture(scope="session")
def own_browser(request: pytest.FixtureRequest) -> str:
    """The browser that `--on` names because someone has it; without it the run ends: nothing would be tested."""
    name, here = str(request.config.getoption("--on")), LocalMachine.this()
    found = getattr(Settings.load(), f"{name}_binary", None) or here.browser(name)
    # Chromium serves as Chrome wherever none is asked for.
    if found in {None, here.browser("chromium")}:
        pytest.exit(f"{TITLES[name]} is not on this machine: orchestrator doctor --check {name}", returncode=1)
    return name


@pytest.fixture(scope="session")
def elsewhere(theatre: Served, request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """The browser of all stages at the place given by `--on`, other than local; returns what starts it if it is lost.

    It is started once, since that is slow.
    """
    on = request.config.getoption("--on")
    if on == "grid":
        options = {"url": request.getfixturevalue("_grid").url}
        tool, where = "start_session", {"platform": "browser", "provider": "selenium_grid", "options": options}
    else:
        request.getfixturevalue(f"needs_{on}")
        tool, where = "start_browser", {"browser": on}

    def start() -> None:
        rows = theatre.ok("list_sessions")["sessions"]
        state = next((row["state"] for row in rows if row["sessionId"] == "browser"), "")
        if state == "active":
            return
        if state:
            theatre.ok("close_session", sessionId="browser")
        theatre.ok(tool, sessionId="browser", **where)

    yield start
    theatre.ok("close_sessions", all=True)


@pytest.fixture(scope="module")
def stage(theatre: Served, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A browser for a whole file of tests, each with a page of its own; `--on` chooses the place."""
    on = request.config.getoption("--on")
    with Site() as site:
        if on == "local" or on in OWN_BROWSERS:
            which = {} if on == "local" else {"browser": request.getfixturevalue("own_browser")}
            theatre.ok("start_browser", sessionId="browser", **which)
            yield Stage(theatre, site, which.get("browser", "chrome"))
            theatre.ok("close_sessions", all=True)
        else:
            request.getfixturevalue("elsewhere")()
            yield Stage(theatre, site, on if on in TITLES else "chrome")


@pytest.fixture
def home() -> Iterator[Home]:
    """A home of this test's own. It must be clean after the test's servers have ended."""
    home = _new_home()
    yield home
    until(home.is_clean, f"a clean home; left are {home.processes()} {home.folders()}")
    shutil.rmtree(home.folder, ignore_errors=True)


@pytest.fixture
def lasting(home: Home) -> Iterator[Home]:
    """A home where parked sessions outlive any test; it is cleared after the test."""
    home.settings["park_ttl"] = "100"
    yield home
    if home.records():
        with sync.Orchestrator(Settings(home=home.folder, namespace=NAMESPACE)) as last:
            last.close_sessions(all=True)


@pytest.fixture(scope="session")
def serving() -> Iterator[Callable[[str], tuple[Served, Home]]]:
    """A server for each protocol era, for all tests without settings of their own; started at its first use."""
    started: dict[str, tuple[Served, Home]] = {}
    with ExitStack() as stack:

        def serve(mode: str) -> tuple[Served, Home]:
            if mode not in started:
                home = _new_home()
                # Its tests share one connection, on which calls of different sessions have overlapped.
                started[mode] = stack.enter_context(home.serve(mode, require_session_id="never")), home
            return started[mode]

        yield serve


@pytest.fixture
def era(request: pytest.FixtureRequest) -> str:
    """An era of the protocol: always the same for a test, each for about half of the tests."""
    return ERAS[zlib.crc32(request.node.name.encode()) % len(ERAS)]


@pytest.fixture
def server(era: str, serving: Callable[[str], tuple[Served, Home]]) -> Iterator[Served]:
    """A server without any session, in both eras of the protocol."""
    server, home = serving(era)
    yield server
    server.ok("close_sessions", all=True)
    assert home.records() == []


@pytest.fixture
def modern(serving: Callable[[str], tuple[Served, Home]]) -> Iterator[Served]:
    """A server without any session, for tests that do not depend on the era."""
    server, home = serving("auto")
    yield server
    server.ok("close_sessions", all=True)
    assert home.records() == []


@pytest.fixture
def shared_home(request: pytest.FixtureRequest, serving: Callable[[str], tuple[Served, Home]]) -> Home:
    """The home of the server that this test uses."""
    era = request.getfixturevalue("era") if "era" in request.fixturenames else "auto"
    return serving(era)[1]


@pytest.fixture
def profiled(modern: Served, shared_home: Home) -> Iterator[Served]:
    """A server whose profiles are removed after the test."""
    yield modern
    modern.ok("close_sessions", all=True)
    shutil.rmtree(shared_home.folder / "profiles", ignore_errors=True)
