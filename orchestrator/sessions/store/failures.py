"""Failures of the store in words: a full disk, a lock of another process, a damaged file."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from orchestrator.errors import StoreDamaged, StoreFailed

_LITTLE = 65_536
"""Bytes of room on a disk below which a failed write is for want of room."""
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def explain(path: Path, error: sqlite3.Error) -> StoreFailed:
    """Return the error for a failed transaction, which says what is wrong with the store and what to do."""
    code = _code(error)
    if is_locked(error):
        return StoreFailed(
            f"The store {path} is locked: another process has kept it for 5 s or longer.",
            hint="Try again; if that does not help, end what has it open for so long, such as a program that shows "
            "databases.",
        )
    if code in _DAMAGED or "no such table" in str(error):
        return damaged(path, str(error))
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return StoreFailed(
            f"The store {path} cannot be written: its disk is full.",
            hint="Make room: close_session works all the same, and frees the room of a browser's profile.",
        )
    return StoreFailed(
        f"The store {path} failed: {error}.",
        hint="Check that the file can be written, then try again.",
    )


def is_locked(error: sqlite3.Error) -> bool:
    """Return True if another process's lock was met."""
    return _code(error) in _LOCKED


def damaged(path: Path, what: str) -> StoreDamaged:
    """Return the error for a file that is damaged."""
    return StoreDamaged(
        f"The store {path} is damaged: {what}.",
        hint="close_session still ends the sessions that this server has used. Then end all servers of this data "
        f"folder, move {path.name}, {path.name}-wal and {path.name}-shm away, and start anew.",
    )


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _LITTLE
    except OSError:
        return False
