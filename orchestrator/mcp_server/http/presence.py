"""Presence of a token's callers: who has a call or a request open, or had one lately."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class _Activity:
    """Number of what is open at the moment, and the time at which the last one ended."""

    open: int = 0
    last: float = 0.0

    @contextmanager
    def noting(self, clock: Callable[[], float]) -> Iterator[None]:
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1
            self.last = clock()

    def is_silent(self, since: float) -> bool:
        return not self.open and self.last <= since


@dataclass
class _PresentCaller(_Activity):
    """A caller's calls, and the session of the protocol that it came in by last; the 2026 protocol has none."""

    session: str = ""


class Presence:
    """Notes requests and calls, and tells who has been silent for too long.

    A caller in a session of the 2025 protocol is there as long as the session has a request: its client listens.

    Args:
        limit: Seconds of silence after which a caller has gone.
        clock: Seconds that only grow.
    """

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._sessions: defaultdict[str, _Activity] = defaultdict(_Activity)
        self._callers: dict[str, _PresentCaller] = {}

    @contextmanager
    def requesting(self, session: str) -> Iterator[None]:
        """Note a request in a session of the protocol while it runs."""
        if not session:
            yield
            return
        with self._sessions[session].noting(self._clock):
            yield

    @contextmanager
    def calling(self, key: str, session: str) -> Iterator[None]:
        """Note a call of the caller of this key while it runs."""
        caller = self._callers.setdefault(key, _PresentCaller())
        caller.session = session
        with caller.noting(self._clock):
            yield

    @property
    def callers(self) -> set[str]:
        """Keys of the callers that are there."""
        return {*self._callers}

    def take_gone(self) -> set[str]:
        """Return the keys of the callers that have gone since the last time; they are forgotten here."""
        since = self._clock() - self._limit
        silent = {name for name, session in self._sessions.items() if session.is_silent(since)}
        gone = {
            key
            for key, caller in self._callers.items()
            if caller.is_silent(since) and (caller.session in silent or caller.session not in self._sessions)
        }
        for key in gone:
            del self._callers[key]
        for name in silent:
            del self._sessions[name]
        return gone
