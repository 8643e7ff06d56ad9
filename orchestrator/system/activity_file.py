"""The file of a session's activity log: its path, and appending to it.

Imports only the standard library, since the keeper writes there, too.
"""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.system.host import private_files

_FULL = 1_000_000
"""Bytes after which a file is rotated; the file rotated before is removed."""


def place(home: Path, namespace: str, session_id: str, created_at: float) -> Path:
    """Return the path of a log; each life of an id has its own. Windows allows no colon in a file's name."""
    life = f"{session_id.replace(':', '@')}~{round(created_at * 1000)}"
    return home / "logs" / namespace / f"{life}.jsonl"


def older(file: Path) -> Path:
    """Return the path of the rotated file."""
    return file.with_name(f"{file.name}.old")


def format_time(seconds: float) -> str:
    """Return a time (seconds since the epoch) in ISO 8601, as entries have it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def append(file: Path, entry: str) -> None:
    """Append a line in a single write, so that lines of several processes do not mix."""
    with contextlib.suppress(OSError):  # a call does not fail because a full disk cannot log it
        if not file.exists():
            _begin(file)
        with private_files.open_to_append(file) as opened:
            opened.write(f"{entry}\n".encode())
            full = os.fstat(opened.fileno()).st_size > _FULL
        if full:
            file.replace(older(file))


def _begin(file: Path) -> None:
    """Create the folder of the file, readable by this user alone, and remove the logs of earlier lives of the id."""
    private_files.make_folder(file.parent)
    name, tilde, _ = file.name.rpartition("~")
    for other in file.parent.glob(f"{name}{tilde}*"):
        if other != older(file):
            other.unlink(missing_ok=True)
