"""Lanes: order, overlap, and what a call leaves behind."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import anyio
import pytest

from orchestrator.errors import ElementNotFound, OrchestratorError, SessionLost
from orchestrator.sessions import Book, Lanes, Stopped, Turn
from orchestrator.store import SqliteStore, Ticket
from orchestrator.store.base import Change
from tests.sessions.helpers import Held, fire, in_line, places, state, until
from tests.store.helpers import Keeper

pytestmark = pytest.mark.anyio


async def test_calls_keep_their_order(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """Fifty calls fired at once run one at a time, as they came, by the times at which they began. # F12 W26 W27."""
    keeper.start("a", owner=book.caller.key)
    spans: list[tuple[int, float, float]] = []

    def work(number: int) -> Callable[[Turn], None]:
        def run(_: Turn) -> None:
            begun = time.perf_counter()
            spans.append((number, begun, time.perf_counter()))

        return run

    async with anyio.create_task_group() as group:
        for number in range(50):
            fire(group, lanes, "a", work(number))
    assert [number for number, _, _ in spans] == list(range(50))
    assert all(end <= begun for (_, _, end), (_, begun, _) in pairwise(spans))
    assert places(book.store) == 0


async def test_calls_on_different_sessions_overlap(lanes: Lanes, keeper: Keeper) -> None:
    """Four calls on four sessions are all under way at one moment. # W1 X9 X10 X11 F11 F13."""
    together = threading.Barrier(4, timeout=10)
    async with anyio.create_task_group() as group:
        calls = [fire(group, lanes, keeper.start().id, lambda _: together.wait()) for _ in range(4)]
    assert sorted(call.result for call in calls if isinstance(call.result, int)) == [0, 1, 2, 3]


async def test_any_number_of_sessions_at_once(lanes: Lanes, keeper: Keeper) -> None:
    """More sessions work at once than anyio's usual forty threads."""
    together = threading.Barrier(45, timeout=30)
    async with anyio.create_task_group() as group:
        calls = [fire(group, lanes, keeper.start().id, lambda _: together.wait()) for _ in range(45)]
    assert [call.error for call in calls if call.error] == []


async def test_the_answer_and_the_changes(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """The changes of a turn and the time of use stand in the record when the call is answered. # W34."""
    keeper.start("a")

    def work(turn: Turn) -> str:
        turn.change(url="https://example.org/")
        turn.change(title="Example", vars={"n": "1"})
        return turn.record.title or ""

    assert await lanes.run("a", work) == "Example"
    record = await book.get("a")
    assert record
    assert (record.url, record.title, record.vars) == ("https://example.org/", "Example", {"n": "1"})
    assert record.last_active_at > 0


async def test_an_error_is_the_callers(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """Work that fails gives its turn back, and what it changed is kept."""
    keeper.start("a")

    def work(turn: Turn) -> None:
        turn.change(events=("a dialog was dismissed",))
        raise ElementNotFound("Nothing matched.")

    with pytest.raises(ElementNotFound, match="Nothing matched"):
        await lanes.run("a", work)
    record = await book.get("a")
    assert record
    assert record.events == ("a dialog was dismissed",)
    assert places(book.store) == 0


async def test_a_change_that_is_no_record_is_refused_at_once(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """The work that made it hears so, and the lane goes on."""
    keeper.start("a")
    with pytest.raises(ValueError, match="titel"):
        await lanes.run("a", lambda turn: turn.change(titel="x"))
    assert await lanes.run("a", lambda _: "next") == "next"
    assert places(book.store) == 0


async def test_what_must_be_known_at_once(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """A turn can write before it ends, and set ref numbers apart; the changes at its end undo neither."""
    keeper.start("a")

    def work(turn: Turn) -> tuple[int, int]:
        turn.change(url="about:blank")
        turn.write(title="now")
        record = book.store.get(book.namespace, "a")
        assert record
        assert (record.title, record.url) == ("now", None)
        turn.refs(10)
        return turn.refs(5)

    assert await lanes.run("a", work) == (11, 16)
    record = await book.get("a")
    assert record
    assert (record.title, record.url, record.ref_next) == ("now", "about:blank", 16)


async def test_a_waiting_call_that_is_cancelled(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """It leaves the queue without having run, and the one behind it moves up."""
    keeper.start("a")
    ran: list[str] = []
    held = Held()
    async with anyio.create_task_group() as group:
        fire(group, lanes, "a", held)
        await held.has_begun()
        cancelled = fire(group, lanes, "a", lambda _: ran.append("cancelled"))
        behind = fire(group, lanes, "a", lambda _: ran.append("behind"))
        await in_line(book, 3)
        cancelled.scope.cancel()
        await cancelled.end()
        await in_line(book, 2)
        held.let.set()
        await behind.end()
    assert ran == ["behind"]


async def test_a_running_call_that_is_cancelled(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """Its caller goes at once, its work is told to stop, and the lane passes on only when it has."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        cancelled = fire(group, lanes, "a", held)
        await held.has_begun()
        behind = fire(group, lanes, "a")
        await in_line(book, 2)
        cancelled.scope.cancel()
        await cancelled.end()
        assert held.turn
        assert held.turn.stop.is_set()
        with pytest.raises(Stopped):
            held.turn.check()
        assert not behind.ended.is_set()
        assert places(book.store) == 2
        held.let.set()
        await behind.end()
    assert behind.error is None


async def test_asyncios_own_cancellation(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """A script that uses asyncio.wait_for leaves nothing in the lane either."""
    keeper.start("a")
    held = Held()
    call = asyncio.ensure_future(lanes.run("a", held))
    await held.has_begun()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(call, 0.01)
    held.let.set()
    await in_line(book, 0)
    assert await lanes.run("a", lambda _: "next") == "next"


async def test_a_call_cancelled_before_it_began(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """However early the caller goes, no ticket stays."""
    keeper.start("a")
    for _ in range(20):
        with anyio.move_on_after(0):
            await lanes.run("a", lambda _: None)
    assert await lanes.run("a", lambda _: "next") == "next"
    assert places(book.store) == 0


async def test_lanes_that_end(book: Book, keeper: Keeper) -> None:
    """When the server ends running work is told to stop and is not waited for, and every caller is answered."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as callers:
        async with anyio.create_task_group() as group:
            lanes = Lanes(book, group)
            running = fire(callers, lanes, "a", held)
            await held.has_begun()
            waiting = fire(callers, lanes, "a")
            await in_line(book, 2)
            group.cancel_scope.cancel()
        await running.end()
        await waiting.end()
        assert held.turn
        assert held.turn.stop.is_set()
        assert isinstance(running.error, OrchestratorError)
        assert isinstance(waiting.error, OrchestratorError)
        held.let.set()
    await in_line(book, 0)
    assert state(book, "a") == "active"


class Forgetful(SqliteStore):
    """A store whose file fails when a turn is given back."""

    failures = 0

    def leave(self, ticket: Ticket, change: Change | None = None) -> object:  # type: ignore[override]
        """Fail as often as it should."""
        if self.failures:
            self.failures -= 1
            raise OrchestratorError("The store failed: disk I/O error.")
        return super().leave(ticket, change)


async def test_a_turn_that_could_not_be_given_back(store: SqliteStore, keeper: Keeper, book: Book) -> None:
    """The caller hears of the store's failure, and the next call gives that turn back first."""
    keeper.start("a")
    book.store = forgetful = Forgetful(store._database.path.parent)
    async with anyio.create_task_group() as group:
        lanes = Lanes(book, group)
        forgetful.failures = 1
        with pytest.raises(OrchestratorError, match="disk I/O error"):
            await lanes.run("a", lambda _: None)
        assert places(store) == 1
        assert await lanes.run("a", lambda _: "next") == "next"
        assert places(store) == 0
    forgetful.disconnect()


async def test_a_call_that_lost_its_place(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """A waiting call whose process was taken for dead queues again."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a", lambda _: "served")
        await in_line(book, 2)
        with book.store._database.write() as db:
            db.execute("DELETE FROM tickets")
        held.let.set()
        await waiting.end()
    assert waiting.result == "served"


async def test_work_that_finds_the_session_lost(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """When the remote end no longer knows the session, those who wait hear it, and so do later calls."""
    keeper.start("a")
    held = Held()

    def work(turn: Turn) -> None:
        held(turn)
        raise SessionLost("a", "the remote end no longer knows it")

    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", work)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(book, 2)
        held.let.set()
        await running.end()
        await waiting.end()
    for error in (running.error, waiting.error):
        assert isinstance(error, SessionLost)
        assert error.message == "Session 'a' is lost: the remote end no longer knows it."
    with pytest.raises(SessionLost, match="no longer knows it"):
        await lanes.run("a", lambda _: None)
    assert state(book, "a") == "lost"
    await until(lambda: places(book.store) == 0)
