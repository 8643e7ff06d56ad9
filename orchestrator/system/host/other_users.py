"""Other people who can log in to this machine, and what they see of our processes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

_ACCOUNTS = Path("/etc/passwd")
_PEOPLE = range(1000, 60_000)
"""User ids that systems give to people; those above are of services and containers."""
_NO_SHELLS = ("nologin", "false", "sync")
_HIDDEN = ("hidepid=1", "hidepid=2", "hidepid=4", "hidepid=noaccess", "hidepid=invisible", "hidepid=ptraceable")


def find_others() -> list[str]:
    """Return the names of other people than this user, and root, who can log in here or have done so; Linux alone."""
    if sys.platform != "linux":
        return []
    me = psutil.Process().uids().real
    accounts = list(_accounts())
    known = {name for name, user, shell in accounts if user in _PEOPLE and not shell.endswith(_NO_SHELLS)}
    with contextlib.suppress(OSError, psutil.Error):
        known |= {user.name for user in psutil.users()}
    own = {name for name, user, _ in accounts if user in {me, 0}}
    return sorted(known - own)


def hides_processes() -> bool:
    """Return True if `/proc` does not show this user's command lines to others."""
    shown = [one.opts.split(",") for one in psutil.disk_partitions(all=True) if one.mountpoint == "/proc"]
    return bool(shown) and any(option in _HIDDEN for option in shown[-1])


def _accounts() -> Iterator[tuple[str, int, str]]:
    with contextlib.suppress(OSError):
        for line in _ACCOUNTS.read_text("utf-8", "replace").splitlines():
            match line.split(":"):
                case [name, _, user, _, _, _, shell] if user.isdigit():
                    yield name, int(user), shell
