"""The present boot of this machine: its id, and a clock that nobody sets.

Imports only the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACES = Path("/proc/self/ns")


@functools.cache
def boot() -> str:
    """Return what tells this boot, and the namespace of its clock, from every other one; empty if nothing does.

    Only Linux has an id of the boot.
    """
    boot_id = _boot_id()
    return f"{boot_id}/{_namespace('time')}" if boot_id else ""


@functools.cache
def place() -> str:
    """Return the boot and the pid namespace in which this process's pids count; empty where the system has none."""
    boot_id = _boot_id()
    return f"{boot_id}/{_namespace('pid')}" if boot_id else ""


def seconds() -> float:
    """Return the seconds since the machine started; time in which it slept counts."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


def make_clock(epoch: float) -> Callable[[], float]:
    """Return a clock of the seconds since the epoch, for a machine that was started at this one of them."""
    return lambda: epoch + seconds()


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text("ascii").strip() if sys.platform == "linux" else ""
    except OSError:
        return ""


def _namespace(kind: str) -> str:
    """Return the number of a namespace of this process; empty if the system has no such namespaces."""
    try:
        return (_NAMESPACES / kind).readlink().name.strip(f"{kind}:[]")
    except OSError:
        return ""
