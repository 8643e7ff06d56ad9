"""Start a browser's driver on this machine, and wait until it listens."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import StartFailed
from orchestrator.models.session import ProcessInfo
from orchestrator.provider import Start
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.machine import free_port
from orchestrator_providers.readiness import is_ready

_START_TIMEOUT = 20.0
"""Seconds that a driver may take to answer; measured: 0.02."""

_TRIES = 3
_PORT_TAKEN = re.compile(r"Address (?:already )?in use|Unable to listen")
"""chromedriver chooses a free port for IPv6, then tries the same one for IPv4, where it may be taken."""

_INTERVAL = 0.005


@dataclass(frozen=True, slots=True)
class DriverCommand:
    """A driver's command line.

    Attributes:
        args: Arguments; `{base}` stands for a secret path, `{port}` for a free port, `{folder}` for the session's
            folder.
        listens: Matches the port in its log once it listens; None if its log does not say so.
    """

    args: tuple[str, ...]
    listens: re.Pattern[str] | None = None

    @property
    def has_base(self) -> bool:
        """True if the driver can require a secret path in all requests."""
        return any("{base}" in arg for arg in self.args)

    @property
    def chooses_port(self) -> bool:
        """True if the driver listens on a free port that it chooses itself."""
        return not any("{port}" in arg for arg in self.args)


# Without a secret path, any page could end the driver: <img src="http://127.0.0.1:N/shutdown">.
_OF_CHROMIUM = DriverCommand(("--port=0", "--url-base={base}"), re.compile(r"started successfully on port (\d+)"))

DRIVERS: Mapping[str, DriverCommand] = {
    "chromedriver": _OF_CHROMIUM,
    "msedgedriver": _OF_CHROMIUM,
    # It refuses requests from pages by itself; with port 0 it refuses all, as none names that port in its Host header.
    # Its BiDi port is the same for all sessions unless it is 0.
    "geckodriver": DriverCommand(
        ("--host=127.0.0.1", "--port={port}", "--websocket-port=0", "--profile-root={folder}"),
        re.compile(r"Listening on 127\.0\.0\.1:(\d+)"),
    ),
    "safaridriver": DriverCommand(("-p", "{port}")),
    "WebKitWebDriver": DriverCommand(("--host=127.0.0.1", "--port={port}")),
}
"""Drivers by the name of their program."""


def start_driver(start: Start, program: Path, name: str, env: Mapping[str, str]) -> str:
    """Start a driver and return its URL; if its port was taken meanwhile, start it again.

    Raises:
        StartFailed: It ended, or does not answer.
    """
    for _ in range(_TRIES - 1):
        try:
            return _start_once(start, program, name, env)
        except StartFailed as error:
            if not _PORT_TAKEN.search(error.message):
                raise
    return _start_once(start, program, name, env)


def _start_once(start: Start, program: Path, name: str, env: Mapping[str, str]) -> str:
    driver = DRIVERS[name]
    base = f"/{secrets.token_hex(16)}" if driver.has_base else ""
    port = 0 if driver.chooses_port else free_port()
    command = [str(program), *(arg.format(base=base, port=port, folder=start.folder()) for arg in driver.args)]
    process = start.spawn(name, command, env=env)
    return f"http://127.0.0.1:{_wait_for_port(start, process, port, base)}{base}"


def _wait_for_port(start: Start, driver: ProcessInfo, port: int, base: str) -> int:
    """The port on which the driver answers: the given one, or the one that it chose."""
    log = start.folder() / f"{driver.name}.log"
    listens = DRIVERS[driver.name].listens

    def find_port() -> int:
        start.check()
        is_alive = start.alive(driver)  # checked before the log is read: an ended driver's log is complete
        text = log.read_text("utf-8", "replace")
        if not is_alive:
            raise _not_started(driver, "ended at once", text)
        match = listens.search(text) if listens else None
        candidate = int(match[1]) if match else 0 if listens else port
        return candidate if candidate and is_ready(candidate, base) else 0

    answering = poll_until(find_port, Deadline(_START_TIMEOUT), every=_INTERVAL)
    if not answering:
        raise _not_started(driver, "does not answer", log.read_text("utf-8", "replace"))
    return answering


def _not_started(driver: ProcessInfo, state: str, log: str) -> StartFailed:
    output = " ".join(log.split())[-300:]
    return StartFailed(
        f"{driver.name} {state}{': ' if output else ''}{output}.", hint="Run it by hand to see what it lacks."
    )
