"""Strings that a session keeps in its record, whatever becomes of the worlds of its scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from orchestrator.errors import InvalidArgument

ROOM = 64 * 1024
"""Characters that the vars of a session may have together, names included: its record is written with every call."""


class Vars:
    """The vars of one session. `changed` hears of each change.

    They outlive resets of the script world, this server, and the client; every server of the home has the same.
    """

    def __init__(self, kept: Mapping[str, str], changed: Callable[[dict[str, str]], object]) -> None:
        self._kept = dict(kept)
        self._changed = changed

    def get(self, name: str) -> str | None:
        """The string of this name; None without one."""
        return self._kept.get(name)

    def set(self, name: str, value: str) -> None:
        """Keep a string under a name.

        Raises:
            InvalidArgument: It is no string, or all together would be too large.
        """
        self.replace({**self._kept, name: value})

    def has(self, name: str) -> bool:
        """Whether there is one of this name."""
        return name in self._kept

    def delete(self, name: str) -> bool:
        """Remove it; whether there was one."""
        if name not in self._kept:
            return False
        self.replace({other: text for other, text in self._kept.items() if other != name})
        return True

    def keys(self) -> list[str]:
        """The names, the oldest first."""
        return list(self._kept)

    def replace(self, kept: Mapping[Any, Any]) -> None:
        """Have these instead of all that there were.

        Raises:
            InvalidArgument: They are no text, or too large together.
        """
        if not all(isinstance(word, str) for word in chain.from_iterable(kept.items())) or "" in kept:
            raise InvalidArgument("Names and values of vars are strings.", hint="Write other values as JSON.")
        try:
            "".join(chain.from_iterable(kept.items())).encode()
        except UnicodeEncodeError:
            raise InvalidArgument("Half of a surrogate pair is no text.", hint="Write it as JSON.") from None
        if sum(len(name) + len(text) for name, text in kept.items()) > ROOM:
            raise InvalidArgument(
                f"All vars of a session together have at most {ROOM} characters.", hint="Delete some, or keep less."
            )
        self._kept = dict(kept)
        self._changed(self._kept)

    def all(self) -> dict[str, str]:
        """All of them by name."""
        return dict(self._kept)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)
