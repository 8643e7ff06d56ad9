"""Temporary folders of started processes, in `home/run`, each with a note of its maker.

Imports only psutil and the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import time
from pathlib import Path

from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.host import home_folder, private_files
from orchestrator.system.host.private_files import ForeignPlace
from orchestrator.system.process_identity import ProcessKey

_NAME = re.compile(r"[0-9a-f]{8}")
_OWNER = "owner.json"
_RELEASED = "released"
_NEW = 60.0
"""Seconds for which a folder without a note is left alone: its maker may be about to write the note."""

_RETRY = 0.02
"""Seconds between two attempts to remove a busy folder."""

_LONGEST = 58
"""Longest path of a temporary folder, in bytes, in which Chromium can bind its `SingletonSocket` on every system.

With a longer one Chromium ends at its start with no more than "Chrome instance exited". On Linux 60 works and 70 does
not; macOS is stricter. The default home of an ordinary user is already too long.
"""

SHORT_PREFIX = "wdo-"
"""The beginning of the names of temporary folders outside `home`."""
_SHORT = Path("/tmp")  # noqa: S108 - made with a random name and mode 0700, and refused if it exists


def make_folder(home: Path) -> Path:
    """Create a folder below `home`, readable by this user alone, with a note that this process made it.

    Raises:
        ForeignPlace: The folder or its place belongs to another user.
    """
    home_folder.prepare(home)
    private_files.make_own_folder(home / "run")
    while True:
        folder = home / "run" / os.urandom(4).hex()
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            break
    private_files.create_with(folder / _OWNER, json.dumps(ProcessKey.current()._asdict()))
    temporary(folder)
    return folder


def profile(home: Path, name: str) -> Path:
    """Return the folder of a persistent profile (`browser/name`), created for this user alone.

    Raises:
        ForeignPlace: The folder or its place belongs to another user.
    """
    folder = home / "profiles" / name
    home_folder.prepare(home)
    for place in (home / "profiles", folder.parent, folder):
        private_files.make_own_folder(place)
    return folder


def temporary(folder: Path) -> Path:
    """Return the temporary directory of a folder's processes: `folder/tmp`, or the short path that it links to.

    Raises:
        ForeignPlace: Something else lies at the short path, which others can read in the list of processes.
    """
    inside = folder / "tmp"
    if inside.is_symlink():
        return _checked(inside.readlink())
    if sys.platform == "win32" or len(os.fsencode(inside)) <= _LONGEST:
        private_files.make_folder(inside)
        return inside
    while True:
        short = _SHORT / f"{SHORT_PREFIX}{os.urandom(8).hex()}"
        # The link is made first, so that the short folder can be found at every moment.
        inside.symlink_to(short)
        try:
            short.mkdir(mode=0o700)
        except FileExistsError:
            inside.unlink()
        else:
            return short


def _checked(short: Path) -> Path:
    """Return a short folder that is still the one that was made; if a cleaner of `/tmp` removed it, it is made anew."""
    with contextlib.suppress(FileExistsError):
        short.mkdir(mode=0o700)
    private_files.check_private_folder(short)
    return short


def storage_file(home: Path, namespace: str, session_id: str, created_at: float) -> Path:
    """Return the path of a session's saved storage state; a later session of the same name has another file."""
    life = hashlib.sha256(f"{namespace}\n{session_id}\n{created_at}".encode()).hexdigest()[:16]
    return home / "storage" / f"{life}.json"


def all_of(home: Path) -> list[Path]:
    """List the folders of `home/run`."""
    try:
        return sorted(place for place in (home / "run").iterdir() if _is_ours(place))
    except OSError:
        return []


def maker(folder: Path) -> ProcessKey | None:
    """Return the process that made the folder, None without a readable note."""
    try:
        note = json.loads((folder / _OWNER).read_bytes())
        return ProcessKey(int(note["pid"]), float(note["created"]), str(note.get("started", "")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def is_new(folder: Path) -> bool:
    """Return True if the folder was changed within the last minute."""
    try:
        return time.time() - folder.stat().st_mtime < _NEW
    except OSError:
        return False


def release(folder: Path) -> None:
    """Mark the folder as the user's, with the processes that run in it."""
    with contextlib.suppress(OSError):
        (folder / _RELEASED).touch(mode=0o600)


def released(folder: Path) -> bool:
    """Return True if the folder and its processes were left to the user."""
    return (folder / _RELEASED).exists()


def remove(folder: Path, deadline: Deadline) -> str | None:
    """Remove the folder and its temporary directory; busy files are tried again until the deadline.

    Returns a sentence if something is left. A path outside `home/run` is refused, since a record can be damaged.
    """
    if not _is_ours(folder):
        return f"{folder} is no folder of ours and was left." if folder.exists() else None
    short, left = _short_folder(folder), None
    if short is not None:
        try:
            private_files.check_private_folder(short)
        except FileNotFoundError:
            short = None
        except ForeignPlace as error:
            short, left = None, f"{error} It was left."
    for place in (short, folder):
        if place is not None and not poll_until(functools.partial(_try_to_remove, place), deadline, every=_RETRY):
            return f"Folder {place} could not be removed."
    return left


def _short_folder(folder: Path) -> Path | None:
    """Return the short temporary directory outside the folder; None if the folder's own `tmp` is used."""
    inside = folder / "tmp"
    short = inside.readlink() if inside.is_symlink() else None
    return short if short and short.parent == _SHORT and short.name.startswith(SHORT_PREFIX) else None


def _try_to_remove(place: Path) -> bool:
    if not place.exists():
        return True
    shutil.rmtree(place, ignore_errors=True)
    if not place.exists():
        return True
    _make_writable(place)
    return False


def _is_ours(folder: Path) -> bool:
    named = folder.parent.name == "run" and _NAME.fullmatch(folder.name)
    return bool(named) and folder.is_dir() and not folder.is_symlink()


def _make_writable(folder: Path) -> None:
    """Make all files and folders writable: Windows removes no read-only file, POSIX nothing in a read-only folder."""
    for place, names, files in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in (*names, *files))):
            with contextlib.suppress(OSError):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
