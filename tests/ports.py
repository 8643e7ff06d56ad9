"""Ports for programs that a test starts, and a program that loses its port."""

from __future__ import annotations

import secrets
import shutil
import socket
import sys
from contextlib import suppress
from pathlib import Path

_LOWEST, _MANY = 20_000, 10_000
"""Below what any system gives to who asks for any port: between the look and the use nobody else takes one."""

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
    """A chromedriver that ends when it is started first, as one whose port is taken; then it is the real one."""
    script = folder / "chromedriver"
    known = {"python": sys.executable, "mark": str(folder / "lost"), "driver": shutil.which("chromedriver")}
    script.write_text(_LOSING.format(**known), "utf-8")
    script.chmod(0o755)
    return script


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody has, and that nobody is given meanwhile."""
    while True:
        port = _LOWEST + secrets.randbelow(_MANY)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
