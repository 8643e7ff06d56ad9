"""Start a virtual screen (Xvfb) for browsers without headless mode."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from orchestrator.errors import StartFailed
from orchestrator.models.session import ProcessInfo
from orchestrator.provider import Start
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.host import private_files
from orchestrator.system.machine import LocalMachine, command

_NAME = "Xvfb"
_START_TIMEOUT = 20.0
"""Seconds that Xvfb may take to start; measured: 0.1."""
_INTERVAL = 0.005
_DISPLAY = re.compile(r"^(\d+)$", re.MULTILINE)
_LEAST = (1920, 1080)
_WINDOW_FRAME = 200
"""Pixels of a window around its page area."""

_INSTALL = {
    "apt-get": "apt-get install xvfb",
    "dnf": "dnf install xorg-x11-server-Xvfb",
    "pacman": "pacman -S xorg-server-xvfb",
}


def start_xvfb(start: Start, browser: str, machine: LocalMachine) -> dict[str, str]:
    """Start an X server that only this session's processes can use; returns environment variables for them.

    Source: `man Xvfb`, `man Xserver` (-displayfd, -auth).

    Raises:
        StartFailed: Xvfb is not installed, or did not start.
    """
    program = machine.program(_NAME)
    if program is None:
        install = command(machine, _INSTALL)
        raise StartFailed(
            f"{browser} has no headless mode, and {_NAME}, a virtual screen for it, was not found.",
            hint=f"Install {_NAME}{': ' if install else ''}{install}; or start with headless: false on a display.",
        )
    key = start.folder() / "xauthority"
    _write_key(key)
    viewport = start.request.viewport
    width, height = max(_LEAST[0], viewport.width + _WINDOW_FRAME), max(_LEAST[1], viewport.height + _WINDOW_FRAME)
    options = ("-displayfd", "1", "-screen", "0", f"{width}x{height}x24", "-auth", str(key))
    server = start.spawn(_NAME, [str(program), *options, "-noreset", "-nolisten", "tcp"])
    # GTK prefers a desktop's own Wayland screen otherwise.
    return {"DISPLAY": f":{_wait_for_display(start, server)}", "XAUTHORITY": str(key), "GDK_BACKEND": "x11"}


def _wait_for_display(start: Start, server: ProcessInfo) -> str:
    """The number of the display, once the server has written it to its log."""
    log = start.folder() / f"{_NAME}.log"

    def find_display() -> str:
        start.check()
        is_alive = start.alive(server)  # checked before the log is read: an ended server's log is complete
        text = log.read_text("utf-8", "replace")
        if not is_alive:
            raise _not_started(text)
        match = _DISPLAY.search(text)
        return match[1] if match else ""

    number = poll_until(find_display, Deadline(_START_TIMEOUT), every=_INTERVAL)
    if not number:
        raise _not_started(log.read_text("utf-8", "replace"))
    return number


def _not_started(log: str) -> StartFailed:
    output = " ".join(log.split())[-300:]
    return StartFailed(
        f"{_NAME} did not start{': ' if output else ''}{output}.", hint="Run it by hand to see what it lacks."
    )


def _write_key(path: Path) -> None:
    """Write a key for any display: without one, every user of this machine could see the screen (`man Xsecurity`)."""
    entry = b"\xff\xff"
    for part in (b"", b"", b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16)):
        entry += len(part).to_bytes(2, "big") + part
    private_files.create_with(path, entry)
