"""Removes old files below home: downloads, pictures, recordings, files that clients sent."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from orchestrator.system.host import client_files

FOLDERS = ("downloads", "screenshots", "prints", "hars")
"""Folders whose files were saved under names of ours. States that someone saved, and profiles, stay."""
MOST_BYTES = 5_000_000_000
"""Bytes that the files of one of these folders may have together."""
YOUNG = 3600.0
"""Seconds for which a file is kept however large the folder is: someone may be about to use it."""
_UNFINISHED = ".journal"
"""Suffix of recordings that still run, or that a crash left behind: those are finished, not removed."""


class _KeptFile(NamedTuple):
    modified: float
    size: int
    path: Path


class FilePruner:
    """Removes files by age, and then the oldest ones of a folder that is too large.

    Args:
        home: The setting.
        keep: Seconds for which files are kept; 0 keeps all of them.
        keep_uploads: Seconds for which files of clients are kept, whose process may be gone.
        most: Bytes that each folder may hold.
        clock: Returns the time of the file system, in seconds since 1970.
    """

    def __init__(
        self,
        home: Path,
        keep: float,
        keep_uploads: float,
        most: int = MOST_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = home
        self._keep = keep
        self._keep_uploads = keep_uploads
        self._most = most
        self._clock = clock

    def prune(self) -> None:
        """Remove what is too old or too much."""
        for name in FOLDERS if self._keep else ():
            self._prune_folder(self._home / name, self._keep)
        self._prune_folder(self._home / client_files.FOLDER, self._keep_uploads)

    def _prune_folder(self, folder: Path, keep: float) -> None:
        now, kept = self._clock(), sorted(_files(folder))
        size = sum(file.size for file in kept)
        for file in kept:
            age = now - file.modified
            if age < keep and (size <= self._most or age < YOUNG):
                continue
            with suppress(OSError):
                file.path.unlink()
                size -= file.size
                file.path.parent.rmdir()  # if it is empty now


def _files(folder: Path) -> Iterator[_KeptFile]:
    """Yield the files in a folder, through no link."""
    if folder.is_symlink():
        return
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with suppress(OSError):
                facts = path.lstat()
                if stat.S_ISREG(facts.st_mode) and not name.endswith(_UNFINISHED):
                    yield _KeptFile(facts.st_mtime, facts.st_size, path)
