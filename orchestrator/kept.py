"""Where a session's storage state is kept at rest: a file below home that only this user can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from orchestrator import folders
from orchestrator.errors import InvalidArgument
from orchestrator.models import SessionRecord
from orchestrator.storage_state import StorageState, given


def place(home: Path, record: SessionRecord) -> Path:
    """The file of one life of a session; a later session of the name has another one."""
    return folders.storage_file(home, record.namespace, record.id, record.created_at)


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
    # Windows takes no colon in the name of a file.
    return home / "states" / f"{record.id.replace(':', '+')}-{now}.json"


def tidy(home: Path, records: Callable[[], Iterable[SessionRecord]]) -> None:
    """Forget what is kept of sessions that are not open any more; `records` are those that are."""
    files = [*(home / "storage").glob("*")]
    known = {place(home, record).stem for record in records()} if files else set()
    for file in files:
        # Also what was half written when its server was killed: `.<life>.json.<digits>`.
        if file.name.lstrip(".").partition(".")[0] not in known:
            with suppress(OSError):
                file.unlink(missing_ok=True)
