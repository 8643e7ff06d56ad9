"""The journal of a HAR recording: a file with one line per event, which survives a crash."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from orchestrator.models.session import SessionRecord
from orchestrator.system.host import private_files

Kind = Literal["page", "timing", "entry"]
LARGEST = 200_000_000
"""Bytes after which nothing more is recorded."""


class Journal:
    """The journal of a session, written and read by any process that drives it.

    A `page` and an `entry` are as HAR has them, a `timing` is a page's id with one of its `pageTimings`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def for_session(cls, record: SessionRecord, home: Path) -> Journal:
        """Return the journal of a session; `home` is the setting."""
        return cls(recordings_folder(record, home) / f"{session_file_name(record)}.journal")

    def create(self) -> None:
        """Create an empty journal that only this user can read."""
        private_files.make_folder(self.path.parent)
        self.remove()
        private_files.create_with(self.path, b"")

    @property
    def full(self) -> bool:
        """True if nothing more can be recorded."""
        try:
            return self.path.stat().st_size >= LARGEST
        except OSError:
            return True

    def write(self, kind: Kind, value: Any) -> None:
        """Append a line, unless the journal is full or was removed.

        It is one write that begins with a line break, since another process may write, too, or have died in a line.
        """
        if self.full:
            return
        line = json.dumps({kind: value}, ensure_ascii=False, separators=(",", ":"))
        opened = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(opened, f"\n{line}\n".encode("utf-8", "replace"))
        finally:
            os.close(opened)

    def read(self) -> list[tuple[Kind, Any]]:
        """Read the lines in order, without those that a dying process left unfinished."""
        lines: list[tuple[Kind, Any]] = []
        with suppress(OSError), self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError):
                    lines += json.loads(line).items()
        return lines

    @property
    def written_at(self) -> float:
        """Time of the last write, in seconds since the epoch; infinite if the journal is gone."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return math.inf

    def remove(self) -> None:
        """Remove the journal; may be repeated."""
        self.path.unlink(missing_ok=True)


def find_journals(home: Path) -> list[tuple[str, str, Journal]]:
    """List all journals, each with the namespace and the id of its session."""
    paths = (home / "hars").glob("*/*.journal")
    return [(path.parent.name, path.stem.replace("+", ":"), Journal(path)) for path in paths]


def recordings_folder(record: SessionRecord, home: Path) -> Path:
    """Return the folder of the recordings of a session's namespace."""
    return home / "hars" / record.namespace


def session_file_name(record: SessionRecord) -> str:
    """Return the session's id as a part of a file's name."""
    return record.id.replace(":", "+")
