"""Which process is which, and whether it lives. psutil and the standard library alone: the keeper imports this."""

from __future__ import annotations

import sys
from typing import NamedTuple, Protocol

import psutil

SAME = 2.0 if sys.platform == "linux" else 0.1
"""How far two readings of one creation time may differ: Linux adds the boot time, which is rounded to seconds."""


class Identity(Protocol):
    """What tells a process from a later one with the same pid."""

    @property
    def pid(self) -> int:
        """The system's number for it, given to another one after its end."""

    @property
    def created(self) -> float:
        """When it was created, in seconds since the epoch."""


class Process(NamedTuple):
    """A process, known by pid and creation time so that a reused pid is never mistaken for it."""

    pid: int
    created: float

    @classmethod
    def here(cls) -> Process:
        """The one that asks."""
        own = psutil.Process()
        return cls(own.pid, own.create_time())

    def alive(self) -> bool:
        """Whether it runs; a zombie does not."""
        return alive(self)


def alive(process: Identity) -> bool:
    """Whether this very process runs: the same pid and creation time, and no zombie."""
    return found(process) is not None


def found(process: Identity) -> psutil.Process | None:
    """This very process, if it runs."""
    try:
        seen = psutil.Process(process.pid)
        same = abs(seen.create_time() - process.created) <= SAME
        return seen if same and not _ended(seen) else None
    except (psutil.Error, ValueError):
        return None


def gone(process: psutil.Process) -> bool:
    """Whether it ended since it was found; another process may have its pid by now."""
    return not process.is_running() or _ended(process)


def _ended(process: psutil.Process) -> bool:
    """Whether what has this pid ended; a zombie did, though whoever started it has not noticed."""
    try:
        return process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.Error as error:
        return isinstance(error, psutil.NoSuchProcess)
