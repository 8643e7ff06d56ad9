"""Starts the driver of a browser on this machine, and learns where it listens."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import StartFailed
from orchestrator.machine import free_port
from orchestrator.models import ProcessInfo
from orchestrator.provider import Start
from orchestrator_providers.status import is_ready

_LISTENS_WITHIN = 20.0
"""Seconds until a driver must answer; measured: 0.02."""

_TRIES = 3
_PORT_TAKEN = re.compile(r"Address already in use|Unable to listen")
"""chromedriver chooses a free port for IPv6, then wants the same one for IPv4, where another may have it."""

_POLL = 0.005


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver's command line.

    Attributes:
        args: In them `{base}` is a path that only we know, `{port}` a free port, `{folder}` the session's folder.
        listens: What its log says once it listens, with the port that it chose; None where we choose it.
    """

    args: tuple[str, ...]
    listens: re.Pattern[str] | None = None

    @property
    def has_base(self) -> bool:
        """Whether it can be made deaf to all that does not know its path."""
        return any("{base}" in one for one in self.args)


# Without a random path any page could end the driver: <img src="http://127.0.0.1:N/shutdown">.
_OF_CHROMIUM = Driver(("--port=0", "--url-base={base}"), re.compile(r"started successfully on port (\d+)"))

DRIVERS: Mapping[str, Driver] = {
    "chromedriver": _OF_CHROMIUM,
    "msedgedriver": _OF_CHROMIUM,
    # It refuses requests that pages make by itself. Its BiDi port is the same one for all sessions unless it is 0.
    "geckodriver": Driver(
        ("--host=127.0.0.1", "--port=0", "--websocket-port=0", "--profile-root={folder}"),
        re.compile(r"Listening on 127\.0\.0\.1:(\d+)"),
    ),
    "safaridriver": Driver(("-p", "{port}")),
    "WebKitWebDriver": Driver(("--host=127.0.0.1", "--port={port}")),
}
"""The drivers by the name of their program."""


def serve(start: Start, program: Path, name: str, env: Mapping[str, str]) -> str:
    """Start a driver; its URL. One whose port was taken from under it is started once more.

    Raises:
        StartFailed: It ended, or does not answer.
    """
    for _ in range(_TRIES - 1):
        try:
            return _served(start, program, name, env)
        except StartFailed as error:
            if not _PORT_TAKEN.search(error.message):
                raise
    return _served(start, program, name, env)


def _served(start: Start, program: Path, name: str, env: Mapping[str, str]) -> str:
    driver = DRIVERS[name]
    base = f"/{secrets.token_hex(16)}" if driver.has_base else ""
    port = 0 if driver.listens else free_port()
    command = [str(program), *(one.format(base=base, port=port, folder=start.folder()) for one in driver.args)]
    process = start.spawn(name, command, env=env)
    return f"http://127.0.0.1:{_listening(start, process, port, base)}{base}"


def _listening(start: Start, driver: ProcessInfo, port: int, base: str) -> int:
    """The port, the given one or that which the driver chose, once it answers there."""
    log = start.folder() / f"{driver.name}.log"
    listens = DRIVERS[driver.name].listens
    until = time.monotonic() + _LISTENS_WITHIN
    while True:
        start.check()
        # Looked at before the log: what a driver wrote before it ended is then complete.
        runs = start.alive(driver)
        text = log.read_text("utf-8", "replace")
        told = listens.search(text) if listens else None
        found = int(told[1]) if told else port
        if runs and found and is_ready(found, base):
            return found
        if not runs or time.monotonic() > until:
            state = "does not answer" if runs else "ended at once"
            said = " ".join(text.split())[-300:]
            raise StartFailed(
                f"{driver.name} {state}{': ' if said else ''}{said}.", hint="Run it by hand to see what it lacks."
            )
        time.sleep(_POLL)
