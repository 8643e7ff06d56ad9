"""A real Selenium Grid on this machine: a hub and nodes, each a process of its own, with the installed Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import psutil

from orchestrator.errors import StartFailed
from orchestrator.settings import Settings
from orchestrator.system import selenium_grid
from orchestrator.system.machine import LocalMachine
from tests.demo.phones import DEVICES
from tests.e2e.harness import remote, runs
from tests.needed import needed
from tests.servers.geckodriver import GECKODRIVER
from tests.servers.ports import free_port
from tests.waiting import until

FOLDER = Path(sys.prefix) / "grid"
"""Path of the server that `make grid` downloads."""
_JVM = [*selenium_grid.QUICK, "-Xms64m", "-Xmx128m", "-XX:-UsePerfData"]
_ENDS_WITHIN = 15.0
_BROWSERS = {"iOS": "Safari", "Android": "Chrome"}


def missing() -> str | None:
    """Return the missing requirement of a Grid on this machine, None if nothing is missing."""
    try:
        selenium_grid.java(LocalMachine.this())
    except StartFailed as error:
        return str(error)
    return None if _jar() else f"Selenium Grid is not in {FOLDER}: run `make grid`."


@dataclass
class GridNode:
    """A node of a Grid.

    Attributes:
        url: The node's address for the Grid, `uri` in `/status`.
        process: Its JVM; drivers and browsers are below it.
    """

    url: str
    process: psutil.Process

    def kill(self) -> None:
        """Kill the node like a power failure: without notice, and with its browsers."""
        below = self.process.children(recursive=True)
        for one in (self.process, *below):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()


@dataclass
class GridEnd:
    """A running Grid.

    Attributes:
        url: The address for clients, without a slash at its end.
        port: The hub's port, for a relay before it.
        nodes: Its nodes.
        hub: The hub's JVM.
        folder: Files of its processes, such as configuration and logs.
    """

    url: str
    port: int
    folder: Path
    nodes: list[GridNode] = field(default_factory=list)
    hub: psutil.Process = field(init=False)

    def status(self) -> dict[str, Any]:
        """Return the value of `/status`."""
        found: dict[str, Any] = remote("GET", f"{self.url}/status")
        return found

    def sessions(self) -> list[str]:
        """Return the ids of the live sessions, from the nodes: the hub learns of them a little later."""
        told = [remote("GET", f"{node.url}/status")["node"] for node in self.nodes if runs(node.process)]
        return [slot["session"]["sessionId"] for node in told for slot in node["slots"] if slot["session"]]

    def waiting(self) -> list[Any]:
        """Return the capabilities of the requests that wait for a slot."""
        found: list[Any] = remote("GET", f"{self.url}/se/grid/newsessionqueue/queue")
        return found

    def start(self, **capabilities: Any) -> str:
        """Start a session, bypassing our code; return its id."""
        wanted = {"alwaysMatch": {"browserName": "chrome", **capabilities}}
        return str(remote("POST", f"{self.url}/session", {"capabilities": wanted})["sessionId"])

    def ask(self, method: str, session: str, path: str = "", body: object = None) -> Any:
        """Send a command to a session, bypassing our code."""
        return remote(method, f"{self.url}/session/{session}{path}", body)

    def end_sessions(self) -> None:
        """End sessions that tests left."""
        for session in self.sessions():
            with contextlib.suppress(HTTPError):  # the Grid lists an ended session for a moment more
                self.ask("DELETE", session)
        until(lambda: not self.sessions(), "a Grid without sessions")


@contextmanager
def grid_end(
    nodes: int = 2,
    sessions: int = 2,
    *,
    session_timeout: int = 300,
    hub: Sequence[str] = (),
    node: Sequence[str] = (),
    appium: str | None = None,
    firefox: bool = False,
    jvm: str = "-XX:SharedArchiveFile",
) -> Iterator[GridEnd]:
    """Run a Grid for a block; end it with all its processes.

    Args:
        nodes: The number of nodes.
        sessions: The number of sessions of each node, of each browser.
        session_timeout: Seconds after which a node ends an unused session.
        hub: Further flags of the hub, such as `--reject-unsupported-caps true` or `--healthcheck-interval 1`.
        node: Further flags of every node, such as `--enable-managed-downloads true`.
        appium: The URL of an Appium server to which a further node relays iOS and Android sessions.
        firefox: Offer Firefox beside Chromium.
        jvm: The JVMs' option for the archive of their classes.
    """
    needed(missing())
    java = str(selenium_grid.java(LocalMachine.this()))
    folder = Path(tempfile.mkdtemp(prefix="grid-"))
    (folder / "tmp").mkdir()
    grid = GridEnd("", free_port(), folder)
    grid.url = f"http://127.0.0.1:{grid.port}"
    started: list[psutil.Process] = []
    try:
        bus = _bus()
        grid.hub = _spawn(folder, "hub", [java, jvm], [*_listens(grid.port), *bus, *hub])
        started.append(grid.hub)
        configurations = [selenium_grid.configuration(_machine(firefox=firefox), Settings(), sessions)] * nodes
        for number, configuration in enumerate(configurations + ([_relaying(appium)] if appium else [])):
            name, port = f"node-{number}", free_port()
            config = folder / f"{name}.toml"
            config.write_text(configuration, "utf-8")
            flags = [*_listens(port), *bus, "--grid-url", grid.url, "--register-cycle", "1", "--config", str(config)]
            flags += ["--session-timeout", str(session_timeout), *node]
            started.append(_spawn(folder, name, [java, jvm], flags))
            grid.nodes.append(GridNode(f"http://127.0.0.1:{port}", started[-1]))
        until(lambda: _ready(grid, started), f"a Grid with {len(grid.nodes)} nodes")
        yield grid
    finally:
        _end(started, folder)
        shutil.rmtree(folder, ignore_errors=True)


def _machine(*, firefox: bool) -> LocalMachine:
    """Return this machine, without the tests' own geckodriver if none is wanted.

    The nodes offer each browser whose driver is found.
    """
    places = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(place for place in places if firefox or Path(place) != GECKODRIVER)
    return replace(LocalMachine.this(), environ={**os.environ, "PATH": path})


def _jar() -> Path | None:
    return next((FOLDER / "node_modules" / selenium_grid.PACKAGE / "jar").glob("*.jar"), None)


def _relaying(appium: str) -> str:
    """Return the TOML of a node that relays to Appium, an app and a browser of each platform at a time."""
    apps = [{"platformName": name, **wanted} for name, wanted in DEVICES.items()]
    # A Grid has a slot for this browser name only if configured.
    browsers = [{**device, "browserName": _BROWSERS[device["platformName"]]} for device in apps]
    devices = [*apps, *browsers]
    configs = ", ".join(json.dumps(part) for device in devices for part in ("1", json.dumps(device)))
    return f"""
[node]
detect-drivers = false

[relay]
url = {json.dumps(appium)}
status-endpoint = "/status"
configs = [{configs}]
"""


def _bus() -> list[str]:
    publish, subscribe = free_port(), free_port()
    return ["--publish-events", f"tcp://127.0.0.1:{publish}", "--subscribe-events", f"tcp://127.0.0.1:{subscribe}"]


def _listens(port: int) -> list[str]:
    return ["--host", "127.0.0.1", "--port", str(port), "--tracing", "false"]


def _spawn(folder: Path, name: str, jvm: Sequence[str], flags: Sequence[str]) -> psutil.Process:
    temporary = str(folder / "tmp")
    role = name.partition("-")[0]
    command = [
        jvm[0],
        *_JVM,
        f"{jvm[1]}={FOLDER / role}.jsa",
        f"-Djava.io.tmpdir={temporary}",
        "-jar",
    ]
    with (folder / f"{name}.log").open("wb") as log:
        return psutil.Popen(
            [*command, str(_jar()), role, *flags],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
        )


def _ready(grid: GridEnd, started: Sequence[psutil.Process]) -> bool:
    dead = [process for process in started if not runs(process)]
    said = "\n".join(path.read_text("utf-8", "replace")[-2000:] for path in grid.folder.glob("*.log"))
    assert not dead, f"a part of the Grid ended: {said}"
    try:
        status = grid.status()
    except OSError:
        return False
    return bool(status["ready"]) and len(status["nodes"]) == len(grid.nodes)


def _end(started: Sequence[psutil.Process], folder: Path) -> None:
    """End nodes before the hub: they end their sessions; then the other processes of the Grid's folder."""
    for process in reversed(started):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    psutil.wait_procs(started, timeout=_ENDS_WITHIN)
    deadline = time.monotonic() + _ENDS_WITHIN
    while time.monotonic() < deadline and (left := [one for one in psutil.process_iter() if _below(one, folder)]):
        for one in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        time.sleep(0.05)


def _below(process: psutil.Process, folder: Path) -> bool:
    try:
        return runs(process) and process.environ().get("TMPDIR") == str(folder / "tmp")
    except psutil.Error:
        return False


def _archive_classes() -> None:
    """Archive the classes that hub and node loaded, which halves the start-up time of a Grid."""
    if lack := missing():
        print(f"grid: {lack}")
        return
    with grid_end(1, 1, jvm="-XX:ArchiveClassesAtExit") as grid:
        grid.start()
        grid.end_sessions()


if __name__ == "__main__":
    _archive_classes()
