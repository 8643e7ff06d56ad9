"""The temporary folders of what we start: `home/run/<8 hex digits>`, each with a note of who made it.

psutil and the standard library alone: the keeper imports this.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import sys
import time
from pathlib import Path

from orchestrator.living import Process

_NAME = re.compile(r"[0-9a-f]{8}")
_OWNER = "owner.json"
_RELEASED = "released"
_NEW = 60.0
"""A folder without a note of its maker is left alone for so many seconds: the note may be about to be written."""

_LONGEST = 58
"""Bytes of a temporary folder's path below which Chromium can still bind its `SingletonSocket` (macOS is strictest).

A longer one ends Chromium at its start with no more than "Chrome instance exited"; measured: 60 works on Linux, 70
does not. The default home of an ordinary user is too long already.
"""

_SHORT = Path("/tmp")  # noqa: S108 - made with a random name and mode 0700, and refused if it exists


def make_folder(home: Path) -> Path:
    """A new folder below `home`, which only this user can read, with a note that this process made it."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / "run").mkdir(mode=0o700, exist_ok=True)
    while True:
        folder = home / "run" / os.urandom(4).hex()
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            break
    (folder / _OWNER).write_text(json.dumps(Process.here()._asdict()), "utf-8")
    temporary(folder)
    return folder


def profile(home: Path, name: str) -> Path:
    """The folder of a profile that is kept, `browser/name`, which only this user can read."""
    folder = home / "profiles" / name
    for place in (home, home / "profiles", folder.parent, folder):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def temporary(folder: Path) -> Path:
    """Where processes of this folder put temporary files: `folder/tmp`, or a short path to which that is a link."""
    inside = folder / "tmp"
    if inside.is_symlink():
        return inside.readlink()
    if sys.platform == "win32" or len(os.fsencode(inside)) <= _LONGEST:
        inside.mkdir(mode=0o700, exist_ok=True)
        return inside
    while True:
        short = _SHORT / f"wdo-{os.urandom(8).hex()}"
        # The link comes first, so that no moment exists at which the folder cannot be found again.
        inside.symlink_to(short)
        try:
            short.mkdir(mode=0o700)
        except FileExistsError:
            inside.unlink()
        else:
            return short


def all_of(home: Path) -> list[Path]:
    """The folders that stand below `home`."""
    try:
        return sorted(place for place in (home / "run").iterdir() if _is_ours(place))
    except OSError:
        return []


def maker(folder: Path) -> Process | None:
    """The process that made the folder; None when there is no readable note of it."""
    try:
        note = json.loads((folder / _OWNER).read_bytes())
        return Process(int(note["pid"]), float(note["created"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def is_new(folder: Path) -> bool:
    """Whether the folder was touched within the last minute."""
    try:
        return time.time() - folder.stat().st_mtime < _NEW
    except OSError:
        return False


def release(folder: Path) -> None:
    """Note that what runs in the folder is the user's now."""
    with contextlib.suppress(OSError):
        (folder / _RELEASED).touch()


def released(folder: Path) -> bool:
    """Whether what runs in the folder was left to the user."""
    return (folder / _RELEASED).exists()


def remove(folder: Path, until: float) -> str | None:
    """Remove the folder and what belongs to it; busy files are tried again until then (monotonic time).

    Returns a sentence when something is left. A path that is none of our folders is refused: records can be damaged.
    """
    if not _is_ours(folder):
        return f"{folder} is no folder of ours and was left." if folder.exists() else None
    inside = folder / "tmp"
    short = inside.readlink() if inside.is_symlink() else None
    for place in (short, folder):
        if place is None or (place is short and (short.parent != _SHORT or not short.name.startswith("wdo-"))):
            continue
        while place.exists():
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists():
                break
            if time.monotonic() >= until:
                return f"Folder {place} could not be removed."
            _make_writable(place)
            time.sleep(0.02)
    return None


def _is_ours(folder: Path) -> bool:
    named = folder.parent.name == "run" and _NAME.fullmatch(folder.name)
    return bool(named) and folder.is_dir() and not folder.is_symlink()


def _make_writable(folder: Path) -> None:
    """Read-only files keep Windows, and read-only folders keep POSIX, from removing what is in them."""
    for place, names, files in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in (*names, *files))):
            with contextlib.suppress(OSError):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
