"""Brings parked sessions back: each in the turn of the first call that names it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from orchestrator import processes
from orchestrator.errors import SessionLost, brief
from orchestrator.models import SessionRecord
from orchestrator.reach import Reach
from orchestrator.secrets import without_credentials
from orchestrator.sessions import Book, Turn

_ASKED = 5.0
"""Seconds that a remote end may take to say that it still has the session, when nothing of it runs on this machine."""
_SHOWN = 200
"""Characters of a URL that are told."""
_LONG = 120
"""Seconds from which on a time is told in minutes."""


class Restored(NamedTuple):
    """What the first result of a session that was parked tells; `whole` says that nothing of it was lost."""

    whole: bool
    told: str


class Restorer:
    """Restores for one caller; `ttl` is how long what it restored lives when it is parked again.

    Attributes:
        taken: The ids that came to the caller in this way: it did not start them.
    """

    def __init__(
        self, book: Book, reach: Reach, ttl: float | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._book = book
        self._reach = reach
        self._ttl = ttl
        self._clock = clock
        self.taken: set[str] = set()

    def restore(self, turn: Turn) -> Restored:
        """Ask the remote end whether the session is there, and make it active; in the worker thread of its turn.

        Raises:
            SessionLost: It is not; the turn's end marks it.
            SessionNotFound: It was closed meanwhile.
            OrchestratorError: The remote end cannot be asked now; the session stays parked.
        """
        parked = turn.record
        self._ask(parked)
        record = turn.restore(self._book.caller.key, self._ttl)
        if record.owner != parked.owner:
            self.taken.add(record.id)
        url = brief(without_credentials(record.url or ""), _SHOWN)
        where = f": {record.title!r} at {url}" if url else ""
        return Restored(whole=True, told=f"{record.id} was parked for {self._away(parked)} and is as it was{where}.")

    def _ask(self, record: SessionRecord) -> None:
        try:
            for process in record.processes:
                if not processes.alive(process):
                    raise SessionLost(record.id, f"its process {process.name} ({process.pid}) ended")  # noqa: TRY301
            remote = self._reach.of(record)
            remote.touch(_ASKED if record.far else remote.timeout)
        except SessionLost as error:
            away = f"it was parked for {self._away(record)}, and {error.reason}"
            raise SessionLost(record.id, away) from error

    def _away(self, record: SessionRecord) -> str:
        seconds = max(0.0, self._clock() - (record.parked_at or self._clock()))
        return f"{seconds:.0f} s" if seconds < _LONG else f"{seconds / 60:.0f} minutes"
