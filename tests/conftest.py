"""The check at the end of every run: none of our processes or profile folders may outlive it.

Each process that runs tests gets a folder of its own, with our home and every temporary folder in it. So a process
that names this folder, in its command line or its environment, was started by this run. With `-n` the workers of
pytest-xdist run the tests; their controller reports the leftovers.

A run that is interrupted or killed cannot do that: pytest-xdist kills its workers amid their clean-up, and SIGTERM ends
pytest without any. So beside each process that runs tests a guard waits for its end: this file, started as a program.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tests import limits
from tests.outcome import OutcomeRecorder
from tests.servers.geckodriver import GECKODRIVER
from tests.tiers import TIERS, tier_of

if TYPE_CHECKING:
    from orchestrator.demo.device_server import DeviceServer
    from tests.servers.grid import GridEnd

GRACE = float(os.environ.get("LEAK_GRACE", "30"))
"""Seconds that ending processes and folders are waited for."""

PROFILE_FILES = {"Local State", "SingletonLock", "DevToolsActivePort", "prefs.js"}
"""Files that Chromium and Firefox keep in every profile folder."""

WITH_BROWSERS = [Path(__file__).parent / folder for folder in ("demo", "e2e", "snapshot/web")]
"""Folders whose tests start browsers, Node or Java; others are marked in their file."""

OWN_BROWSERS = ("chrome", "edge", "safari")
"""Browsers that only some people have: `--on` names them by hand, and runs the tests of a stage alone."""

RUN = pytest.StashKey["Run"]()
RECORDER = pytest.StashKey[OutcomeRecorder]()
FOLDERS = pytest.StashKey[list[str]]()
"""The folders of this process and of its workers."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the server does."""
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
def _collected_garbage() -> Iterator[None]:
    """Let what was not closed be found at the end of its module, not in some other test."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def needs_phones() -> None:
    """Skip what needs simulated phones if something is missing for them; fail instead where CI=true."""
    # Nothing may read the environment before pytest_configure.
    from orchestrator.demo.device_server import missing  # noqa: PLC0415
    from tests.needed import needed  # noqa: PLC0415

    needed(missing())


@pytest.fixture(scope="session")
def needs_firefox() -> None:
    """Skip what needs Firefox if it is missing; fail instead where CI=true."""
    from orchestrator.system.machine import LocalMachine  # noqa: PLC0415 — as above
    from tests.needed import needed  # noqa: PLC0415

    here = LocalMachine.this()
    needed(None if here.browser("firefox") and here.program("geckodriver") else "Firefox is not here: make firefox")


@pytest.fixture(scope="session")
def device_server(needs_phones: None) -> Iterator[DeviceServer]:  # noqa: ARG001 — asked for first
    """An Appium server with the simulated phones, shared by all tests that leave it intact."""
    from orchestrator.demo.device_server import DeviceServer  # noqa: PLC0415 — as above

    with DeviceServer() as server:
        yield server


@pytest.fixture(scope="session")
def _grid() -> Iterator[GridEnd]:
    from tests.servers.grid import grid_end  # noqa: PLC0415 — as above

    # With one thread a Grid serves its queue in order.
    hub, node = ["--newsession-threadpool-size", "1"], ["--enable-managed-downloads", "true"]
    with grid_end(hub=hub, node=node) as started:
        yield started


@pytest.fixture
def grid(_grid: GridEnd) -> Iterator[GridEnd]:
    """A Selenium Grid of two nodes with two slots each, shared by all tests that leave it intact; free after each.

    Skips if something is missing for it; fails instead where CI=true.
    """
    yield _grid
    _grid.end_sessions()


class Run:
    """A run of pytest: its folder, and the processes and profiles that belong to it."""

    def __init__(self) -> None:
        # Short, because a browser's socket below it may have about a hundred characters.
        self.folder = Path(tempfile.mkdtemp(prefix="wo-")).resolve()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.leaks: list[str] = []
        self._guard: subprocess.Popen[str] | None = None

    def start_guard(self, controller: int) -> None:
        """Start the guard, before the environment names the folder; `controller` is the process that started this one.

        It does not get the signals of a terminal, and its pipe is closed by the end of this process, whatever ends it.
        """
        self._guard = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self._guard.stdin is not None
        self._guard.stdin.write(f"{self.folder}\n{os.getpid()}\n{controller}\n")
        self._guard.stdin.flush()

    def kill_workers(self) -> None:
        """Kill the workers of this controller."""
        for child in psutil.Process().children():
            if self._guard is None or child.pid != self._guard.pid:
                _kill(child)

    def end_guard(self) -> None:
        """Let the guard look for what is left, and wait for its end."""
        if self._guard is not None:
            self._guard.communicate()

    def processes(self) -> list[psutil.Process]:
        """Return the living processes that this run started, with their descendants."""
        return processes_of(str(self.folder))

    def profiles(self) -> list[Path]:
        """Return the leftover profile folders: identified by their files, or by lying among the temporary folders."""
        left = {path for path in self.temporary.iterdir() if path.is_dir() and not path.is_symlink()}
        for folder, _, files in os.walk(self.folder):
            if PROFILE_FILES.intersection(files):
                left.add(Path(folder))
        return sorted(left)

    def end(self) -> None:
        """Wait for processes and folders to go, list those left, kill the processes by pid."""
        deadline = time.monotonic() + GRACE
        while (self.processes() or self.profiles()) and time.monotonic() < deadline:
            time.sleep(0.1)
        left = self.processes()
        self.leaks = [f"profile folder {path}" for path in self.profiles()] + [_described(process) for process in left]
        for process in left:
            _kill(process)
        psutil.wait_procs(left, timeout=GRACE)


def guard(folder: str, runner: int, controller: int) -> None:
    """Wait for the end of a process that runs tests, or of its controller; then end what it left, and the folder."""
    ended = threading.Thread(target=sys.stdin.read, daemon=True)
    ended.start()
    while ended.is_alive():
        ended.join(0.5)
        if controller and ended.is_alive():
            _kill_orphan(runner, controller)
    deadline = time.monotonic() + GRACE
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        for process in left:
            _kill(process)
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: str) -> list[psutil.Process]:
    """Return the living processes that name this folder, with their descendants."""
    named = {process for process in psutil.process_iter() if process.pid != os.getpid() and _names(process, folder)}
    return sorted(named.union(*map(_children, named)), key=lambda process: process.pid)


def _names(process: psutil.Process, folder: str) -> bool:
    try:
        words = [*process.cmdline(), *_environment(process)]
        return any(folder in word for word in words) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--on`, the place of the stage's browser (the core set runs in any of them), `--tier`, and `--outcome`."""
    places = ("local", "firefox", "webkitgtk", "grid", *OWN_BROWSERS)
    parser.addoption("--on", choices=places, default="local", help="where the core set runs")
    parser.addoption("--tier", choices=TIERS, action="append", help="run the tests of this tier; without it of all")
    parser.addoption("--outcome", type=Path, help="the file for the outcome of the run, which tests/decide.py reads")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give the run its folder, before any test module can read the environment."""
    config.pluginmanager.register(limits, "limits")
    recorder = config.stash[RECORDER] = OutcomeRecorder()
    config.pluginmanager.register(recorder, "outcome")
    run = config.stash[RUN] = Run()
    config.stash[FOLDERS] = [str(run.folder)]
    is_worker = hasattr(config, "workerinput")
    run.start_guard(os.getppid() if is_worker else 0)
    # The base folder that pytest-xdist gives a worker is not below the worker's own folder.
    config.option.basetemp = (None if is_worker else config.option.basetemp) or run.folder / "pytest"
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As in the background of a script: what tests interrupt would ignore it, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _is_controller(config):
        return
    os.environ["ORCHESTRATOR_HOME"] = str(run.folder / "home")
    # What tests write and read (tmp_path) is the project of their servers.
    os.environ["ORCHESTRATOR_FILE_ROOTS"] = os.pathsep.join(["default", str(run.folder / "pytest")])
    # No session may outlive its server, unless the test sets another time.
    os.environ["ORCHESTRATOR_PARK_TTL"] = "0"
    if getattr(os, "geteuid", int)() == 0:
        # Chromium has no sandbox for root; each first start would warn of that.
        os.environ["ORCHESTRATOR_SANDBOX"] = "off"
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = str(run.temporary)
    # MCP's stdio client passes on PATH and little else: its server names the folder all the same.
    os.environ["PATH"] += f"{os.pathsep}{run.folder / 'bin'}{os.pathsep}{GECKODRIVER}"
    tempfile.tempdir = None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests of folders with browsers, and put files with slow tests first: two workers then end together.

    Deselected are tests of other tiers than `--tier` names and, in Firefox and in a browser that someone has, tests
    that start another one: they prove nothing.
    """
    if tiers := config.getoption("--tier"):
        _keep(config, items, lambda item: tier_of(item) in tiers)
    if config.getoption("--on") in {"firefox", *OWN_BROWSERS}:
        _keep(config, items, _is_on_stage)
    for item in items:
        if any(folder in item.path.parents for folder in WITH_BROWSERS):
            item.add_marker("browser")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def _keep(config: pytest.Config, items: list[pytest.Item], kept: Callable[[pytest.Item], bool]) -> None:
    """Deselect all other tests."""
    config.hook.pytest_deselected(items=[item for item in items if not kept(item)])
    items[:] = filter(kept, items)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """End all that tests share after one that failed, so that no other fails with it; the next one makes it anew."""
    failed = item.nodeid in item.config.stash[RECORDER].outcome.failed
    try:
        yield
    except BaseException:
        failed = True
        raise
    finally:
        if failed:
            item.session._setupstate.teardown_exact(None)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Fail the run if anything of it is left, once every fixture has been torn down.

    The workers of an interrupted run are left to their guards: otherwise they would go on testing for 5 seconds.
    """
    run, recorder = session.config.stash[RUN], session.config.stash[RECORDER]
    if exitstatus == pytest.ExitCode.INTERRUPTED and _is_controller(session.config):
        run.kill_workers()
    yield
    run.end()
    failed = bool(recorder.outcome.failed)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput |= {"leaks": run.leaks, "failed": failed, "folder": str(run.folder)}
    # The controller runs no test: what its workers leave, it does not.
    recorder.add_leaks(run.leaks, failed=failed and not _is_controller(session.config))
    if recorder.all_leaks():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if (file := session.config.getoption("--outcome")) and not hasattr(session.config, "workeroutput"):
        recorder.write(file)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect the leftovers of a pytest-xdist worker, and its folder: it may be killed before it removes that."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[RECORDER].add_leaks(output.get("leaks", []), failed=output.get("failed", False))
    node.config.stash[FOLDERS] += [output["folder"]] if "folder" in output else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List the leftovers."""
    if leaks := config.stash[RECORDER].all_leaks():
        terminalreporter.section("left behind by this run", red=True)
        for leak in leaks:
            terminalreporter.line(leak)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folders of the run. Use `--basetemp` to keep the files that tests wrote."""
    for folder in config.stash[FOLDERS]:
        shutil.rmtree(folder, ignore_errors=True)
    config.stash[RUN].end_guard()


def _is_on_stage(item: pytest.Item) -> bool:
    on_phones = Path(__file__).parent / "e2e" / "apps"
    return "stage" in getattr(item, "fixturenames", ()) and on_phones not in item.path.parents


def _is_controller(config: pytest.Config) -> bool:
    return bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")


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


def _kill_orphan(runner: int, controller: int) -> None:
    """Kill a worker that its controller left behind: nobody waits for its results any more."""
    try:
        process = psutil.Process(runner)
        if process.ppid() != controller:
            process.kill()
    except psutil.Error:
        return


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error:
        return


if __name__ == "__main__":
    guard(sys.stdin.readline().rstrip("\n"), int(sys.stdin.readline()), int(sys.stdin.readline()))
