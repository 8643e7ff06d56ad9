"""The data folder: created for this user alone, or checked for whose it is.

Imports only the standard library, since the keeper imports this module.
"""

from __future__ import annotations

import stat
from fnmatch import fnmatchcase
from pathlib import Path

from orchestrator.system.host import private_files
from orchestrator.system.host.private_files import ForeignPlace

_OURS = (
    *("sessions.db*", "orchestrator.toml", "secrets.toml", "typed_secrets.key*", "keeper.log"),
    *("run", "alive", "profiles", "storage", "logs", "grid"),
    *("downloads", "screenshots", "prints", "hars", "states", "uploads"),
    *("tokens.toml", "tokens.lock", "first_token"),
)
"""Names of what is kept there, as patterns."""


def prepare(home: Path) -> None:
    """Create the folder, or close an existing one to other users if it holds nothing but files of ours.

    Raises:
        ForeignPlace: It belongs to another user.
        OSError: It cannot be created.
    """
    try:
        private_files.make_own_folder(home)
    except ForeignPlace as error:
        raise ForeignPlace(f"The data folder {error}") from None
    if private_files.is_open_to_others(home) and _is_ours_alone(home):
        home.chmod(stat.S_IRWXU)


def stays_open(home: Path) -> bool:
    """Return True for a folder that other users can enter, and that `prepare` leaves so."""
    return home.is_dir() and private_files.is_open_to_others(home) and not _is_ours_alone(home)


def _is_ours_alone(home: Path) -> bool:
    if not private_files.belongs_to_user(home):
        return False
    return all(any(fnmatchcase(place.name, name) for name in _OURS) for place in home.iterdir())
