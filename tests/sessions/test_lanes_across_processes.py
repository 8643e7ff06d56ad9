"""Lanes of several processes: one queue, also after the death of a process in it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import anyio
import anyio.to_thread
import psutil
import pytest

from orchestrator.errors import SessionLost, SessionNotFound, TurnLost
from orchestrator.models.session import ProcessInfo, SessionState
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.turn import Turn
from tests.e2e.harness import in_time
from tests.sessions.helpers import Held, fire, in_line, state
from tests.sessions.store.helpers import NAMESPACE, Keeper, Peer
from tests.waiting import PATIENCE, until_async

pytestmark = pytest.mark.anyio

Start = Callable[[str, str], Peer]


async def expect_word(peer: Peer, word: str) -> None:
    """Wait for another process's word."""
    assert await anyio.to_thread.run_sync(peer.next_word) == word


async def test_calls_of_two_processes_on_one_session_take_turns(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper, peer: Start
) -> None:  # F12
    """A call runs after another process's turn, and that process's next one after ours."""
    keeper.start("a")
    other = peer("hold", "a")
    await expect_word(other, "first")
    held = Held()
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", held)
        await in_line(registry, 2)
        assert not held.begun.is_set()
        behind = peer("hold", "a")
        await expect_word(behind, "waiting")
        other.go_on()
        await held.has_begun()
        held.let.set()
        await call.end()
    assert call.result == "answer"


async def test_a_turn_whose_place_was_given_away_sends_and_writes_nothing_more(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """Its checks and writes are refused after a standstill, its result is an error, and no change of it is kept."""
    keeper.start("a")
    refused: list[TurnLost] = []

    def work(turn: Turn) -> str:
        turn.change(title="of the lost turn")
        with registry.store._database.write() as db:
            db.execute("DELETE FROM tickets")  # as another process does after 30 s without a heartbeat
        since = time.monotonic()
        while time.monotonic() < since + 1.5:
            pass
        for attempt in (turn.check, turn.check_place, lambda: turn.write(url="of the lost turn"), turn.check):
            with pytest.raises(TurnLost) as lost:
                attempt()
            refused.append(lost.value)
        return "answer"

    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", work)
        await call.end()
    assert len(refused) == 4
    assert isinstance(call.error, TurnLost)
    record = await registry.get("a")
    assert record
    assert (record.title, record.url) == (None, None)


@pytest.mark.parametrize("dead", [True, False])
async def test_a_waiting_call_gets_its_turn_when_the_process_ahead_ends_or_is_killed(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper, peer: Start, *, dead: bool
) -> None:
    """A waiting call gets its turn whether the process ahead finishes or is killed."""
    keeper.start("a")
    other = peer("hold", "a")
    await expect_word(other, "first")
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", lambda _: "served")
        await in_line(registry, 2)
        if dead:
            other.kill()
        else:
            other.go_on()
        await call.end()
    assert call.result == "served"


async def test_a_close_by_another_process_answers_running_and_waiting_calls(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper, peer: Start
) -> None:
    """The running call and those that wait here are answered, though the work hangs."""
    keeper.start("a")
    other = peer("close", "a")
    await expect_word(other, "ready")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(registry, 2)
        other.go_on()
        await running.end()
        await waiting.end()
        held.let.set()
    assert isinstance(running.error, SessionLost)
    assert isinstance(waiting.error, SessionNotFound)


async def test_a_session_is_lost_when_the_process_that_starts_it_dies(
    lanes: Lanes, registry: SessionRegistry, peer: Start
) -> None:
    """A call behind the start fails since the session is lost; closing the session works."""
    other = peer("starting", "a")
    await anyio.to_thread.run_sync(other.next_word)
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a")
        await in_line(registry, 2)
        other.kill()
        await call.end()
    assert isinstance(call.error, SessionLost)
    assert "the server that was starting it ended" in str(call.error)
    assert state(registry, "a") == "lost"
    assert await lanes.close("a")


async def test_a_running_call_renews_its_heartbeat(registry: SessionRegistry, keeper: Keeper) -> None:
    """The ticket of a running call gets a new heartbeat again and again."""
    keeper.start("a")
    held = Held()

    def beat() -> float:
        with registry.store._database.read() as db:
            return float(db.execute("SELECT beat FROM tickets").fetchone()[0])

    async with anyio.create_task_group() as group:
        fire(group, Lanes(registry, group, beat_every=0.01), "a", held)
        await held.has_begun()
        before = beat()
        await until_async(lambda: beat() > before, "a heartbeat")
        again = beat()
        await until_async(lambda: beat() > again, "another heartbeat")
        held.let.set()


@pytest.fixture
def browser(keeper: Keeper) -> subprocess.Popen[bytes]:
    """A process that session `a` depends on."""
    keeper.start("a")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    info = ProcessInfo(pid=child.pid, created=psutil.Process(child.pid).create_time(), name="chromium")
    keeper.store.update(NAMESPACE, "a", lambda record: record.with_changes(processes=(info,)))
    return child


def reap(child: subprocess.Popen[bytes]) -> None:
    """Reap a killed process."""
    child.kill()
    child.communicate()


async def kill_under_calls(
    lanes: Lanes, registry: SessionRegistry, browser: subprocess.Popen[bytes]
) -> tuple[float, list[BaseException | None]]:
    """Kill the browser under a running and a waiting call; return the seconds until their end, and their errors."""
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(registry, 2)
        killed = time.monotonic()
        reap(browser)
        await running.end()
        await waiting.end()
        took = time.monotonic() - killed
        held.let.set()
    return took, [running.error, waiting.error]


async def test_a_call_on_a_killed_browser_gets_session_lost(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper, browser: subprocess.Popen[bytes]
) -> None:
    """Work that hangs on a killed browser is answered with `session_lost`; closing clears it."""
    _, errors = await kill_under_calls(lanes, registry, browser)
    for error in errors:
        assert isinstance(error, SessionLost)
        assert f"its process chromium ({browser.pid}) ended" in error.message
    assert state(registry, "a") == "lost"
    assert await lanes.close("a")
    assert keeper.start("a").state is SessionState.ACTIVE


@pytest.mark.clock
async def test_a_call_on_a_killed_browser_is_answered_within_two_seconds(
    lanes: Lanes, registry: SessionRegistry, browser: subprocess.Popen[bytes]
) -> None:
    """Calls that run or wait on a killed browser have their answers within 2 s."""
    took, _ = await kill_under_calls(lanes, registry, browser)
    assert took < in_time(2)


async def test_work_that_notices_its_lost_browser_reports_its_own_reason(
    lanes: Lanes, registry: SessionRegistry, browser: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that detects the loss itself, in the time that it has for that, reports its own reason."""
    monkeypatch.setattr("orchestrator.sessions.lanes._LAST_WORD", PATIENCE)

    def work(turn: Turn) -> None:
        browser.wait()
        raise SessionLost(turn.record.id, "chromedriver said: tab crashed")

    async with anyio.create_task_group() as group:
        call = fire(group, lanes, "a", work)
        await in_line(registry, 1)
        browser.kill()
        await call.end()
    reap(browser)
    assert "tab crashed" in str(call.error)
    record = await registry.get("a")
    assert record
    assert record.lost_reason == "chromedriver said: tab crashed"


async def test_a_call_survives_the_death_of_a_process_that_it_does_not_watch(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper, browser: subprocess.Popen[bytes]
) -> None:
    """A start may watch its processes itself, and replace one that died."""
    record = await registry.get("a")
    assert record
    keeper.start("watched")
    keeper.store.update(NAMESPACE, "watched", lambda other: other.with_changes(processes=record.processes))
    unwatched, watched = Held(), Held()

    def work(turn: Turn) -> str:
        turn.watched_processes.clear()
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
    assert state(registry, "a") == "active"
