"""Identifies processes by pid and creation time, and checks if one is alive.

Imports only psutil and the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import sys
from typing import NamedTuple, Protocol

import psutil

SAME = 2.0 if sys.platform == "linux" else 0.1
"""Seconds by which two readings of one creation time may differ: Linux adds the boot time, rounded to seconds."""


class Identity(Protocol):
    """Distinguishes a process from a later one with the same pid."""

    @property
    def pid(self) -> int:
        """The process id, which the system may reuse after the end of the process."""

    @property
    def created(self) -> float:
        """The time of creation, in seconds since the epoch."""


class ProcessKey(NamedTuple):
    """A process by pid and creation time, so that a reused pid is never mistaken for it."""

    pid: int
    created: float

    @classmethod
    def current(cls) -> ProcessKey:
        """Return the key of this process."""
        own = psutil.Process()
        return cls(own.pid, own.create_time())

    def alive(self) -> bool:
        """Return True if the process runs; a zombie does not."""
        return alive(self)


def alive(process: Identity) -> bool:
    """Return True if a process with this pid and creation time runs, and is no zombie."""
    return find_process(process) is not None


def find_process(process: Identity) -> psutil.Process | None:
    """Return the running process with this pid and creation time, None if it ended."""
    try:
        candidate = psutil.Process(process.pid)
        is_same = abs(candidate.create_time() - process.created) <= SAME
        return candidate if is_same and not _ended(candidate) else None
    except (psutil.Error, ValueError):
        return None


def gone(process: psutil.Process) -> bool:
    """Return True if the process ended since it was found, even if another one has its pid by now."""
    return not process.is_running() or _ended(process)


def _ended(process: psutil.Process) -> bool:
    """Return True if the process with this pid ended; a zombie has ended, its parent has only not reaped it."""
    try:
        return process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.Error as error:
        return isinstance(error, psutil.NoSuchProcess)
