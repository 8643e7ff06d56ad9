"""What the keeper does again and again."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

from orchestrator import activity_log, ending, folders
from orchestrator.keeper import far
from orchestrator.keeper.book import Book, Over, Placed, Row

_STORE = "sessions.db"
_ENDED_WITHIN = 5.0
_APP_SERVER = 2.0
"""Seconds that an app server of ours may take to end a session."""
_PARTS = 3
"""A remote end that ends what is unused for a minute hears of it three times a minute."""
_SWEEP_EVERY = 5.0
_AGAIN = 5.0
"""Seconds until a store that failed is asked again."""
_REMOVED_WITHIN = 5.0
"""Seconds that the removal of a home may take."""


def keep(home: Path, tick: float) -> None:
    """Keep this home until nothing is left in it, or the home is gone, and with it whatever ran in its folders."""
    with closing(Book(home / _STORE)) as book:
        if not book.enter():
            return
        _log("here")
        rounds = Rounds(home, book)
        while book.is_there():
            try:
                if rounds.look():
                    break
            except sqlite3.Error as error:
                _log(f"the store failed: {error}")
                time.sleep(_AGAIN)
            time.sleep(tick)
        else:
            _go_with_home([process for row in book.last for process in row.processes], tick)
        _log("gone")


def _go_with_home(known: list[Placed], tick: float) -> None:
    """End what ran in folders that are removed, too: whoever removes a home does so piece by piece."""
    until = time.monotonic() + _REMOVED_WITHIN
    while time.monotonic() < until:
        removed = [one for one in known if one.folder and folders.maker(Path(one.folder)) is None]
        if removed:  # with what they have written into their folders since
            ending.end(removed, {Path(one.folder) for one in removed if one.folder}, _ENDED_WITHIN)
        known = [one for one in known if one not in removed]
        time.sleep(tick)


class Rounds:
    """Looks after one home."""

    def __init__(self, home: Path, book: Book) -> None:
        self._home = home
        self._book = book
        self._touched: dict[int, float] = {}
        self._swept_at = 0.0
        self._unclaimed: set[Path] = set()

    def look(self) -> bool:
        """Look once; whether nothing is left."""
        self._book.begin_leases()
        over = self._book.close_over()
        _end(over)
        for one in over:
            self._forget(one)
        rows = self._book.rows()
        for row in rows:
            self._keep_alive(row)
        if rows and time.monotonic() < self._swept_at + _SWEEP_EVERY:
            return False
        self._sweep(rows)
        return not self._folders() and self._book.leave()

    def _forget(self, one: Over) -> None:
        """Remove what is kept of a session that was ended, and write into its activity log that it was, and why."""
        if not one.row.record:
            return  # a damaged record does not say which life of the id it was
        life = one.row.namespace, one.row.id, one.row.record["createdAt"]
        with contextlib.suppress(OSError):
            folders.storage_file(self._home, *life).unlink(missing_ok=True)
        now = activity_log.time(time.time())
        entry = {"at": now, "door": "keeper", "pid": os.getpid(), "action": "close", "message": one.why}
        activity_log.append(activity_log.place(self._home, *life), json.dumps(entry))

    def _keep_alive(self, row: Row) -> None:
        """Keep a parked session's remote end from ending it earlier."""
        record, now = row.record, time.time()
        after = record.get("keepAlive")
        if record.get("state") != "parked" or after is None or not far.can_be_asked(record):
            return
        if now < max(record["lastActiveAt"], self._touched.get(row.seq, 0)) + after / _PARTS:
            return
        self._touched[row.seq] = now
        threading.Thread(target=far.touch, args=(record, _ENDED_WITHIN), daemon=True).start()

    def _folders(self) -> set[Path]:
        """All but those of detached sessions; who is just ending one may not come to the end of it."""
        return {place for place in folders.all_of(self._home) if not folders.released(place)}

    def _sweep(self, rows: list[Row]) -> None:
        """End what dead servers left.

        What no record names is looked at twice: who closes a session ends what was its own just then.
        """
        named = [process.folder for row in rows for process in row.processes if process.folder]
        left = self._folders() & {*ending.unclaimed(self._home, named)}
        again = left & self._unclaimed
        self._swept_at, self._unclaimed = time.monotonic(), left
        for problem in ending.end((), again, _ENDED_WITHIN) if again else ():
            _log(problem)


def _end(over: list[Over]) -> None:
    """End all of these sessions, wherever they live."""
    if not over:
        return
    asked = [threading.Thread(target=_ask, args=(one.row,)) for one in over if _is_asked(one)]
    for one in asked:
        one.start()
    for one in asked:
        one.join()
    places = {Path(place) for one in over for place in one.places}
    problems = ending.end([process for one in over for process in one.processes], places, _ENDED_WITHIN)
    _log(f"ended {', '.join(f'{one.row.namespace}/{one.row.id}' for one in over)}")
    for problem in problems:
        _log(problem)


def _is_asked(one: Over) -> bool:
    """Whether its remote end is asked to end it; a browser on this machine ends with its processes."""
    record = one.row.record
    its_own = record.get("owned", True) and far.can_be_asked(record)
    return its_own and (far.is_app(record) or far.is_far(record) or len(one.processes) < len(one.row.processes))


def _ask(row: Row) -> None:
    limit = _ENDED_WITHIN if far.is_far(row.record) else _APP_SERVER
    end = far.leave if row.record.get("instance") else far.end
    if problem := end(row.record, limit):
        _log(f"{row.namespace}/{row.id} is left to its remote end: {problem}")


def _log(text: str) -> None:
    with contextlib.suppress(OSError):  # a full disk
        sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")
        sys.stderr.flush()
