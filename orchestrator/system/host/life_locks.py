"""Locks that tell processes of other pid namespaces that one of ours is alive.

A pid of another container means nothing here, so a process that uses a data folder holds a lock on a file of its own
there. The kernel frees it with the process, however that ends; and on a file system of this machine it knows the locks
of all containers. Imports only the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from orchestrator.system import boot
from orchestrator.system.host import private_files

if sys.platform != "win32":
    import fcntl

FOLDER = "alive"
_held: dict[Path, IO[bytes]] = {}
"""The locks of this process, by their files; held until it ends."""
_holding = threading.Lock()


def hold(home: Path, pid: int, started: str) -> None:
    """Hold the lock of this process in a data folder until its end; may be repeated. Only Linux has pid namespaces."""
    if sys.platform != "linux" or not started:
        return
    path = _path(home, pid, started)
    # One thread at a time: closing a second file of the same place would free the lock.
    with _holding:
        while not (path in _held and path.exists()):
            _lock(path)


def _lock(path: Path) -> None:
    """Lock the file, unless another process removes it before."""
    if path in _held:  # the data folder was removed, and is made anew
        _held.pop(path).close()
    private_files.make_own_folder(path.parent)
    file = private_files.open_to_append(path)
    fcntl.lockf(file, fcntl.LOCK_EX)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
            _held[path] = file
            _remove_free(path.parent)
            return
    file.close()


@atexit.register
def _release() -> None:
    """Close the files, so that the interpreter does not warn of them as forgotten."""
    while _held:
        _held.popitem()[1].close()


def is_stranger(started: str) -> bool:
    """Return True for a process of another pid namespace, or of another boot of a machine."""
    return bool(started) and bool(boot.place()) and _place(started) != boot.place()


def is_held(pid: int, started: str) -> bool:
    """Return True if this process holds its lock in a data folder that we use."""
    return any(_is_locked(_path(home, pid, started)) for home in _homes())


def is_place_alive(started: str) -> bool:
    """Return True if any process of this one's pid namespace holds its lock in a data folder that we use."""
    begin = f"{_place(started).replace('/', '_')}_"
    files = (file for home in _homes() for file in (home / FOLDER).glob(f"{begin}*"))
    return any(map(_is_locked, files))


def _homes() -> Iterator[Path]:
    yield from {path.parent.parent for path in _held}


def _place(started: str) -> str:
    return started.rpartition("/")[0]


def _path(home: Path, pid: int, started: str) -> Path:
    return home / FOLDER / f"{started.replace('/', '_')}_{pid}"


def _is_locked(path: Path) -> bool:
    """Return True if another process holds the lock of this file."""
    if sys.platform == "win32" or path in _held:
        return path in _held
    try:
        with path.open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _remove_free(folder: Path) -> None:
    for path in folder.iterdir():
        if not _is_locked(path):
            path.unlink(missing_ok=True)
