"""Places that other users can reach: what they put there is neither used nor removed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.errors import StartFailed
from orchestrator.system import folders, processes
from orchestrator.system.host import private_files
from orchestrator.system.output import write_file
from tests.needed import needed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes and owners like these")
SOMEONE = 65534


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session's folder with a temporary folder outside it."""
    return processes.make_folder(tmp_path / ("long-" * 12))


@pytest.fixture
def short(folder: Path) -> Iterator[Path]:
    """The temporary folder below `/tmp`, which every user can read in the list of processes."""
    place = folders.temporary(folder)
    assert place.parent == Path("/tmp")  # noqa: S108
    yield place
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        os.chown(place, os.geteuid(), -1)
        place.chmod(0o700)
        for file in place.iterdir():
            file.unlink()
        place.rmdir()


def put_link(place: Path) -> None:
    """Put a link where the folder was."""
    place.symlink_to(place.parent)


def give_away(place: Path) -> None:
    """Make a folder of someone else's there."""
    needed(None if os.geteuid() == 0 else "Only root can give a folder to someone else.")
    place.mkdir(mode=0o700)
    os.chown(place, SOMEONE, SOMEONE)


def leave_open(place: Path) -> None:
    """Make a folder that others can write to."""
    place.mkdir()
    place.chmod(0o777)


@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (put_link, "is not the folder that was made there, but a link or a file"),
        (give_away, f"belongs to another user (uid {SOMEONE})"),
        (leave_open, "is open to other users (mode 0777)"),
    ],
)
def test_a_temporary_folder_that_someone_replaced_is_not_used(
    folder: Path, short: Path, put: Callable[[Path], None], reason: str
) -> None:
    """No program is started with it, with the reason; it is left as it is when the session's folder is removed."""
    short.rmdir()
    put(short)
    if not short.is_symlink():
        (short / "theirs").touch()
    with pytest.raises(StartFailed) as refused:
        processes.spawn("driver", [sys.executable, "-c", ""], folder=folder, env=None, record=lambda _: None)
    assert f"{short} {reason}. Set home" in str(refused.value)
    assert not (folder / "driver.log").exists()

    assert processes.end_folders([folder]) == [f"{short} {reason}. It was left."]
    assert not folder.exists()
    assert short.is_symlink() or (short / "theirs").exists()


def test_a_temporary_folder_that_a_cleaner_removed_is_made_anew(folder: Path, short: Path) -> None:
    """`/tmp` is cleaned on many machines while sessions run."""
    short.rmdir()
    assert folders.temporary(folder) == short
    assert stat.S_IMODE(short.stat().st_mode) == 0o700
    assert processes.end_folders([folder]) == []


def test_a_file_that_is_made_is_never_one_that_lies_there(tmp_path: Path) -> None:
    """A file or link of someone else is neither written to nor followed; an error leaves no half file."""
    other = tmp_path / "other"
    other.write_text("theirs", "utf-8")
    (tmp_path / "link").symlink_to(other)
    for place in (other, tmp_path / "link"):
        with pytest.raises(FileExistsError):
            private_files.create_with(place, "ours")
    with pytest.raises(OSError, match="symbolic"):
        private_files.open_to_append(tmp_path / "link")
    write_file(tmp_path / "link", "ours")
    assert [other.read_text("utf-8"), (tmp_path / "link").read_text("utf-8")] == ["theirs", "ours"]


def test_folders_above_a_file_are_private_too(tmp_path: Path) -> None:
    """Each folder that is made on the way has a mode of its own; those that are there keep theirs."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project").chmod(0o755)
    before = os.umask(0)
    try:
        write_file(tmp_path / "project" / "a" / "b" / "file", "ours")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / "project" / name).stat().st_mode) for name in ("", "a", "a/b", "a/b/file")]
    assert modes == [0o755, 0o700, 0o700, 0o600]
