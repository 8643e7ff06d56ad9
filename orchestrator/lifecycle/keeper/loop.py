"""The keeper's loop: ends expired sessions, keeps the others alive, sweeps folders."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from orchestrator.lifecycle.keeper import remote_ends
from orchestrator.lifecycle.keeper.lease_store import ExpiredSession, KeeperStore, OpenSessionRow, RecordedProcess
from orchestrator.system import activity_file, folders, process_termination
from orchestrator.system.deadline import Deadline, poll_until

_STORE = "sessions.db"
_ENDED_WITHIN = 5.0
_APP_SERVER = 2.0
"""Seconds that a local app server may take to end a session."""
_PINGS_PER_TIMEOUT = 3
"""Pings within the time after which a remote end drops an idle session."""
_SWEEP_EVERY = 5.0
_RETRY = 5.0
"""Seconds until a store that failed is read again."""
_REMOVED_WITHIN = 5.0
"""Seconds that the removal of a data folder may take."""


def run_keeper(home: Path, tick: float) -> None:
    """Run the keeper of this data folder until nothing is left in it; if the folder is removed, end what ran in it."""
    with closing(KeeperStore(home / _STORE)) as store:
        if not store.become_keeper():
            return
        _log("started")
        loop = KeeperLoop(home, store)
        while store.is_there():
            try:
                if loop.run_once():
                    break
            except sqlite3.Error as error:
                _log(f"the store failed: {error}")
                time.sleep(_RETRY)
            time.sleep(tick)
        else:
            _end_with_home([process for row in store.last for process in row.processes], tick)
        _log("ended")


def _end_with_home(last_known: list[RecordedProcess], tick: float) -> None:
    """End the processes whose folders are removed with the data folder, which may happen one by one."""
    left = {process for process in last_known if process.folder}

    def end_removed() -> bool:
        removed = [process for process in left if folders.maker(Path(process.folder or "")) is None]
        if removed:  # with what they have written into their folders since
            places = {Path(process.folder or "") for process in removed}
            process_termination.end_processes_and_folders(removed, places, _ENDED_WITHIN)
        left.difference_update(removed)
        return not left

    poll_until(end_removed, Deadline(_REMOVED_WITHIN), every=tick)


class KeeperLoop:
    """Maintains the sessions of one data folder."""

    def __init__(self, home: Path, store: KeeperStore) -> None:
        self._home = home
        self._store = store
        self._pinged: dict[int, float] = {}
        self._swept_at = 0.0
        self._unclaimed: set[Path] = set()

    def run_once(self) -> bool:
        """Run one pass; returns True when nothing is left to keep."""
        self._store.begin_leases()
        expired = self._store.close_expired()
        _end_all(expired)
        for session in expired:
            self._forget(session)
        rows = self._store.read_sessions()
        self._pinged = {row.seq: at for row in rows if (at := self._pinged.get(row.seq))}
        for row in rows:
            self._keep_alive(row)
        if rows and time.monotonic() < self._swept_at + _SWEEP_EVERY:
            return False
        self._sweep(rows)
        return not self._folders() and self._store.resign()

    def _forget(self, session: ExpiredSession) -> None:
        """Remove the stored state of an ended session, and log in its activity log why it ended."""
        if not session.row.record:
            return  # a damaged record lacks the time of creation that its files are named by
        life = session.row.namespace, session.row.id, session.row.record["createdAt"]
        with contextlib.suppress(OSError):
            folders.storage_file(self._home, *life).unlink(missing_ok=True)
        now = activity_file.format_time(time.time())
        entry = {"at": now, "door": "keeper", "pid": os.getpid(), "action": "close", "message": session.why}
        activity_file.append(activity_file.place(self._home, *life), json.dumps(entry))

    def _keep_alive(self, row: OpenSessionRow) -> None:
        """Ping the remote end of a parked session, so that it does not drop it."""
        record, now = row.record, self._store.now()
        after = record.get("keepAlive")
        if record.get("state") != "parked" or after is None or not remote_ends.is_reachable(record):
            return
        if now < max(record["lastActiveAt"], self._pinged.get(row.seq, 0)) + after / _PINGS_PER_TIMEOUT:
            return
        self._pinged[row.seq] = now
        threading.Thread(target=remote_ends.ping, args=(record, _ENDED_WITHIN), daemon=True).start()

    def _folders(self) -> set[Path]:
        """Return the temporary folders, without those of detached sessions."""
        return {place for place in folders.all_of(self._home) if not folders.released(place)}

    def _sweep(self, rows: list[OpenSessionRow]) -> None:
        """End what dead servers left in folders that no record names.

        A folder must be unnamed in two sweeps: a server that closes a session is about to end what is in its folder.
        """
        named = [process.folder for row in rows for process in row.processes if process.folder]
        unclaimed = self._folders() & {*process_termination.unclaimed(self._home, named)}
        abandoned = unclaimed & self._unclaimed
        self._swept_at, self._unclaimed = time.monotonic(), unclaimed
        if abandoned:
            _log_all(process_termination.end_processes_and_folders((), abandoned, _ENDED_WITHIN))


def _end_all(expired: list[ExpiredSession]) -> None:
    """End expired sessions: first at their remote ends, then their processes."""
    if not expired:
        return
    threads = [threading.Thread(target=_end_remotely, args=(one.row,)) for one in expired if _ends_remotely(one)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    places = {Path(place) for one in expired for place in one.places}
    problems = process_termination.end_processes_and_folders(
        [process for one in expired for process in one.processes], places, _ENDED_WITHIN
    )
    _log(f"ended {', '.join(f'{one.row.namespace}/{one.row.id}' for one in expired)}")
    _log_all(problems)


def _ends_remotely(session: ExpiredSession) -> bool:
    """Return True if the remote end is to end the session; a local browser of its own ends with its processes."""
    record = session.row.record
    shares_processes = len(session.processes) < len(session.row.processes)
    is_needed = remote_ends.ends_by_command(record) or remote_ends.is_remote(record) or shares_processes
    return record.get("owned", True) and remote_ends.is_reachable(record) and is_needed


def _end_remotely(row: OpenSessionRow) -> None:
    limit = _ENDED_WITHIN if remote_ends.is_remote(row.record) else _APP_SERVER
    end = remote_ends.leave_shared_browser if row.record.get("instance") else remote_ends.end_session
    if problem := end(row.record, limit):
        _log(f"{row.namespace}/{row.id} was not ended at its remote end: {problem}")


def _log_all(texts: Iterable[str]) -> None:
    for text in texts:
        _log(text)


def _log(text: str) -> None:
    with contextlib.suppress(OSError):  # a full disk
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")
        sys.stderr.flush()
