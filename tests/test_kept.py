"""What is kept of open sessions, for whoever may need it, and no longer."""

from __future__ import annotations

from pathlib import Path

from orchestrator import kept
from orchestrator.models import SessionRecord, SessionType
from orchestrator.storage_state import StorageState


def record(name: str) -> SessionRecord:
    """A session by its name alone."""
    return SessionRecord(
        id=name, namespace="tests", type=SessionType.BROWSER, provider="local", owner="", created_at=1, last_active_at=1
    )


def test_what_is_left_of_closed_sessions_goes(tmp_path: Path) -> None:
    """Also what was half written when a server was killed; that of sessions that are open stays."""
    stays, ended = record("stays"), record("ended")
    files = [kept.place(tmp_path, one) for one in (stays, ended)]
    for file in files:
        StorageState().write(file)
    drafts = [file.with_name(f".{file.name}.0123abcd") for file in files]
    for draft in drafts:
        draft.touch()
    kept.tidy(tmp_path, lambda: [stays])
    assert [file.exists() for file in (*files, *drafts)] == [True, False, True, False]


def test_the_name_of_a_file_is_one_everywhere(tmp_path: Path) -> None:
    """Windows takes what follows a colon for another stream of the file."""
    path = kept.saved(tmp_path, record("shop:ann"))
    assert ":" not in path.name
    assert path.name.startswith("shop+ann-")
