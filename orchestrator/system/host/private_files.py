"""Files and folders that only this user can read.

Their modes are given to each, since the umask is that of whichever process this is. Imports only the standard
library, since the keeper imports this module.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import IO

UMASK = 0o077
"""The umask of our own processes, and of those that we start: a program's files are this user's, too."""

_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_ROOT = 0
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class ForeignPlace(PermissionError):
    """A file or folder of ours belongs to another user, or is not what we made; its text is a sentence."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def make_folder(path: Path) -> None:
    """Create a folder, and those above it that are missing, for this user alone; one that is there is left as it is.

    Raises:
        OSError: It cannot be created, or is no folder.
    """
    try:
        path.mkdir(mode=stat.S_IRWXU)
    except FileNotFoundError:
        make_folder(path.parent)
        path.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    except FileExistsError:
        if not path.is_dir():
            raise


def make_own_folder(path: Path) -> None:
    """Create a folder as `make_folder` does; one that is there must be ours.

    Raises:
        ForeignPlace: It belongs to another user, who could exchange what is in it.
    """
    make_folder(path)
    check_owner(path)


def create(path: Path) -> IO[bytes]:
    """Create a file for this user alone, and open it for writing; a link there is not followed.

    Raises:
        FileExistsError: There is something.
    """
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINK, 0o600), "wb")


def create_with(path: Path, content: bytes | str) -> None:
    """Create a file for this user alone with this content; an error removes it.

    Raises:
        FileExistsError: There is something.
    """
    with create(path) as file:
        try:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def open_to_append(path: Path, *, anew: bool = False) -> IO[bytes]:
    """Open a file for appending, created for this user alone if it is missing, emptied if `anew`; never a link."""
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | _NO_LINK | (os.O_TRUNC if anew else 0)
    return os.fdopen(os.open(path, flags, 0o600), "ab", buffering=0)


def check_owner(path: Path) -> None:
    """Check that a place of ours, or what a link there leads to, belongs to this user or to root.

    Raises:
        ForeignPlace: It belongs to another user.
    """
    owner = path.stat().st_uid
    if owner not in {_user(), _ROOT}:
        raise ForeignPlace(f"{path} belongs to another user (uid {owner}), who could read and replace what is in it.")


def check_private_folder(path: Path) -> None:
    """Check that a place that others can reach is a folder, no link, and closed to all but this user.

    Raises:
        FileNotFoundError: There is nothing.
        ForeignPlace: It is none of these.
    """
    facts = path.lstat()
    if not stat.S_ISDIR(facts.st_mode):
        raise ForeignPlace(f"{path} is not the folder that was made there, but a link or a file.")
    if sys.platform == "win32":
        return
    if facts.st_uid != _user():
        raise ForeignPlace(f"{path} belongs to another user (uid {facts.st_uid}).")
    if facts.st_mode & _OPEN_TO_OTHERS:
        raise ForeignPlace(f"{path} is open to other users (mode {stat.S_IMODE(facts.st_mode):04o}).")


def belongs_to_user(path: Path) -> bool:
    """Return True if a place, or what a link there leads to, is this user's."""
    return path.stat().st_uid == _user()


def is_open_to_others(path: Path) -> bool:
    """Return True if other users of this machine can list or read the folder, or write there."""
    return sys.platform != "win32" and bool(path.stat().st_mode & _OPEN_TO_OTHERS)


def _user() -> int:
    """Return the user whose files this process makes; Windows has no such numbers, and its files have 0."""
    return 0 if sys.platform == "win32" else os.geteuid()
