"""A screen of a session's own, for a browser that cannot do without one."""

from __future__ import annotations

import re
import secrets
import time
from pathlib import Path

from orchestrator.errors import StartFailed
from orchestrator.machine import Machine, command
from orchestrator.provider import Start

_NAME = "Xvfb"
_WITHIN = 20.0
"""Seconds until it must be there; measured: 0.1."""

_POLL = 0.005
_DISPLAY = re.compile(r"^(\d+)$", re.MULTILINE)
_LEAST = (1920, 1080)
_ROOM = 200
"""Pixels for what a window has around its page."""

_INSTALL = {
    "apt-get": "apt-get install xvfb",
    "dnf": "dnf install xorg-x11-server-Xvfb",
    "pacman": "pacman -S xorg-server-xvfb",
}


def screen(start: Start, browser: str, machine: Machine) -> dict[str, str]:
    """Start an X server that only this session's processes can use; the environment in which they find it.

    Source: `man Xvfb`, `man Xserver` (-displayfd, -auth).

    Raises:
        StartFailed: There is none on this machine, or it did not start.
    """
    program = machine.program(_NAME)
    if program is None:
        install = command(machine, _INSTALL)
        raise StartFailed(
            f"{browser} has no mode without a window, and {_NAME}, a screen that nobody sees, was not found.",
            hint=f"Install it{': ' if install else ''}{install}; or start with headless: false on a display.",
        )
    key = start.folder() / "xauthority"
    _write_key(key)
    size = [max(least, wanted + _ROOM) for least, wanted in zip(_LEAST, _wanted(start), strict=True)]
    options = ("-displayfd", "1", "-screen", "0", f"{size[0]}x{size[1]}x24", "-auth", str(key))
    server = start.spawn(_NAME, [str(program), *options, "-noreset", "-nolisten", "tcp"])
    log = start.folder() / f"{_NAME}.log"
    until = time.monotonic() + _WITHIN
    while True:
        start.check()
        runs = start.alive(server)
        text = log.read_text("utf-8", "replace")
        if runs and (found := _DISPLAY.search(text)):
            # GTK would take a desktop's own screen first where that one is of Wayland.
            return {"DISPLAY": f":{found[1]}", "XAUTHORITY": str(key), "GDK_BACKEND": "x11"}
        if not runs or time.monotonic() > until:
            said = " ".join(text.split())[-300:]
            raise StartFailed(
                f"{_NAME} did not start{': ' if said else ''}{said}.", hint="Run it by hand to see what it lacks."
            )
        time.sleep(_POLL)


def _wanted(start: Start) -> tuple[int, int]:
    return start.request.viewport.width, start.request.viewport.height


def _write_key(path: Path) -> None:
    """A key for any display, without which every user of this machine could look at the screen (`man Xsecurity`)."""
    entry = b"\xff\xff"
    for part in (b"", b"", b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16)):
        entry += len(part).to_bytes(2, "big") + part
    path.write_bytes(entry)
    path.chmod(0o600)
