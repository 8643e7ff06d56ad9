"""Ports for programs that a test starts."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

_LOWEST, _MANY = 20_000, 10_000
"""Below what any system gives to who asks for any port: between the look and the use nobody else takes one."""


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody has, and that nobody is given meanwhile."""
    while True:
        port = _LOWEST + secrets.randbelow(_MANY)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
