"""The file of a session's activity log: where it is, and how a line gets into it.

The standard library alone: the keeper writes there, too.
"""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path

_FULL = 1_000_000
"""Bytes after which a session's file is put aside; the one that was put aside before goes."""


def place(home: Path, namespace: str, session_id: str, created_at: float) -> Path:
    """One for each life of an id. Windows takes no colon in the name of a file."""
    life = f"{session_id.replace(':', '@')}~{round(created_at * 1000)}"
    return home / "logs" / namespace / f"{life}.jsonl"


def older(file: Path) -> Path:
    """What was put aside of it."""
    return file.with_name(f"{file.name}.old")


def time(seconds: float) -> str:
    """A time as its entries have it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def append(file: Path, entry: str) -> None:
    """One write at the end of the file: lines of several processes do not mix."""
    with contextlib.suppress(OSError):  # what was done was done, also where a full disk cannot take a note of it
        try:
            opened = os.open(file, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            opened = _begin(file)
        try:
            os.write(opened, f"{entry}\n".encode())
            full = os.fstat(opened).st_size > _FULL
        finally:
            os.close(opened)
        if full:
            file.replace(older(file))


def _begin(file: Path) -> int:
    """A new file that only this user can read; what earlier lives of the id left goes."""
    for folder in (file.parent.parent, file.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name, tilde, _ = file.name.rpartition("~")
    for other in file.parent.glob(f"{name}{tilde}*"):
        if other != older(file):
            other.unlink(missing_ok=True)
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
