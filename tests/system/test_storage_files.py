"""Storage files of open sessions: kept while needed, and no longer."""

from __future__ import annotations

from pathlib import Path

from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.models.storage_state import StorageState
from orchestrator.system import storage_files
from orchestrator.system.output import write_file


def record(name: str) -> SessionRecord:
    """Return the record of a session with this name."""
    return SessionRecord(
        id=name, namespace="tests", type=SessionType.BROWSER, provider="local", owner="", created_at=1, last_active_at=1
    )


def test_storage_files_of_closed_sessions_are_removed(tmp_path: Path) -> None:
    """Files of closed sessions are removed, half-written ones included; those of open sessions stay."""
    stays, ended = record("stays"), record("ended")
    files = [storage_files.build_state_path(tmp_path, one) for one in (stays, ended)]
    for file in files:
        write_file(file, StorageState().text())
    drafts = [file.with_name(f".{file.name}.0123abcd") for file in files]
    for draft in drafts:
        draft.touch()
    storage_files.tidy(tmp_path, lambda: [stays])
    assert [file.exists() for file in (*files, *drafts)] == [True, False, True, False]


def test_a_storage_file_name_has_no_colon(tmp_path: Path) -> None:
    """Windows takes the part after a colon for another stream of the file."""
    path = storage_files.build_export_path(tmp_path, record("shop:ann"))
    assert ":" not in path.name
    assert path.name.startswith("shop+ann-")
