"""Where a session's storage state is kept at rest: a file below home that only this user can read."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.errors import InvalidArgument
from orchestrator.models import SessionRecord
from orchestrator.storage_state import StorageState, given


def place(home: Path, record: SessionRecord) -> Path:
    """The file of one life of a session; a later session of the name has another one."""
    life = hashlib.sha256(f"{record.namespace}\n{record.id}\n{record.created_at}".encode()).hexdigest()[:16]
    return home / "storage" / f"{life}.json"


def read(home: Path, record: SessionRecord) -> StorageState:
    """What is kept of a session; nothing where the file is not there or damaged."""
    try:
        return given(str(place(home, record)))
    except InvalidArgument:
        return StorageState()


def remove(home: Path, record: SessionRecord) -> None:
    """Forget what is kept of a session."""
    with suppress(OSError):
        place(home, record).unlink(missing_ok=True)


def saved(home: Path, record: SessionRecord) -> Path:
    """A file for what the caller wants to keep beyond the session, named by session and time."""
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return home / "states" / f"{record.id}-{now}.json"
