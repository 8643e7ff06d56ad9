"""The end of every run: no process and no profile folder of ours may outlive it.

Each run gets a folder of its own; our home and every temporary folder lie in it. So whatever names this folder, in its
command line or in its environment, was started by this run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from orchestrator.demo.device_server import DeviceServer
    from tests.grid_end import GridEnd

GRACE = float(os.environ.get("LEAK_GRACE", "30"))
"""Seconds for what is just ending to end."""

PROFILE_FILES = {"Local State", "SingletonLock", "DevToolsActivePort", "prefs.js"}
"""What Chromium and Firefox keep straight in a profile folder."""

RUN = pytest.StashKey["Run"]()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture(scope="session")
def needs_phones() -> None:
    """For what runs on simulated phones: it is skipped where something is missing for that, and fails where CI=true."""
    # Nothing may read the environment before pytest_configure.
    from orchestrator.demo.device_server import missing  # noqa: PLC0415
    from tests.needed import needed  # noqa: PLC0415

    needed(missing())


@pytest.fixture(scope="session")
def device_server(needs_phones: None) -> Iterator[DeviceServer]:  # noqa: ARG001 — asked for first
    """One Appium server with the simulated phones, for all tests that do it no harm."""
    from orchestrator.demo.device_server import DeviceServer  # noqa: PLC0415 — as above

    with DeviceServer() as server:
        yield server


@pytest.fixture(scope="session")
def _grid() -> Iterator[GridEnd]:
    from tests.grid_end import grid_end  # noqa: PLC0415 — as above

    # With one thread a Grid serves its queue in order.
    hub, node = ["--newsession-threadpool-size", "1"], ["--enable-managed-downloads", "true"]
    with grid_end(hub=hub, node=node) as started:
        yield started


@pytest.fixture
def grid(_grid: GridEnd) -> Iterator[GridEnd]:
    """One Selenium Grid of two nodes with two slots each, for all tests that do it no harm; free after each.

    Skipped where something is missing for it, and failed where CI=true.
    """
    yield _grid
    _grid.end_sessions()


class Run:
    """One run of pytest: its folder, and what is still in it or still names it."""

    def __init__(self) -> None:
        # Short, because a browser's socket below it may have about a hundred characters.
        self.folder = Path(tempfile.mkdtemp(prefix="wo-")).resolve()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.leaks: list[str] = []

    def processes(self) -> list[psutil.Process]:
        """Return the living processes that this run started, with their descendants."""
        named = {process for process in psutil.process_iter() if process.pid != os.getpid() and self._names(process)}
        return sorted(named.union(*map(_children, named)), key=lambda process: process.pid)

    def _names(self, process: psutil.Process) -> bool:
        try:
            words = [*process.cmdline(), *_environment(process)]
            return any(str(self.folder) in word for word in words) and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def profiles(self) -> list[Path]:
        """Return the profile folders that are left: known by their files, or by lying where temporary ones are made."""
        left = {path for path in self.temporary.iterdir() if path.is_dir() and not path.is_symlink()}
        for folder, _, files in os.walk(self.folder):
            if PROFILE_FILES.intersection(files):
                left.add(Path(folder))
        return sorted(left)

    def end(self) -> None:
        """Wait for what is ending, note what is left, end it by its pid."""
        deadline = time.monotonic() + GRACE
        while (self.processes() or self.profiles()) and time.monotonic() < deadline:
            time.sleep(0.1)
        left = self.processes()
        self.leaks = [f"profile folder {path}" for path in self.profiles()] + [_described(process) for process in left]
        for process in left:
            _kill(process)
        psutil.wait_procs(left, timeout=GRACE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the browser of the stage is: the core set runs in any of these places."""
    parser.addoption("--on", choices=("local", "webkitgtk", "grid"), default="local", help="where the core set runs")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give the run its folder, before any test module can read the environment."""
    run = config.stash[RUN] = Run()
    os.environ["ORCHESTRATOR_HOME"] = str(run.folder / "home")
    # Nothing of a test may live on after its server, but where it says so.
    os.environ["ORCHESTRATOR_PARK_TTL"] = "0"
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = str(run.temporary)
    # MCP's stdio client hands on PATH and little else: a server started so names the folder, too.
    os.environ["PATH"] += f"{os.pathsep}{run.folder / 'bin'}"
    tempfile.tempdir = None
    config.option.basetemp = config.option.basetemp or run.folder / "pytest"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if anything of it is left; every fixture has been torn down by now."""
    run = session.config.stash[RUN]
    run.end()
    if run.leaks:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List what was left."""
    run = config.stash[RUN]
    if run.leaks:
        terminalreporter.section("left behind by this run", red=True)
        for leak in run.leaks:
            terminalreporter.line(leak)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the run's folder. Who wants to look at what tests wrote gives `--basetemp`."""
    shutil.rmtree(config.stash[RUN].folder, ignore_errors=True)


def _environment(process: psutil.Process) -> list[str]:
    try:
        return list(process.environ().values())
    except psutil.AccessDenied:
        return []


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [child for child in process.children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []


def _described(process: psutil.Process) -> str:
    try:
        return f"process {process.pid}: {' '.join(process.cmdline()) or process.name()}"
    except psutil.Error:
        return f"process {process.pid}"


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error:
        return
