"""Files that clients sent, in the data folder."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from orchestrator.errors import FileQuota, InvalidArgument
from orchestrator.system.host.client_files import FOLDER, ClientFiles


def test_files_are_kept_for_their_time_and_found_by_the_next_server(tmp_path: Path) -> None:
    """Once it is over, the file is neither found nor there; until then another process of the owner finds it."""
    now = 0.0
    files = ClientFiles(tmp_path, "ann", 100, 60, lambda: now)
    sent = files.save("a.txt", b"content")
    assert stat.S_IMODE(sent.path.stat().st_mode) == 0o600
    again = ClientFiles(tmp_path, "ann", 100, 60, lambda: now)
    assert again.find(sent.reference).path.read_bytes() == b"content"
    now = sent.expires_at
    with pytest.raises(InvalidArgument, match="its time is over"):
        again.find(sent.reference)
    assert not sent.path.exists()


def test_what_is_being_received_counts_and_an_error_leaves_nothing_of_it(tmp_path: Path) -> None:
    """Two files at once have no more room than one after the other."""
    files = ClientFiles(tmp_path, "ann", 10, 60)
    with files.receiving("a") as first:
        first.write(b"x" * 6)
        with pytest.raises(FileQuota), files.receiving("b") as second:
            second.write(b"x" * 5)
        assert files.list_files() == []
    assert [file.path.name for file in files.list_files()] == ["a"]
    assert len([*(tmp_path / FOLDER / "ann").iterdir()]) == 1
    files.remove(first.reference)
    files.save("b", b"x" * 10)
