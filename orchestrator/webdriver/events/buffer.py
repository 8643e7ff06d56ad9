"""A buffer of events, bounded in number and size, in which each has a unique time."""

from __future__ import annotations

import threading
from typing import Generic, NamedTuple, TypeVar

EntryT = TypeVar("EntryT")
_ENTRIES = 1000
_CHARACTERS = 1_000_000
_TICK = 1e-6
"""Seconds between two entries with the same time, since remote ends report whole milliseconds."""


class _Kept(NamedTuple, Generic[EntryT]):
    entry: EntryT
    mark: float
    size: int


class BufferedEntries(NamedTuple, Generic[EntryT]):
    """Entries in order of arrival, the mark of the last one in the buffer, and the number of dropped ones so far."""

    entries: list[EntryT]
    until: float
    dropped: int


class EventBuffer(Generic[EntryT]):
    """Entries by key, the oldest first; if there are too many, the oldest are dropped.

    The mark of an entry is the unique time at which it came or last changed, in seconds since 1970 by the remote end's
    clock. So any process can ask for the entries after a mark.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept[EntryT]] = {}
        self._size = 0
        self._mark = 0.0
        self._dropped = 0

    def put(self, key: str, entry: EntryT, when: float, size: int) -> None:
        """Add an entry, or replace the one of this key in its place; `size` is its approximate size in characters."""
        with self._lock:
            self._mark = max(when, round(self._mark + _TICK, 6))
            before = self._kept.get(key)
            self._kept[key] = _Kept(entry, self._mark, size)
            self._size += size - (before.size if before else 0)
            while len(self._kept) > 1 and (len(self._kept) > _ENTRIES or self._size > _CHARACTERS):
                self._size -= self._kept.pop(next(iter(self._kept))).size
                self._dropped += 1

    def get(self, key: str) -> EntryT | None:
        """Return the entry of a key; None if it was dropped."""
        kept = self._kept.get(key)
        return kept.entry if kept else None

    def since(self, mark: float, *, clear: bool = False) -> BufferedEntries[EntryT]:
        """Return the entries that came or changed after a mark; `clear` empties the buffer in the same step."""
        with self._lock:
            entries = [kept.entry for kept in self._kept.values() if kept.mark > mark]
            result = BufferedEntries(entries, self._mark, self._dropped)
            if clear:
                self._kept.clear()
                self._size = self._dropped = 0
        return result
