"""Identifies processes by pid and start, and checks if one is alive.

On Linux a start is told by boot id, pid namespace and ticks since the boot. macOS and Windows have the creation time
alone. Imports only psutil and the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

import psutil

from orchestrator.system import boot
from orchestrator.system.host import life_locks

_SAME = 2.0 if sys.platform == "linux" else 0.1
"""Seconds by which two readings of one creation time may differ: Linux adds the boot time, rounded to seconds."""
_START = 19
"""The place of the start, in ticks since the boot, among the fields of `/proc/PID/stat` behind the program's name."""
_ENDED = {b"Z", b"X", b"x"}
"""Its states there once it has ended, while its parent may not have reaped it."""


class Identity(Protocol):
    """Distinguishes a process from a later one with the same pid."""

    @property
    def pid(self) -> int:
        """The process id, which the system may reuse after the end of the process."""

    @property
    def created(self) -> float:
        """The time of creation, in seconds since the epoch as the wall clock then had it."""

    @property
    def started(self) -> str:
        """The start as `boot id/pid namespace/ticks`; empty on macOS and Windows, and in records of before."""


class ProcessKey(NamedTuple):
    """A process by pid and start, so that a reused pid is never mistaken for it."""

    pid: int
    created: float
    started: str = ""

    @classmethod
    def current(cls) -> ProcessKey:
        """Return the key of this process, which is the same as long as it runs."""
        return _key_of(os.getpid())

    @classmethod
    def of(cls, pid: int) -> ProcessKey:
        """Return the key of the running process with this pid.

        Raises:
            psutil.NoSuchProcess: None has it.
        """
        return cls(pid, psutil.Process(pid).create_time(), _started(pid))

    def alive(self) -> bool:
        """Return True if this process of ours runs; a zombie does not.

        In another pid namespace it runs as long as it holds its lock.
        """
        if life_locks.is_stranger(self.started):
            return life_locks.is_held(self.pid, self.started)
        return _runs(self)


@functools.cache
def _key_of(pid: int) -> ProcessKey:
    return ProcessKey.of(pid)


def _started(pid: int) -> str:
    here, ticks = boot.place(), _ticks(pid)
    return f"{here}/{ticks}" if here and ticks is not None else ""


def start_order(process: psutil.Process) -> float:
    """Return a number that is larger the later a process was started, in seconds; a stepping clock changes none."""
    ticks = _ticks(process.pid)
    return process.create_time() if ticks is None else ticks / os.sysconf("SC_CLK_TCK")


def alive(process: Identity) -> bool:
    """Return True if a process with this pid and start runs, and is no zombie.

    One in another pid namespace counts as running as long as a process of ours runs there.
    """
    if life_locks.is_stranger(process.started):
        return life_locks.is_place_alive(process.started)
    return _runs(process)


def _runs(process: Identity) -> bool:
    try:
        return find_process(process) is not None
    except OSError:  # without an open file or memory of our own nothing is known: none has ended for that
        return True


def find_process(process: Identity) -> psutil.Process | None:
    """Return the running process with this pid and start; None if it ended, or is of another pid namespace.

    Raises:
        OSError: This process cannot look: it has no open file or memory left.
    """
    try:
        candidate = psutil.Process(process.pid)
        return candidate if _is_same(candidate, process) and not _ended(candidate) else None
    except (psutil.Error, ValueError):
        return None


def find_profile_users(folder: Path) -> Iterator[psutil.Process]:
    """Yield the processes of this machine that name a profile's folder on their command lines, as browsers do."""
    wanted = str(folder)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            after_name = any(one.lstrip("-") == "profile" and two == wanted for one, two in pairwise(words))
            if (after_name or any(word.endswith(f"={wanted}") for word in words)) and not gone(process):
                yield process


def _is_same(candidate: psutil.Process, process: Identity) -> bool:
    if process.started:
        return _started(candidate.pid) == process.started
    return abs(candidate.create_time() - process.created) <= _SAME


class ProcessStat(NamedTuple):
    """State of a process on Linux; `started` is in seconds since the boot."""

    has_ended: bool
    parent: int
    group: int
    started: float


def read_stat(pid: int) -> ProcessStat:
    """Read them in one go, on Linux: psutil reads a file for each.

    Raises:
        psutil.NoSuchProcess: There is no such process.
        OSError: It may not be read.
    """
    state, parent, group = (words := _stat(pid))[:3]
    return ProcessStat(state in _ENDED, int(parent), int(group), int(words[_START]) / os.sysconf("SC_CLK_TCK"))


def _ticks(pid: int) -> int | None:
    """Return the start in ticks since the boot; None on macOS and Windows."""
    return int(_stat(pid)[_START]) if sys.platform == "linux" else None


def _stat(pid: int) -> list[bytes]:
    """Return the words of a process's state after its name, which stands in parentheses and may be any."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError) as error:
        raise psutil.NoSuchProcess(pid) from error


def gone(process: psutil.Process) -> bool:
    """Return True if the process ended since it was found, even if another one has its pid by now."""
    return not process.is_running() or _ended(process)


def _ended(process: psutil.Process) -> bool:
    """Return True if the process with this pid ended; a zombie has ended, its parent has only not reaped it."""
    try:
        return process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.Error as error:
        return isinstance(error, psutil.NoSuchProcess)
