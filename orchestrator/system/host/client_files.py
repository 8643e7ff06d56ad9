"""Files that a client sent: below home, each client's own, and for a limited time."""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from orchestrator.errors import FileQuota, InvalidArgument, brief, quoted
from orchestrator.settings import Settings
from orchestrator.system.host import private_files

FOLDER = "uploads"
"""The folder below home."""
_MOST = 1_000
"""Files of one client."""
_REFERENCE = re.compile(r"file:[0-9a-f]{16}")
_FOREIGN = frozenset("/\\:")
"""Characters that a file's name must not have, since they mean something in a path."""
_LONGEST = 200
"""Bytes of a name; file systems take 255."""
_DRAFT = "."
"""Beginning of the names of folders whose file is not complete."""


def is_reference(given: str) -> bool:
    """Return True for `file:ID`, which stands for a file that was sent."""
    return _REFERENCE.fullmatch(given) is not None


@dataclass(frozen=True)
class ClientFile:
    """A file that was sent.

    Attributes:
        reference: `file:ID`, by which its client names it.
        path: Where it is.
        size: Bytes.
        expires_at: When it is removed, in seconds since 1970.
    """

    reference: str
    path: Path
    size: int
    expires_at: float


class FileDraft:
    """A file that is being received.

    Attributes:
        reference: The file's reference, once it is complete.
        size: Bytes so far.
    """

    def __init__(self, reference: str, file: IO[bytes], check_room: Callable[[int], None]) -> None:
        self.reference = reference
        self.size = 0
        self._file = file
        self._check_room = check_room

    def write(self, part: bytes) -> None:
        """Add a part; may block.

        Raises:
            FileQuota: There is no room for it.
        """
        self._check_room(len(part))
        self.size += len(part)
        self._file.write(part)


class ClientFiles:
    """The files of one client, for any thread.

    Args:
        home: The setting.
        owner: The client: the key of a caller.
        most_bytes: Bytes that its files may have together.
        keep: Seconds for which each is kept.
        clock: Returns the time of the file system, in seconds since 1970.
    """

    def __init__(
        self, home: Path, owner: str, most_bytes: int, keep: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder = home / FOLDER / owner
        self._most_bytes = most_bytes
        self._keep = keep
        self._clock = clock
        self._lock = threading.Lock()
        self._drafts: list[FileDraft] = []
        self._kept_bytes = 0

    @classmethod
    def of(cls, settings: Settings, owner: str) -> Self:
        """Return the files of a client as the settings bound them."""
        return cls(settings.home, owner, settings.uploads_max * 1_000_000, settings.keep_uploads)

    def list_files(self) -> list[ClientFile]:
        """List the files; those whose time is over are removed."""
        with self._lock:
            return self._refresh()

    def find(self, reference: str) -> ClientFile:
        """Return the file that a reference stands for.

        Raises:
            InvalidArgument: There is none.
        """
        for file in self.list_files():
            if file.reference == reference:
                return file
        raise InvalidArgument(
            f"{quoted(brief(reference, 100))} is no file here: it was not sent with this token, or its time is over.",
            hint="Send the file to POST /files, and use the id in the answer.",
        )

    def remove(self, reference: str) -> None:
        """Remove a file.

        Raises:
            InvalidArgument: There is none.
        """
        shutil.rmtree(self.find(reference).path.parent, ignore_errors=True)

    def save(self, name: str, content: bytes) -> ClientFile:
        """Keep a file.

        Raises:
            InvalidArgument: Its name cannot be that of a file.
            FileQuota: There is no room for it.
        """
        with self.receiving(name) as draft:
            draft.write(content)
        return self.find(draft.reference)

    @contextlib.contextmanager
    def receiving(self, name: str) -> Iterator[FileDraft]:
        """Keep a file that the block writes, once the block has ended; an error leaves nothing of it.

        Raises:
            InvalidArgument: Its name cannot be that of a file.
            FileQuota: There is no room for it.
        """
        _check_name(name)
        identity = secrets.token_hex(8)
        folder = self._folder / f"{_DRAFT}{identity}"
        private_files.make_folder(folder)
        try:
            with private_files.create(folder / name) as file:
                draft = FileDraft(f"file:{identity}", file, self._check_room)
                with self._counting(draft):
                    yield draft
                    file.close()
                    folder.rename(self._folder / identity)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @contextlib.contextmanager
    def _counting(self, draft: FileDraft) -> Iterator[None]:
        """Count a draft's bytes with those of the files until it is one of them, or is given up."""
        with self._lock:
            if len(self._refresh()) + len(self._drafts) >= _MOST:
                raise FileQuota(f"There are {_MOST} files of this token already.")
            self._drafts.append(draft)
        try:
            yield
        finally:
            with self._lock:
                self._drafts.remove(draft)
                self._refresh()

    def _check_room(self, more: int) -> None:
        with self._lock:
            if self._kept_bytes + sum(draft.size for draft in self._drafts) + more > self._most_bytes:
                raise FileQuota(f"The files of this token would have more than {self._most_bytes // 1_000_000} MB.")

    def _refresh(self) -> list[ClientFile]:
        """Remove the files whose time is over; returns the others, and notes how large they are together."""
        kept = []
        for path in self._folder.glob("*/*"):
            with contextlib.suppress(OSError):
                facts = path.stat()
                file = ClientFile(f"file:{path.parent.name}", path, facts.st_size, facts.st_mtime + self._keep)
                if file.expires_at <= self._clock():
                    shutil.rmtree(path.parent, ignore_errors=True)
                elif not path.parent.name.startswith(_DRAFT):
                    kept.append(file)
        self._kept_bytes = sum(file.size for file in kept)
        return kept


def _check_name(name: str) -> None:
    """Check the name of a file.

    Raises:
        InvalidArgument: It leads elsewhere, is hidden or too long, or has characters that cannot be shown.
    """
    plain = name.isprintable() and not name.startswith(_DRAFT) and _FOREIGN.isdisjoint(name)
    if not name.strip() or not plain or len(name.encode()) > _LONGEST:
        raise InvalidArgument(
            f"{quoted(brief(name, 100))} cannot be the name of a file here.",
            hint=f"Give a name without folders, such as photo.png, of at most {_LONGEST} bytes.",
        )
