"""A SQLite file with one connection: opening, migration and transactions."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestrator.errors import InvalidArgument
from orchestrator.sessions.store import failures
from orchestrator.sessions.store.migrations import LATEST, migrate, version
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.host import file_systems, home_folder, private_files
from orchestrator.system.host.private_files import ForeignPlace

_BUSY_SECONDS = 5.0
_SHORT_SECONDS = 0.1
"""Seconds to wait for a lock that a transaction before has waited for in full."""
_POLL = 0.01
_WAL = "PRAGMA journal_mode = WAL"
_PRAGMAS = ("synchronous = NORMAL", "foreign_keys = ON")
_RESERVE = 5_000_000
"""Bytes of a disk that the write-ahead log takes at the start, so that a disk which is filled up later stops no call:
SQLite begins the log anew at 4.1 MB."""
_FREE = 1_000_000
"""Bytes of free pages that a new file has, for the same reason."""


def file_of(db: sqlite3.Connection) -> str:
    """Return the path of a connection's file, as SQLite has it; its records are kept in memory by it."""
    return str(db.execute("PRAGMA database_list").fetchone()[2])


class Database:
    """A connection that any thread may use, one transaction at a time.

    Attributes:
        path: The file.
        file: The same as SQLite has it.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, creating it and its folder if they are missing.

        Raises:
            InvalidArgument: It cannot be opened, is no store, or is of a newer version; the message names it.
        """
        self.path = path
        self._lock = threading.RLock()
        self._locked: set[str] = set()
        """The kinds of transactions, by their first statement, of which the last one has met a lock."""
        _refuse_shared(path.parent)
        try:
            home_folder.prepare(path.parent)
            # Not if it is there: closing any handle of the file ends the locks of the process's other connections.
            if not path.exists():
                private_files.open_to_append(path).close()
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except ForeignPlace as error:
            raise InvalidArgument(
                error.sentence,
                hint="Set home (ORCHESTRATOR_HOME) to a folder of this user's own, run as its owner, or chown it.",
            ) from error
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
        self.file = file_of(self._connection)
        self._log = Path(f"{path}-wal")
        _reserve(self._log)
        self._files = {file: _number(file) for file in (path, self._log)}

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
            self._check_files()
            try:
                self._connection.execute(f"PRAGMA busy_timeout = {self._wait_ms(begin)}")
                self._connection.execute(begin)
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):  # the first error says more than that of a failed rollback
                        self._connection.rollback()
                    raise
            except sqlite3.Error as error:
                if failures.is_locked(error):
                    self._locked.add(begin)
                raise failures.explain(self.path, error) from error
            self._locked.discard(begin)

    def _wait_ms(self, begin: str) -> int:
        """Return for how long to wait for a lock: one call waits in full, those after it learn soon that it is held."""
        return int((_SHORT_SECONDS if begin in self._locked else _BUSY_SECONDS) * 1000)

    def _check_files(self) -> None:
        """Refuse to go on in files that were removed or replaced: no other process would see what is written.

        Raises:
            StoreDamaged: They were.
        """
        for file, number in self._files.items():
            if _number(file) != number:
                raise failures.damaged(self.path, f"{file.name} was removed or replaced while it was in use")

    def _prepare(self) -> None:
        for pragma in _PRAGMAS:
            self._connection.execute(f"PRAGMA {pragma}")
        self._use_wal()
        if version(self._connection) == LATEST:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if version(self._connection) == 0:
                self._reserve_pages()
            migrate(self._connection, str(self.path))
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.rollback()
            raise
        # The pages take their room on the disk when they go from the log into the file.
        self._connection.execute("PRAGMA wal_checkpoint")

    def _reserve_pages(self) -> None:
        """Leave free pages in a new file for records to come."""
        self._connection.execute("CREATE TABLE reserve (bytes BLOB)")
        self._connection.execute("INSERT INTO reserve VALUES (zeroblob(?))", (_FREE,))
        self._connection.execute("DROP TABLE reserve")

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


def _number(file: Path) -> int | None:
    """Return the number that tells a file from another one of its name; None if it is missing."""
    try:
        return file.stat().st_ino
    except OSError:
        return None


def _reserve(log: Path) -> None:
    """Give the write-ahead log its room on the disk; what it holds stays as it is."""
    if hasattr(os, "posix_fallocate"):
        # A full disk has no room for it: then the store works as long as it can.
        with suppress(OSError), log.open("rb+") as file:
            os.posix_fallocate(file.fileno(), 0, _RESERVE)


def _refuse_shared(home: Path) -> None:
    shared = file_systems.find_shared(home)
    if shared is not None:
        raise InvalidArgument(
            f"The data folder {home} lies on a file system that other machines share ({shared.fstype}, mounted at "
            f"{shared.mountpoint}), where the locks of its database do not hold.",
            hint="Set home (ORCHESTRATOR_HOME) to a folder on a disk of this machine.",
        )
