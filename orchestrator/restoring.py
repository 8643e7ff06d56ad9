"""Brings parked sessions back: each in the turn of the first call that names it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from orchestrator import kept, processes
from orchestrator.errors import SessionLost, brief
from orchestrator.models import SessionRecord, SessionType
from orchestrator.reach import Reach
from orchestrator.secrets import without_credentials
from orchestrator.sessions import Book, Turn
from orchestrator.storage_state import StorageState
from orchestrator.webdriver.remote import Remote

_SHOWN = 200
"""Characters of a URL that are told."""
_LONG = 120
"""Seconds from which on a time is told in minutes."""


StartAgain = Callable[[Turn, str, StorageState | None], None]
"""Has a fresh remote end for a session whose own is gone, and says why it is; see `again`."""


class Restored(NamedTuple):
    """What the first result of a session that was parked tells; `whole` says that nothing of it was lost.

    `remote` is its client then. `recovered` is what a fresh browser was given of one that is gone, and `page` is what
    it is to open first.
    """

    whole: bool
    told: str
    recovered: str | None = None
    page: str | None = None
    remote: Remote | None = None


class Restorer:
    """Restores for one caller; `ttl` is how long what it restored lives when it is parked again.

    Attributes:
        taken: The sessions that came to the caller in this way, by id and creation: it did not start them.
    """

    def __init__(
        self,
        book: Book,
        reach: Reach,
        again: StartAgain,
        home: Path,
        ttl: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._book = book
        self._reach = reach
        self._again = again
        self._home = home
        self._ttl = ttl
        self._clock = clock
        self.taken: set[tuple[str, float]] = set()

    def restore(self, turn: Turn) -> Restored:
        """Ask the remote end whether the session is there, and make it active; in the worker thread of its turn.

        In the place of a browser that is gone a fresh one is started, with the cookies and storage that were saved.

        Raises:
            SessionLost: It is not there, and cannot be started again; the turn's end marks it.
            SessionNotFound: It was closed meanwhile.
            OrchestratorError: The remote end cannot be asked now; the session stays parked.
        """
        parked = turn.record
        remote, gone = self._asked(parked)
        record = turn.restore(self._book.caller.key, self._ttl)
        if record.owner != parked.owner:
            self.taken.add((record.id, record.created_at))
        if gone:
            return self._recovered(turn, parked, gone)
        where = _where(record, ":")
        told = f"{record.id} was parked for {self._away(parked)} and is as it was{where}."
        return Restored(whole=True, told=told, remote=remote)

    def _recovered(self, turn: Turn, parked: SessionRecord, gone: str) -> Restored:
        page = (parked.request or {}).get("navigation_url")
        if not parked.remote_session_id:
            self._again(turn, gone, None)
            turn.change(fresh_since=self._clock())
            told = f"{parked.id} is a fresh one: {gone}. Its pages, its cookies and its storage are gone."
            return Restored(whole=False, told=told, page=page)
        why = f"it was parked for {self._away(parked)}, and {gone}"
        if parked.type is not SessionType.BROWSER:
            raise SessionLost(parked.id, why)
        state = kept.read(self._home, parked)
        saved = bool(state.cookies or state.origins)
        self._again(turn, why, state if saved else None)
        has = "has its cookies and local storage" if saved else "took its place; no storage of it was saved"
        lost = f"its pages and what was typed there are lost{_where(parked, '; the last one was')}"
        told = f"{parked.id} is not as it was: {why}. A fresh browser {has}; {lost}."
        return Restored(whole=False, told=told, recovered="storage" if saved else None, page=page)

    def _asked(self, record: SessionRecord) -> tuple[Remote | None, str]:
        """The client of the session where its remote end has it, else why there is nothing to come back to."""
        if not record.remote_session_id:
            return None, record.lost_reason or "its remote end was ended"
        for process in record.processes:
            if not processes.alive(process):
                return None, f"its process {process.name} ({process.pid}) ended"
        remote = self._reach.of(record)
        try:
            # As long as any command: its driver may be at one that the server before has left behind.
            remote.touch()
        except SessionLost as error:
            return None, error.reason
        return remote, ""

    def _away(self, record: SessionRecord) -> str:
        seconds = max(0.0, self._clock() - (record.parked_at or self._clock()))
        return f"{seconds:.0f} s" if seconds < _LONG else f"{seconds / 60:.0f} minutes"


def _where(record: SessionRecord, word: str) -> str:
    """The page that it was at, behind a word; nothing where none is known."""
    url = brief(without_credentials(record.url or ""), _SHOWN)
    return f"{word} {record.title!r} at {url}" if url else ""
