"""An Appium server of this machine: whether one answers, and one of its own for a session where none does."""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from orchestrator.errors import StartFailed
from orchestrator.machine import LOOPBACK, Machine, free_port
from orchestrator.models import ProcessInfo, SessionType
from orchestrator.provider import Start
from orchestrator.secrets import without_credentials
from orchestrator_providers.status import is_ready

_NAME = "appium"
_LISTENS_WITHIN = 60.0
"""Seconds until Appium must answer; measured: 0.9, on a machine with cold files several."""
_TRIES = 3
_PORT_TAKEN = "EADDRINUSE"
_POLL = 0.02
_DRIVERS = {SessionType.IOS: "xcuitest", SessionType.ANDROID: "uiautomator2"}
_PORTS = {"http": 80, "https": 443}


class Place:
    """Where an Appium server is, by its URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        self.local = host in LOOPBACK
        self.host = "127.0.0.1" if self.local else host
        self.name = parts.hostname or ""
        self.port = parts.port or _PORTS[parts.scheme]
        self.shown = without_credentials(url)

    def answers(self) -> bool:
        """Whether somebody listens there; who listens and says nothing is waited for in the start itself."""
        try:
            socket.create_connection((self.name, self.port), timeout=2).close()
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
        return True


def serve(start: Start, place: Place) -> str:
    """Start an Appium for this session alone; returns its URL, whose random path only this session knows.

    Raises:
        StartFailed: It is not installed, or does not answer.
    """
    command = _command(start, place)
    if start.request.type is SessionType.ANDROID:
        _start_adb()
    for _ in range(_TRIES - 1):
        try:
            return _listening(start, command)
        except StartFailed as error:
            if _PORT_TAKEN not in error.message:
                raise
    return _listening(start, command)


def _command(start: Start, place: Place) -> list[str]:
    """How Appium is called: never through npx, which does not hand a signal on."""
    machine, given = Machine.this(), start.settings.appium
    program = machine.appium() if given is None else given.expanduser().absolute()
    if program is None:
        driver = _DRIVERS[start.request.type]
        raise StartFailed(
            f"No Appium server answers at {place.shown}, and Appium was not found on this machine.",
            hint=f"Install it, with Node 20.19 or newer: npm install -g appium, then: appium driver install {driver}; "
            "or set appium (ORCHESTRATOR_APPIUM) to the program, or appium_url to a server.",
        )
    if not program.is_file():
        raise StartFailed(
            f"Setting appium names {program}, which is not there.",
            hint="Correct appium (ORCHESTRATOR_APPIUM), or remove it to let it be found.",
        )
    if program.suffix not in {".js", ".mjs", ".cjs"}:
        return [str(program)]
    node = machine.program("node")
    if node is None:
        raise StartFailed(
            "Appium needs Node, which was not found on this machine.", hint="Install Node 20.19 or newer."
        )
    return [str(node), str(program)]


def _start_adb() -> None:
    """Have adb's server run before Appium would start it: it serves the whole machine and must outlive this session."""
    adb: Path | None = Machine.this().android("adb")
    if adb is None:
        return
    try:
        subprocess.run([adb, "start-server"], capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return  # Appium says what is wrong with it


def _listening(start: Start, command: list[str]) -> str:
    port, base = free_port(), f"/{secrets.token_hex(16)}"
    # What is typed and sent stands in Appium's log from the level info on.
    quiet = ["--log-level", "warn", "--log-no-colors", "--log-timestamp"]
    where = ["--address", "127.0.0.1", "--port", str(port), "--base-path", base]
    server = start.spawn(_NAME, [*command, "server", *where, *quiet])
    until = time.monotonic() + _LISTENS_WITHIN
    while not is_ready(port, base):
        start.check()
        if not start.alive(server) or time.monotonic() > until:
            raise _silent(start, server)
        time.sleep(_POLL)
    return f"http://127.0.0.1:{port}{base}"


def _silent(start: Start, server: ProcessInfo) -> StartFailed:
    state = "does not answer" if start.alive(server) else "ended at once"
    said = " ".join((start.folder() / f"{_NAME}.log").read_text("utf-8", "replace").split())[-300:]
    return StartFailed(
        f"Appium {state}{': ' if said else ''}{said.rstrip('.')}.",
        hint="Run it by hand to see what it lacks; orchestrator doctor says what it needs.",
    )
