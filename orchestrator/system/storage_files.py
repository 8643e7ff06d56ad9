"""Files of saved storage states, below home and readable by this user alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.errors import InvalidArgument
from orchestrator.models.session import SessionRecord
from orchestrator.models.storage_state import StorageState, load_storage_state
from orchestrator.system import folders


def build_state_path(home: Path, record: SessionRecord) -> Path:
    """Return the path of a session's saved state; a later session of the same name has another file."""
    return folders.storage_file(home, record.namespace, record.id, record.created_at)


def read(home: Path, record: SessionRecord) -> StorageState:
    """Read a session's saved state; empty if the file is missing or damaged."""
    try:
        return load_storage_state(str(build_state_path(home, record)))
    except InvalidArgument:
        return StorageState()


def remove(home: Path, record: SessionRecord) -> None:
    """Remove a session's saved state."""
    with suppress(OSError):
        build_state_path(home, record).unlink(missing_ok=True)


def build_export_path(home: Path, record: SessionRecord) -> Path:
    """Return a path for a state that outlives the session, named by session and time."""
    time = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    # Windows allows no colon in a file's name.
    return home / "states" / record.namespace / f"{record.id.replace(':', '+')}-{time}.json"


def tidy(home: Path, records: Callable[[], Iterable[SessionRecord]]) -> None:
    """Remove the saved states of sessions that are no longer open; `records` returns the open ones."""
    files = [*(home / "storage").glob("*")]
    needed = {build_state_path(home, record).stem for record in records()} if files else set()
    for file in files:
        # Including `.<life>.json.<digits>`, which a server left half written when it was killed.
        if file.name.lstrip(".").partition(".")[0] not in needed:
            with suppress(OSError):
                file.unlink(missing_ok=True)
