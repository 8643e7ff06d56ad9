"""Ports for programs that a test starts, and a program that loses its port."""

from __future__ import annotations

import secrets
import shutil
import socket
import sys
from contextlib import suppress
from pathlib import Path

_LOWEST, _MANY = 20_000, 10_000
"""Ports below the systems' ephemeral ranges: no other program takes one between check and use."""

_LOSING = """\
#!{python}
import os, pathlib, sys
mark = pathlib.Path({mark!r})
if not mark.exists():
    mark.touch()
    print("IPv4 port not available. Exiting...")
    sys.exit("bind() failed: Address already in use (98)")
os.execv({driver!r}, sys.argv)
"""


def losing_its_port(folder: Path) -> Path:
    """Write a chromedriver whose first start ends as if its port were taken; later ones are real."""
    script = folder / "chromedriver"
    known = {"python": sys.executable, "mark": str(folder / "lost"), "driver": shutil.which("chromedriver")}
    script.write_text(_LOSING.format(**known), "utf-8")
    script.chmod(0o755)
    return script


def free_port() -> int:
    """Return a free TCP port of 127.0.0.1 that no other program gets meanwhile."""
    while True:
        port = _LOWEST + secrets.randbelow(_MANY)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
