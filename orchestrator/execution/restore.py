"""Restores parked sessions, each in the turn of the first call that names it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from orchestrator.errors import SessionLost, brief
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.models.storage_state import StorageState
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.turn import Turn
from orchestrator.system import processes, storage_files
from orchestrator.system.secrets import without_credentials
from orchestrator.webdriver.remote import Remote

_URL_LENGTH = 200
"""Characters of a URL in a message."""
_MINUTES_FROM = 120
"""Seconds from which on a time is given in minutes."""

RestartSession = Callable[[Turn, str, StorageState | None], None]
"""Starts a fresh remote session for a lost one, for a reason, with a storage state; see `lifecycle.restart`."""


class Restored(NamedTuple):
    """A parked session that is active again, as the next result reports it.

    Attributes:
        is_intact: True if nothing of it was lost.
        message: A sentence about it; empty if that is of no interest, as between two commands of a shell.
        recovered: `storage` if a fresh browser was given the storage state of a lost one.
        page: The URL that a fresh browser opens first.
        remote: The client of an intact session.
    """

    is_intact: bool
    message: str
    recovered: str | None = None
    page: str | None = None
    remote: Remote | None = None


class Restorer:
    """Restores parked sessions.

    Args:
        connector: Makes clients of remote ends.
        restart: Starts a session again whose remote end is gone.
        home: The setting.
        ttl: Seconds that a restored session lives once it is parked again; as before if None.

    Attributes:
        taken: Sessions that callers of this process took over from another one by restoring them, by id and creation
            time.
    """

    def __init__(
        self,
        connector: Connector,
        restart: RestartSession,
        home: Path,
        ttl: float | None = None,
    ) -> None:
        self._connector = connector
        self._restart = restart
        self._home = home
        self._ttl = ttl
        self.taken: set[tuple[str, float]] = set()

    def keep_only(self, records: Collection[SessionRecord]) -> None:
        """Forget other sessions than the open ones."""
        self.taken &= {(record.id, record.created_at) for record in records}

    def restore(self, turn: Turn) -> Restored:
        """Check that the remote end still has the session, and make it active; in the worker thread of its turn.

        A browser that is gone is replaced by a fresh one, with the cookies and storage that were saved.

        Raises:
            SessionLost: It is gone and cannot be started again; the end of the turn marks it as lost.
            SessionNotFound: It was closed meanwhile.
            OrchestratorError: The remote end cannot be reached now; the session stays parked.
        """
        parked = turn.record
        remote, gone = self._check(parked)
        record = turn.restore(self._ttl)
        if record.owner != parked.owner:
            self.taken.add((record.id, record.created_at))
        if gone:
            return self._recover(turn, parked, gone)
        if turn.caller.door == "cli" and parked.owner == turn.caller.key:
            return Restored(is_intact=True, message="", remote=remote)
        message = (
            f"{record.id} was parked for {_parked_for(parked, turn.now())} and restored{_page_clause(record, ':')}."
        )
        return Restored(is_intact=True, message=message, remote=remote)

    def _recover(self, turn: Turn, parked: SessionRecord, gone: str) -> Restored:
        page = (parked.request or {}).get("navigation_url")
        if not parked.remote_session_id:
            self._restart(turn, gone, None)
            turn.change(fresh_since=turn.now())
            message = f"{parked.id} was started anew: {gone}. Its pages, cookies and storage are lost."
            return Restored(is_intact=False, message=message, page=page)
        why = f"it was parked for {_parked_for(parked, turn.now())}, and {gone}"
        if parked.type is not SessionType.BROWSER:
            raise SessionLost(parked.id, why)
        state = storage_files.read(self._home, parked)
        saved = bool(state.cookies or state.origins)
        self._restart(turn, why, state if saved else None)
        kept = "its cookies and storage" if saved else "none of its cookies or storage"
        lost = f"its pages and unsent input are lost{_page_clause(parked, '; the last page was')}"
        message = f"{parked.id} was started anew: {why}. A fresh browser has {kept}; {lost}."
        return Restored(is_intact=False, message=message, recovered="storage" if saved else None, page=page)

    def _check(self, record: SessionRecord) -> tuple[Remote | None, str]:
        """Return the client of the session if its remote end still has it, else None and the reason."""
        if not record.remote_session_id:
            return None, record.lost_reason or "its remote end was ended"
        for process in record.processes:
            if not processes.alive(process):
                return None, f"its process {process.name} ({process.pid}) ended"
        remote = self._connector.make_remote(record)
        try:
            # With the usual timeout: its driver may still run a command of the previous server.
            remote.ping()
        except SessionLost as error:
            return None, error.reason
        return remote, ""


def _parked_for(record: SessionRecord, now: float) -> str:
    seconds = max(0.0, now - (record.parked_at or now))
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:.0f} minutes"


def _page_clause(record: SessionRecord, lead: str) -> str:
    """A clause with the page's title and URL after `lead`; empty if none is known."""
    url = brief(without_credentials(record.url or ""), _URL_LENGTH)
    return f"{lead} {record.title!r} at {url}" if url else ""
