"""The file: its creation, protection, migration and refusal."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.errors import InvalidArgument, OrchestratorError, RecordUnreadable, StoreFailed
from orchestrator.sessions.store.migrations import LATEST, MIGRATIONS
from orchestrator.sessions.store.sqlite import SqliteStore
from tests.servers.small_disk import fill, mounted
from tests.sessions.store.helpers import NAMESPACE, Keeper


def pragma(path: Path, name: str) -> object:
    """Return a pragma of the file."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.usefixtures("store")
def test_a_new_store_has_the_latest_schema_version(home: Path) -> None:
    """Versions count from 1, and the file is in WAL mode."""
    assert pragma(home / "sessions.db", "user_version") == LATEST == len(MIGRATIONS) >= 1
    assert pragma(home / "sessions.db", "journal_mode") == "wal"


def test_opening_an_existing_store_changes_nothing(home: Path, keeper: Keeper) -> None:
    """A file of our version is used unchanged."""
    keeper.start("a")
    with closing(sqlite3.connect(home / "sessions.db")) as db:
        before = db.execute("SELECT sql FROM sqlite_master").fetchall()
    SqliteStore(home).disconnect()
    with closing(sqlite3.connect(home / "sessions.db")) as db:
        assert db.execute("SELECT sql FROM sqlite_master").fetchall() == before
    assert keeper.ids() == ["a"]


def test_a_store_of_a_newer_version_is_refused(home: Path, store: SqliteStore) -> None:
    """A file that a newer version wrote is left unchanged, and the message names it and the solution."""
    store.disconnect()
    with closing(sqlite3.connect(home / "sessions.db")) as db:
        db.execute(f"PRAGMA user_version = {LATEST + 1}")
    with pytest.raises(InvalidArgument, match=rf"sessions\.db has version {LATEST + 1}.*Update"):
        SqliteStore(home)
    assert pragma(home / "sessions.db", "user_version") == LATEST + 1


def test_a_damaged_store_file_is_refused_by_its_path_and_kept(home: Path) -> None:
    """A file that is no database is refused by its path, and kept."""
    home.mkdir()
    (home / "sessions.db").write_bytes(b"not a database " * 100)
    with pytest.raises(InvalidArgument, match=r"sessions\.db cannot be used: file is not a database"):
        SqliteStore(home)
    assert (home / "sessions.db").read_bytes().startswith(b"not a database")


def test_a_home_that_is_not_a_folder_is_refused_by_its_path(tmp_path: Path) -> None:
    """A home that is no folder is refused by its path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidArgument, match=r"sessions\.db cannot be used.*setting home"):
        SqliteStore(tmp_path / "file")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_only_the_user_can_read_the_store(home: Path, keeper: Keeper) -> None:
    """Records name the addresses of sessions: home is 0700, and every file of the store 0600."""
    keeper.start("a")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*") if path.is_file()}
    assert set(modes.values()) == {0o600}, modes


def test_a_new_store_can_be_opened_by_many_at_once(home: Path) -> None:
    """Sixteen threads that open a new store at once all get a usable one."""
    with ThreadPoolExecutor(16) as threads:
        stores = list(threads.map(lambda _: SqliteStore(home), range(16)))
    with ThreadPoolExecutor(16) as threads:
        ids = list(threads.map(lambda each: Keeper(each).start().id, stores))
    assert sorted(ids) == sorted(f"browser-{n}" for n in range(1, 17))
    for each in stores:
        each.disconnect()


def test_an_unreadable_record_is_reported_without_its_values(home: Path, keeper: Keeper) -> None:
    """An unknown field is named without its value."""
    keeper.start("a")
    with closing(sqlite3.connect(home / "sessions.db")) as db:
        db.execute("UPDATE sessions SET record = json_set(record, '$.tomorrow', 'hunter2')")
        db.commit()
    with pytest.raises(RecordUnreadable, match=r"'a' .*cannot be read \(tomorrow: .*Another version") as caught:
        keeper.store.get(NAMESPACE, "a")
    assert "hunter2" not in str(caught.value)
    assert [str(one) for one in keeper.store.unreadable(NAMESPACE)] == [str(caught.value)]


def test_a_database_error_is_raised_as_our_own_with_the_files_path(home: Path, keeper: Keeper) -> None:
    """An error of the file is ours, with its path, and not SQLite's."""
    with closing(sqlite3.connect(home / "sessions.db")) as db:
        db.execute("DROP TABLE tickets")
    with pytest.raises(OrchestratorError, match=r"sessions\.db is damaged: no such table"):
        keeper.reserve()
    assert keeper.ids() == []


def test_a_second_connection_of_a_process_keeps_the_log_of_the_first(home: Path, keeper: Keeper) -> None:
    """SQLite's locks are the process's: closing a handle of the file would end those of its other connections.

    Another process that closes the file would then take itself for the last one, and delete the log.
    """
    keeper.start("a")
    second = SqliteStore(home)
    script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT 1 FROM sessions'); db.close()"
    subprocess.run([sys.executable, "-c", script, str(home / "sessions.db")], check=True)
    assert (home / "sessions.db-wal").exists()
    second.disconnect()


def start_many(keeper: Keeper, number: int) -> None:
    """Start sessions."""
    for index in range(number):
        keeper.start(f"many-{index}")


def test_a_write_on_a_full_disk_says_so(tmp_path: Path) -> None:
    """On a disk without room for the reserve a write fails and says that the disk is full; reading works."""
    with mounted(tmp_path, 4_000_000):
        keeper = Keeper(SqliteStore(tmp_path / "home"))
        keeper.start("a")
        fill(tmp_path)
        with pytest.raises(StoreFailed, match=r"sessions\.db cannot be written: its disk is full\. Make room: close"):
            start_many(keeper, 1000)
        assert keeper.ids()[0] == "a"
        keeper.store.disconnect()


def test_a_filled_disk_stops_no_write_of_a_store_with_its_reserve(tmp_path: Path) -> None:
    """The log of the store got its room at the start: a thousand changes need no more."""
    with mounted(tmp_path, 8_000_000):
        keeper = Keeper(SqliteStore(tmp_path / "home"))
        keeper.start("a")
        fill(tmp_path)
        for _ in range(1000):
            keeper.store.reserve_refs(NAMESPACE, "a", 1)
        keeper.close("a")
        assert keeper.ids() == []
        keeper.store.disconnect()
