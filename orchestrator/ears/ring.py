"""The last of what was heard: bounded in number and size, in order, each entry at a place in time of its own."""

from __future__ import annotations

import threading
from typing import Generic, NamedTuple, TypeVar

EntryT = TypeVar("EntryT")
_ENTRIES = 1000
_CHARACTERS = 1_000_000
_TICK = 1e-6
"""Seconds between two entries of one moment: remote ends tell milliseconds."""


class _Kept(NamedTuple, Generic[EntryT]):
    entry: EntryT
    mark: float
    size: int


class Found(NamedTuple, Generic[EntryT]):
    """Entries in the order in which they came, the mark of the last one that there is, how many made room so far."""

    entries: list[EntryT]
    until: float
    dropped: int


class Ring(Generic[EntryT]):
    """Entries by key, the oldest first; the oldest make room for new ones.

    The mark of an entry is when it came or last changed, in seconds since 1970 by the remote end's clock, and no two
    have the same: so a mark says in any process what came later.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept[EntryT]] = {}
        self._size = 0
        self._mark = 0.0
        self._dropped = 0

    def put(self, key: str, entry: EntryT, when: float, size: int) -> None:
        """Add an entry, or change the one of this key where it stands; `size` is about what it takes, in characters."""
        with self._lock:
            self._mark = max(when, round(self._mark + _TICK, 6))
            before = self._kept.get(key)
            self._kept[key] = _Kept(entry, self._mark, size)
            self._size += size - (before.size if before else 0)
            while len(self._kept) > 1 and (len(self._kept) > _ENTRIES or self._size > _CHARACTERS):
                self._size -= self._kept.pop(next(iter(self._kept))).size
                self._dropped += 1

    def get(self, key: str) -> EntryT | None:
        """The entry of a key, while it is kept."""
        kept = self._kept.get(key)
        return kept.entry if kept else None

    def since(self, mark: float, *, clear: bool = False) -> Found[EntryT]:
        """What came or changed after a mark; with `clear` all is forgotten, and nothing that comes at the same time."""
        with self._lock:
            found = [one.entry for one in self._kept.values() if one.mark > mark]
            heard = Found(found, self._mark, self._dropped)
            if clear:
                self._kept.clear()
                self._size = self._dropped = 0
        return heard
