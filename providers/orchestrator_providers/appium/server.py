"""Finds an Appium server on this machine, or starts one for a session."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from orchestrator.errors import StartFailed
from orchestrator.models.session import ProcessInfo, SessionType
from orchestrator.provider import Start
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.machine import LOOPBACK, LocalMachine, child_environment, free_port
from orchestrator.system.secrets import without_path
from orchestrator_providers.readiness import is_ready

_NAME = "appium"
_LISTENS_WITHIN = 60.0
"""Seconds for Appium to answer; measured: 0.9, several with cold files."""
_TRIES = 3
_PORT_TAKEN = "EADDRINUSE"
_POLL = 0.02
_DRIVERS = {SessionType.IOS: "xcuitest", SessionType.ANDROID: "uiautomator2"}
_PORTS = {"http": 80, "https": 443}


class AppiumAddress:
    """The address of an Appium server, taken from its URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        self.local = host in LOOPBACK
        self.host = "127.0.0.1" if self.local else host
        self.name = parts.hostname or ""
        self.port = parts.port or _PORTS[parts.scheme]
        self.shown = without_path(url)

    def is_listening(self) -> bool:
        """Return False if nothing listens there; the start itself waits for a server that listens but is silent."""
        try:
            socket.create_connection((self.name, self.port), timeout=2).close()
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
        return True


def start_appium(start: Start, address: AppiumAddress) -> str:
    """Start an Appium for this session alone; return its URL, whose random path no other session knows.

    Raises:
        StartFailed: Appium is not installed, or does not answer.
    """
    command = _command(start, address)
    if start.request.type is SessionType.ANDROID:
        _start_adb()
    for _ in range(_TRIES - 1):
        try:
            return _start_and_wait(start, command)
        except StartFailed as error:
            if _PORT_TAKEN not in error.message:
                raise
    return _start_and_wait(start, command)


def _command(start: Start, address: AppiumAddress) -> list[str]:
    """Return the command line of Appium, without npx, which does not forward signals."""
    machine, given = LocalMachine.this(), start.settings.appium
    program = machine.appium() if given is None else given.expanduser().absolute()
    if program is None:
        driver = _DRIVERS[start.request.type]
        raise StartFailed(
            f"No Appium server answers at {address.shown}, and Appium was not found on this machine.",
            hint=f"Install it, with Node 20.19 or newer: npm install -g appium, then: appium driver install {driver}; "
            "or set appium (ORCHESTRATOR_APPIUM) to the program, or appium_url to a server.",
        )
    if not program.is_file():
        raise StartFailed(
            f"Setting appium names {program}, which does not exist.",
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
    """Start adb's server before Appium would: it serves the whole machine and must outlive this session."""
    adb: Path | None = LocalMachine.this().android("adb")
    if adb is None:
        return
    try:
        subprocess.run(
            [adb, "start-server"],
            env=child_environment(os.environ),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # Appium reports what is wrong


def _start_and_wait(start: Start, command: list[str]) -> str:
    port, base = free_port(), f"/{secrets.token_hex(16)}"
    # From the level info on, Appium logs the text that is typed and the requests.
    quiet = ["--log-level", "warn", "--log-no-colors", "--log-timestamp"]
    address = ["--address", "127.0.0.1", "--port", str(port), "--base-path", base]
    server = start.spawn(_NAME, [*command, "server", *address, *quiet])

    def answers() -> bool:
        start.check()
        if is_ready(port, base):
            return True
        if not start.alive(server):
            raise _silent(start, server)
        return False

    if not poll_until(answers, Deadline(_LISTENS_WITHIN), every=_POLL):
        raise _silent(start, server)
    return f"http://127.0.0.1:{port}{base}"


def _silent(start: Start, server: ProcessInfo) -> StartFailed:
    state = "does not answer" if start.alive(server) else "ended at once"
    log = " ".join((start.folder() / f"{_NAME}.log").read_text("utf-8", "replace").split())[-300:]
    return StartFailed(
        f"Appium {state}{': ' if log else ''}{log.rstrip('.')}.",
        hint="Run it by hand to see what it lacks; orchestrator doctor lists what it needs.",
    )
