"""Shortages of this process itself: open files, memory, local ports. They say nothing about anyone else's state.

Imports only the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import errno
import sys

_SHORT_OF = {
    errno.EMFILE: "this process has no open file left",
    errno.ENFILE: "this machine has no open file left",
    errno.ENOMEM: "this machine has no memory left",
    errno.ENOBUFS: "this machine has no memory for connections left",
    errno.EADDRNOTAVAIL: "this machine has no local port left",
}
_ENOUGH_FILES = 65_536
"""Open files of the server at most: a program that tries each number when it starts another one stays quick."""


def describe_shortage(error: BaseException | None) -> str:
    """Return what was lacking, as a clause, if an error comes from that, at any depth; empty if it does not."""
    seen: set[int] = set()
    left = [error]
    while left:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, MemoryError):
            return _SHORT_OF[errno.ENOMEM]
        if isinstance(one, OSError) and one.errno in _SHORT_OF:
            return f"{_SHORT_OF[one.errno]} ({errno.errorcode[one.errno]})"
        # urllib3 and websockets keep the system's error as an argument, as the cause or as the context.
        arguments = [argument for argument in one.args if isinstance(argument, BaseException)]
        left += [one.__cause__, one.__context__, *arguments]
    return ""


def raise_file_limit() -> None:
    """Allow this process and those that it starts as many open files as the system lets it: a session takes eleven."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 — POSIX

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
