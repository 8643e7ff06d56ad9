"""A SQLite file with one connection: opening, migration and transactions."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.sessions.store.migrations import LATEST, migrate, version
from orchestrator.system.deadline import Deadline, poll_until

_BUSY_SECONDS = 5.0
_POLL = 0.01
_WAL = "PRAGMA journal_mode = WAL"
_PRAGMAS = ("busy_timeout = 5000", "synchronous = NORMAL", "foreign_keys = ON")


class Database:
    """A connection that any thread may use, one transaction at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file, creating it and its folder if they are missing.

        Raises:
            InvalidArgument: It cannot be opened, is no store, or is of a newer version; the message names it.
        """
        self.path = path
        self._lock = threading.RLock()
        try:
            _make_private(path)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self.close()
            raise self._unusable(error) from error
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that sees one state of the file."""
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that excludes all other writers, of any process."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    def close(self) -> None:
        """Close the file after the transaction that may be under way in another thread."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._connection.execute(begin)
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):  # the first error says more than that of a failed rollback
                        self._connection.rollback()
                    raise
            except sqlite3.Error as error:
                raise OrchestratorError(
                    f"The store {self.path} failed: {error}.",
                    hint="Check that its disk has room and that the file can be written, then try again.",
                ) from error

    def _prepare(self) -> None:
        for pragma in _PRAGMAS:
            self._connection.execute(f"PRAGMA {pragma}")
        self._use_wal()
        if version(self._connection) == LATEST:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            migrate(self._connection, str(self.path))
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.rollback()
            raise

    def _use_wal(self) -> None:
        # Polled, since changing the journal mode ignores busy_timeout: of two first openers one gets SQLITE_BUSY.
        if not poll_until(self._try_wal, Deadline(_BUSY_SECONDS), every=_POLL):
            self._connection.execute(_WAL)

    def _try_wal(self) -> bool:
        try:
            self._connection.execute(_WAL)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise
            return False
        return True

    def _unusable(self, error: Exception) -> InvalidArgument:
        return InvalidArgument(
            f"The store {self.path} cannot be used: {error}.",
            hint="Check the setting home: its folder must be writable; move a damaged file away to begin anew.",
        )


def _make_private(path: Path) -> None:
    # An existing folder keeps its mode, since other programs may need it; the file is private in any case.
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
