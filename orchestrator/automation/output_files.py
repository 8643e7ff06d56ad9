"""Files that actions write: where, and how a failure is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.system.output import write_file


def choose_output_path(scene: Scene, given: str | None, folder: str, suffixes: Sequence[str]) -> Path:
    """Return the path that was given; without one the next free one in a folder of the session's namespace.

    Raises:
        InvalidArgument: It is no path, or does not end in one of the suffixes.
    """
    if given is None:
        stem = scene.settings.home / folder / scene.record.namespace / scene.record.id
        return next_free_path(stem, suffixes[0])
    try:
        path = Path(given).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidArgument(f"{given!r} cannot be a file: {error}.", hint="Give another path.") from None
    if path.suffix.lower() not in suffixes:
        raise InvalidArgument(
            f"{given!r} does not end in {' or '.join(suffixes)}.", hint="Give a path that fits the format."
        )
    return path


def write_output(path: Path, content: bytes) -> None:
    """Write a file that only this user can read, with the folders that it needs; a link there is replaced.

    Raises:
        InvalidArgument: The path cannot be written.
    """
    try:
        write_file(path, content)
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgument(
            f"{path} cannot be written: {reason}.", hint="Make room there, or give another path."
        ) from None


def next_free_path(stem: Path, suffix: str) -> Path:
    """The stem with the next free number, as a path that does not exist yet."""
    number = 1
    while (path := stem.with_name(f"{stem.name}-{number}{suffix}")).exists():
        number += 1
    return path
