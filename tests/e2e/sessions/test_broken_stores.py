"""A store on a full disk, one that another process has locked, a damaged one: what works, and what is said."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.e2e.harness import Home, in_time
from tests.e2e.stage import refused
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.servers.small_disk import fill, mounted
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(300)]

PAGE = "<title>shop</title><p>Five teas</p><button onclick=\"document.title = 'sold'\">Buy</button>"
ROOM = 300_000_000
"""Bytes of the disk that is filled: a profile of Chromium needs about 60 MB."""


@pytest.fixture
def small_disk(new_home: Callable[[], Home]) -> Iterator[Home]:
    """A home on a small disk of its own; it must be clean after the test's servers have ended."""
    home = new_home()
    with mounted(home.folder, ROOM):
        yield home
        until(home.is_clean, "a clean home")


def start(server: Served, site: Site) -> None:
    """Start a session that shows the page; a click in it proves that the page answers."""
    server.ok("start_browser", sessionId="alice", navigationUrl=site.page("/", PAGE))


def assert_reading_works(server: Served) -> None:
    """Assert that a call that only looks gets what the page shows, and a list the session."""
    assert "Five teas" in server.ok("get_text", sessionId="alice")["text"]
    assert server.ok("expect", sessionId="alice", title="shop")["title"] == "shop"


def test_on_a_full_disk_every_call_of_a_session_works(small_disk: Home, site: Site) -> None:
    """The log of the store got its room at the start: reading, acting and closing go on, and closing frees the disk."""
    with small_disk.serve() as server:
        start(server, site)
        fill(small_disk.folder)
        for _ in range(30):
            assert_reading_works(server)
        assert [row["sessionId"] for row in server.ok("list_sessions")["sessions"]] == ["alice"]
        server.ok("click_element", sessionId="alice", selector="text=Buy")
        assert server.ok("close_session", sessionId="alice")["closed"] == ["alice"]
        assert small_disk.records() == []
        until(small_disk.is_clean, "the end of the browser")


@contextmanager
def locked(home: Home) -> Iterator[None]:
    """Lock the store like another process, for the block."""
    with closing(sqlite3.connect(home.folder / "sessions.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def press_ten_times(server: Served) -> float:
    """Press a key, which is refused each time; return the seconds that it took."""
    began = time.monotonic()
    for _ in range(10):
        refused(server.call("press_keys", sessionId="alice", keys="a"), "remote_error")
    return time.monotonic() - began


@pytest.mark.clock
def test_only_the_first_call_waits_for_a_locked_store(home: Home, site: Site) -> None:
    """Refuses the calls after it at once, until the lock is gone."""
    with home.serve() as server:
        start(server, site)
        with locked(home):
            refused(server.call("click_element", sessionId="alice", selector="text=Buy"), "remote_error")
            assert press_ten_times(server) < in_time(30)
        server.ok("close_session", sessionId="alice")


def test_a_locked_store_is_said_to_be_and_reading_and_closing_work(home: Home, site: Site) -> None:
    """What would change the session is refused with the reason; what was ended is listed until the lock is gone."""
    with home.serve() as server:
        start(server, site)
        with locked(home):
            assert_reading_works(server)
            assert [row["sessionId"] for row in server.ok("list_sessions")["sessions"]] == ["alice"]
            text = refused(server.call("click_element", sessionId="alice", selector="text=Buy"), "remote_error")
            assert "sessions.db is locked: another process has kept it for 5 s or longer." in text
            press_ten_times(server)
            closed = server.ok("close_session", sessionId="alice")
            assert closed["closed"] == ["alice"]
            assert "alice was ended, and is still listed until its record can be written." in closed["warnings"][0]
            until(home.is_clean, "the end of the browser")
        server.ok("close_session", sessionId="alice")
        assert home.records() == []


def test_a_damaged_store_is_said_to_be_and_reading_and_closing_work(home: Home, site: Site) -> None:
    """A session that this server has used can be read and ended by what the server knows of it."""
    with home.serve() as server:
        start(server, site)
        garble(home.folder)
        assert_reading_works(server)
        text = refused(server.call("click_element", sessionId="alice", selector="text=Buy"), "remote_error")
        assert "sessions.db is damaged: " in text
        assert "sessions.db-shm away, and start anew." in text
        assert [row["sessionId"] for row in server.ok("list_sessions")["sessions"]] == ["alice"]
        assert server.ok("close_session", sessionId="alice")["closed"] == ["alice"]
        until(home.is_clean, "the end of the browser")


def garble(folder: Path) -> None:
    """Write over every file of the store in place."""
    for name in ("sessions.db", "sessions.db-wal"):
        file = folder / name
        with file.open("rb+", buffering=0) as opened:
            opened.write(b"\xa5" * file.stat().st_size)


def test_a_log_of_the_store_that_was_deleted_is_noticed(home: Home, site: Site) -> None:
    """Writes into a deleted file would be seen by no other server: nothing is written, and closing works."""
    with home.serve() as server:
        start(server, site)
        (home.folder / "sessions.db-wal").unlink()
        text = refused(server.call("click_element", sessionId="alice", selector="text=Buy"), "remote_error")
        assert "sessions.db is damaged: sessions.db-wal was removed or replaced while it was in use." in text
        listed = server.ok("list_sessions")
        assert [row["sessionId"] for row in listed["sessions"]] == ["alice"]
        assert "sessions.db is damaged: " in listed["warnings"][0]
        assert "These are the sessions that this server used, as it read them last." in listed["warnings"][0]
        assert_reading_works(server)
        assert server.ok("close_session", sessionId="alice")["closed"] == ["alice"]
        until(home.is_clean, "the end of the browser")
