"""Writes files: completely or not at all, never through a link; remembers them."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from orchestrator.system.host import private_files

_MOST = 2_000
"""Files that are remembered."""
_written: dict[Path, tuple[int, ...]] = {}


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file that only this user can read, with the folders that it needs.

    It is written beside its place under a random name, and renamed: a link at the place is replaced, not followed.

    Raises:
        OSError, ValueError: It cannot be written; nothing is left of it.
    """
    private_files.make_folder(path.parent)
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        private_files.create_with(draft, content)
        draft.replace(path)
    except BaseException:
        with suppress(OSError, ValueError):
            draft.unlink(missing_ok=True)
        raise
    _remember(path)


def is_own(path: Path) -> bool:
    """Return True if this process wrote the file as it is now."""
    with suppress(OSError, ValueError):
        return _written.get(path.resolve()) == _identity(path)
    return False


def _remember(path: Path) -> None:
    with suppress(OSError):
        _written[path.resolve()] = _identity(path)
    while len(_written) > _MOST:
        del _written[next(iter(_written))]


def _identity(path: Path) -> tuple[int, ...]:
    """Return what changes when another program writes or replaces a file."""
    facts = path.lstat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns
