"""What was recorded so far of one session: a file that grows a line an event, so that no server's end loses it."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from orchestrator.models import SessionRecord

Kind = Literal["page", "timing", "entry"]
LARGEST = 200_000_000
"""Bytes; what comes later is not recorded."""


class Journal:
    """The journal of a session; any process that drives it may write and read it.

    A `page` is as HAR has it, a `timing` its id and one of its `pageTimings`, an `entry` as HAR has it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, record: SessionRecord, home: Path) -> Journal:
        """The one of a session; `home` is the setting."""
        return cls(folder(record, home) / f"{plain(record)}.journal")

    def begin(self) -> None:
        """Make it, empty, for this user's eyes alone."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.remove()
        os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        try:
            return self.path.stat().st_size >= LARGEST
        except OSError:
            return True

    def write(self, kind: Kind, value: Any) -> None:
        """Add a line; nothing once it is full, or was taken away.

        It is one write, and begins a line of its own: another process may write, too, or have died while it did.
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
        """Its lines in order; one that a dying process left unfinished is left out."""
        found: list[tuple[Kind, Any]] = []
        with suppress(OSError), self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError):
                    found += json.loads(line).items()
        return found

    @property
    def written_at(self) -> float:
        """When it was last written to, in seconds since the epoch; never, where it is gone."""
        try:
            return self.path.stat().st_mtime
        except OSError:
            return math.inf

    def remove(self) -> None:
        """Take it away; may be repeated."""
        self.path.unlink(missing_ok=True)


def left(home: Path) -> list[tuple[str, str, Journal]]:
    """The journals that there are, each with the namespace and the id of its session."""
    found = (home / "hars").glob("*/*.journal")
    return [(path.parent.name, path.stem.replace("+", ":"), Journal(path)) for path in found]


def folder(record: SessionRecord, home: Path) -> Path:
    """Where the recordings of a session's namespace are."""
    return home / "hars" / record.namespace


def plain(record: SessionRecord) -> str:
    """The session's id as a part of a file's name."""
    return record.id.replace(":", "+")
