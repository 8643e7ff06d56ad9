"""Entries of secrets, in `secrets.toml` and the environment, with their origins."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidArgument
from orchestrator.models.origin_patterns import Origin, OriginPattern, parse_patterns
from orchestrator.settings import SECRET_PREFIX

_ORIGINS = "_ORIGINS"
"""Ending of the name of the variable with the origins of a secret."""


@dataclass(frozen=True)
class SecretEntry:
    """A secret with the origins whose pages it may be typed into; without any, over MCP into none."""

    name: str
    value: str = field(repr=False)
    origins: tuple[OriginPattern, ...] = ()

    def allows(self, origin: Origin) -> bool:
        """Return True if a pattern of the entry is one of this origin."""
        return any(pattern.matches(origin) for pattern in self.origins)

    def allows_host(self, host: str) -> bool:
        """Return True if a pattern of the entry is one of this host."""
        return any(fnmatchcase(host, pattern.host) for pattern in self.origins)


def find_entry(name: str, file: Path) -> SecretEntry | None:
    """Return the entry of a name; None without a value.

    Value and origins come each from the environment, or else from the file: `NAME = "value"`, or a table `[NAME]` with
    `value` and `origins`. A caller gives the name, so no variables are read but those with the prefix of secrets.

    Raises:
        InvalidArgument: The file, or the entry's origins, cannot be used.
    """
    return _find(name, _read_file(file), file)


def read_value(name: str, file: Path) -> str | None:
    """Return the value that the file has for a name.

    Raises:
        InvalidArgument: The file cannot be used.
    """
    return _value(_table(_read_file(file).get(name)))


def list_names(origin: Origin, file: Path) -> list[str]:
    """Return the names of the entries that allow an origin.

    Raises:
        InvalidArgument: The file, or an entry's origins, cannot be used.
    """
    kept = _read_file(file)
    variables = (name.removeprefix(SECRET_PREFIX) for name in os.environ if name.startswith(SECRET_PREFIX))
    entries: Iterable[SecretEntry | None] = (_find(name, kept, file) for name in sorted({*kept, *variables}))
    return [entry.name for entry in entries if entry is not None and entry.allows(origin)]


def how_to_add(name: str, file: Path) -> str:
    """Return what whoever runs the server can do about a name without a secret."""
    return (
        f'Whoever runs this server can write {name} = "…" into {file}, or set the environment variable '
        f"{SECRET_PREFIX}{name}; other variables are not read."
    )


def how_to_allow(name: str, origin: str, file: Path) -> str:
    """Return how whoever runs the server lets a secret be typed into the pages of an origin."""
    return (
        f'Only whoever runs this server can allow it: origins = ["{origin}"] below [{name}] in {file}, or the '
        f"environment variable {SECRET_PREFIX}{name}{_ORIGINS}."
    )


def _find(name: str, kept: dict[str, Any], file: Path) -> SecretEntry | None:
    table = _table(kept.get(name))
    value = os.environ.get(SECRET_PREFIX + name) or _value(table)
    if not value:
        return None
    given = os.environ.get(SECRET_PREFIX + name + _ORIGINS) or table.get("origins") or ""
    listed = [given] if isinstance(given, str) else given
    try:
        return SecretEntry(name, value, parse_patterns(",".join(listed)))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"The origins of the secret {name} cannot be used: {error}.",
            hint=f'Whoever runs this server can write origins = ["https://shop.example"] into {file}.',
        ) from None


def _table(kept: Any) -> dict[str, Any]:
    return kept if isinstance(kept, dict) else {"value": kept}


def _value(table: dict[str, Any]) -> str | None:
    value = table.get("value")
    return value if isinstance(value, str) else None


def _read_file(file: Path) -> dict[str, Any]:
    """Return the entries of a file that only its owner may read; none without a file."""
    try:
        with file.open("rb") as opened:
            # On Windows the mode is always 0o666, since permissions are kept elsewhere.
            if os.name == "posix" and os.fstat(opened.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidArgument(f"Other users can use {file}.", hint=f"Run: chmod 600 {file}")
            return tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # Without the error's own text, which may quote the line.
        raise InvalidArgument(
            f"{file} cannot be read ({type(error).__name__}).", hint='Write lines such as NAME = "value".'
        ) from None
