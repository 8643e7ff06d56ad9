"""The values that a store hands out: a process that holds turns, a place in a lane, a record with its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, Self

import psutil

from orchestrator.models import SessionRecord

Change = Callable[[SessionRecord], SessionRecord]
"""Makes a new record of one that was just read. It runs inside the transaction and must not call the store."""
ChangeAmong = Callable[[SessionRecord, list[SessionRecord]], SessionRecord]
"""The same, of a record among others."""

_SAME_START = 2.0
"""Creation times this near, in seconds, are the same: some systems derive them from a clock that is adjusted."""


class Holder(NamedTuple):
    """A process, known by pid and creation time so that a reused pid is never mistaken for it."""

    pid: int
    created: float

    @classmethod
    def here(cls) -> Self:
        """This process."""
        return cls(os.getpid(), psutil.Process().create_time())

    def alive(self) -> bool:
        """Whether the process still runs; a zombie does not."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.created) < _SAME_START
            return bool(same and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


class Ticket(NamedTuple):
    """A place in a lane. Lower numbers come first; `session` is one life of the id, never a later one's."""

    number: int
    session: int
    namespace: str
    id: str


class Entry(NamedTuple):
    """A record as it was read together with the place in its lane."""

    record: SessionRecord
    ticket: Ticket
    first: bool
