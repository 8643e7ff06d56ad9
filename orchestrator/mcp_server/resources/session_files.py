"""Files of a session below home: downloads, pictures, prints and recordings."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import InvalidArgument, quoted
from orchestrator.models.session import SessionRecord

_NAMED_BY_SESSION = ("screenshots", "prints", "hars")
"""Folders of a namespace in which a file's name begins with that of its session."""
_MOST = 1_000
"""Files that are listed."""
_LARGEST = 20_000_000
"""Bytes of a file that can be read."""


@dataclass(frozen=True)
class SessionFile:
    """A file of a session.

    Attributes:
        name: Its folder and its path there, with slashes.
        path: Where it is on the server's machine.
        size: Bytes.
    """

    name: str
    path: Path
    size: int

    @property
    def media_type(self) -> str:
        """Its media type, by its name alone."""
        if self.path.suffix == ".har":
            return "application/json"
        return mimetypes.guess_type(self.path.name)[0] or "application/octet-stream"


def list_files(home: Path, record: SessionRecord) -> list[SessionFile]:
    """List the files of a session, the newest last; no links, and at most a thousand."""
    found = [(path.stat().st_mtime, name, path) for name, path in _find(home, record) if _is_plain(path)]
    return [SessionFile(name, path, path.stat().st_size) for _, name, path in sorted(found)[-_MOST:]]


def read_file(home: Path, record: SessionRecord, name: str) -> tuple[SessionFile, bytes]:
    """Read one of the files that are listed.

    Raises:
        InvalidArgument: There is none of this name, or it is too large.
    """
    file = next((file for file in list_files(home, record) if file.name == name), None)
    if file is None:
        raise InvalidArgument(
            f"Session {record.id!r} has no file {quoted(name)}.", hint=f"session://{record.id}/files lists them."
        )
    if file.size > _LARGEST:
        raise InvalidArgument(
            f"{quoted(name)} has {file.size // 1_000_000} MB; at most {_LARGEST // 1_000_000} MB are read.",
            hint=f"On the server's machine it is {file.path}.",
        )
    return file, file.path.read_bytes()


def _find(home: Path, record: SessionRecord) -> Iterator[tuple[str, Path]]:
    downloads = home / "downloads" / record.namespace / record.id
    for path in downloads.rglob("*"):
        yield f"downloads/{path.relative_to(downloads).as_posix()}", path
    own = re.compile(rf"({re.escape(record.id)}|{re.escape(record.id.replace(':', '+'))})-\d+\.[a-z]+")
    for folder in _NAMED_BY_SESSION:
        for path in (home / folder / record.namespace).glob("*"):
            if own.fullmatch(path.name):
                yield f"{folder}/{path.name}", path


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.name.startswith(".")
