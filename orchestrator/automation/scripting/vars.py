"""Vars of a session: strings in its record, which outlive its script world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from orchestrator.errors import InvalidArgument

ROOM = 64 * 1024
"""Characters of a session's vars together, names included: its record is written with every call."""


class Vars:
    """The vars of a session, shared by all servers of a home. `changed` is called with all vars after each change."""

    def __init__(self, kept: Mapping[str, str], changed: Callable[[dict[str, str]], object]) -> None:
        self._kept = dict(kept)
        self._changed = changed

    def get(self, name: str) -> str | None:
        """The value of a var; None if there is none."""
        return self._kept.get(name)

    def set(self, name: str, value: str) -> None:
        """Set a var.

        Raises:
            InvalidArgument: The value is not a string, or all vars together would be too large.
        """
        self.replace({**self._kept, name: value})

    def has(self, name: str) -> bool:
        """True if there is a var of this name."""
        return name in self._kept

    def delete(self, name: str) -> bool:
        """Remove a var; True if there was one."""
        if name not in self._kept:
            return False
        self.replace({other: text for other, text in self._kept.items() if other != name})
        return True

    def keys(self) -> list[str]:
        """The names, oldest first."""
        return list(self._kept)

    def replace(self, kept: Mapping[Any, Any]) -> None:
        """Replace all vars.

        Raises:
            InvalidArgument: A name or value is not a string, or they are too large together.
        """
        if not all(isinstance(word, str) for word in chain.from_iterable(kept.items())) or "" in kept:
            raise InvalidArgument("Names and values of vars are strings.", hint="Write other values as JSON.")
        try:
            "".join(chain.from_iterable(kept.items())).encode()
        except UnicodeEncodeError:
            raise InvalidArgument("A var holds half of a surrogate pair.", hint="Write it as JSON.") from None
        if sum(len(name) + len(text) for name, text in kept.items()) > ROOM:
            raise InvalidArgument(
                f"All vars of a session together have at most {ROOM} characters.", hint="Delete some, or keep less."
            )
        self._kept = dict(kept)
        self._changed(self._kept)

    def all(self) -> dict[str, str]:
        """All vars by name."""
        return dict(self._kept)
