"""Lanes of several processes: one queue, whoever stands in it and however it dies."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import anyio
import anyio.to_thread
import psutil
import pytest

from orchestrator.errors import SessionLost, SessionNotFound
from orchestrator.models import ProcessInfo, SessionState
from orchestrator.sessions import Book, Lanes, Turn
from tests.e2e.harness import in_time
from tests.sessions.helpers import Held, fire, in_line, state, until
from tests.store.helpers import NAMESPACE, Keeper, Peer

pytestmark = pytest.mark.anyio

Start = Callable[[str, str], Peer]


async def said(peer: Peer, word: str) -> None:
    """Wait for another process's word."""
    assert await anyio.to_thread.run_sync(peer.says) == word


async def test_another_process_is_waited_for(lanes: Lanes, book: Book, keeper: Keeper, peer: Start) -> None:
    """A call runs after another process's turn, and that process's next one after ours. # F12 W26."""
    keeper.start("a")
    other = peer("hold", "a")
    await said(other, "first")
    held = Held()
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", held)
        await in_line(book, 2)
        assert not held.begun.is_set()
        behind = peer("hold", "a")
        await said(behind, "waiting")
        other.go_on()
        await held.has_begun()
        held.let.set()
        await call.end()
    assert call.result == "answer"


@pytest.mark.parametrize("dead", [True, False])
async def test_a_process_that_dies_in_its_turn(
    lanes: Lanes, book: Book, keeper: Keeper, peer: Start, *, dead: bool
) -> None:
    """A call that waits for a process which is then killed gets its turn."""
    keeper.start("a")
    other = peer("hold", "a")
    await said(other, "first")
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", lambda _: "served")
        await in_line(book, 2)
        if dead:
            other.kill()
        else:
            other.go_on()
        await call.end()
    assert call.result == "served"


async def test_another_process_closes(lanes: Lanes, book: Book, keeper: Keeper, peer: Start) -> None:
    """The running call and those that wait here are answered, though the work hangs."""
    keeper.start("a")
    other = peer("close", "a")
    await said(other, "ready")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(book, 2)
        other.go_on()
        await running.end()
        await waiting.end()
        held.let.set()
    assert isinstance(running.error, SessionLost)
    assert isinstance(waiting.error, SessionNotFound)


async def test_a_start_whose_process_died(lanes: Lanes, book: Book, peer: Start) -> None:
    """A call behind such a start hears that the session is lost; it can be closed."""
    other = peer("starting", "a")
    await anyio.to_thread.run_sync(other.says)
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a")
        await in_line(book, 2)
        other.kill()
        await call.end()
    assert isinstance(call.error, SessionLost)
    assert "the server that was starting it ended" in str(call.error)
    assert state(book, "a") == "lost"
    assert await lanes.close("a")


async def test_a_holder_is_heard_of(book: Book, keeper: Keeper) -> None:
    """While a call runs its process says so, again and again."""
    keeper.start("a")
    held = Held()

    def beat() -> float:
        with book.store._database.read() as db:
            return float(db.execute("SELECT beat FROM tickets").fetchone()[0])

    async with anyio.create_task_group() as group:
        fire(group, Lanes(book, group, beat_every=0.01), "a", held)
        await held.has_begun()
        before = beat()
        await until(lambda: beat() > before)
        again = beat()
        await until(lambda: beat() > again)
        held.let.set()


@pytest.fixture
def browser(keeper: Keeper) -> subprocess.Popen[bytes]:
    """A process that session `a` needs."""
    keeper.start("a")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    info = ProcessInfo(pid=child.pid, created=psutil.Process(child.pid).create_time(), name="chromium")
    keeper.store.update(NAMESPACE, "a", lambda record: record.changed(processes=(info,)))
    return child


def reap(child: subprocess.Popen[bytes]) -> None:
    """Let go of a killed process."""
    child.kill()
    child.communicate()


async def test_a_browser_killed_in_mid_call(
    lanes: Lanes, book: Book, keeper: Keeper, browser: subprocess.Popen[bytes]
) -> None:
    """Work that hangs on a killed browser is answered with `session_lost` within 2 s; closing clears it."""
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(book, 2)
        killed = time.monotonic()
        reap(browser)
        await running.end()
        await waiting.end()
        assert time.monotonic() - killed < in_time(2)
        held.let.set()
    for error in (running.error, waiting.error):
        assert isinstance(error, SessionLost)
        assert f"its process chromium ({browser.pid}) ended" in error.message
    assert state(book, "a") == "lost"
    assert await lanes.close("a")
    assert keeper.start("a").state is SessionState.ACTIVE


async def test_the_works_own_answer(lanes: Lanes, book: Book, browser: subprocess.Popen[bytes]) -> None:
    """Work that notices by itself within a second says it in its own words."""

    def work(turn: Turn) -> None:
        browser.wait()
        raise SessionLost(turn.record.id, "chromedriver said: tab crashed")

    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", work)
        await in_line(book, 1)
        browser.kill()
        await call.end()
    reap(browser)
    assert "tab crashed" in str(call.error)
    record = await book.get("a")
    assert record
    assert record.lost_reason == "chromedriver said: tab crashed"


async def test_a_process_that_is_not_watched(
    lanes: Lanes, book: Book, keeper: Keeper, browser: subprocess.Popen[bytes]
) -> None:
    """A start may watch its processes by itself, and replace one that died."""
    record = await book.get("a")
    assert record
    keeper.start("watched")
    keeper.store.update(NAMESPACE, "watched", lambda other: other.changed(processes=record.processes))
    unwatched, watched = Held(), Held()

    def work(turn: Turn) -> str:
        turn.watch.clear()
        return unwatched(turn)

    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", work)
        await unwatched.has_begun()
        other = fire(group, lanes, "watched", watched)
        await watched.has_begun()
        reap(browser)
        await other.end()
        assert isinstance(other.error, SessionLost)
        assert not call.ended.is_set()
        unwatched.let.set()
        watched.let.set()
        await call.end()
    assert call.result == "answer"
    assert state(book, "a") == "active"
