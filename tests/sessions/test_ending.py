"""Ending: closing and losing never queue, and a start is a call like any other."""

from __future__ import annotations

import anyio
import pytest

from orchestrator.errors import RemoteFailure, SessionLost, SessionNotFound, StartFailed
from orchestrator.models import SessionState, SessionType
from orchestrator.sessions import Book, Lanes, Turn
from tests.sessions.helpers import PATIENCE, Held, fire, in_line, places, state, until
from tests.store.helpers import Keeper

pytestmark = pytest.mark.anyio
BROWSER = SessionType.BROWSER


def activate(turn: Turn) -> str:
    """Start in no time."""
    turn.change(state=SessionState.ACTIVE, remote_session_id="remote")
    return "started"


def fail(_: Turn) -> None:
    """Do not start."""
    raise StartFailed("chromedriver is missing.")


async def test_closing_never_queues(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """The running call and those that wait are answered although the work still hangs. # W11."""
    keeper.start("a")
    keeper.start("b")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(book, 2)
        closed = await lanes.close("a")
        await running.end()
        await waiting.end()
        assert not held.let.is_set()
        assert closed
        assert closed.state is SessionState.ACTIVE
        assert str(running.error) == "Session 'a' is lost: it was closed. Its name is free: start a new one."
        assert isinstance(running.error, SessionLost)
        assert str(waiting.error).startswith("No session: a. Open sessions: b.")
        assert isinstance(waiting.error, SessionNotFound)
        assert held.turn
        with pytest.raises(SessionLost):
            held.turn.check()
        held.let.set()
    assert state(book, "a") == "closed"
    assert await lanes.close("a") is None


async def test_what_fails_when_another_server_closes_its_session_says_so(lanes: Lanes, keeper: Keeper) -> None:
    """The browser ended under the call: that is what it is told, and not how it came to notice. # W11 X23."""
    keeper.start("a")

    def work(_: Turn) -> None:
        keeper.close("a")
        raise RemoteFailure("The script failed: Failed to fetch.")

    with pytest.raises(SessionLost, match=r"Session 'a' is lost: it was closed\."):
        await lanes.run("a", work)


async def test_the_next_session_of_that_name_does_not_wait(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """Work that hangs in a closed session holds up nobody, and its late answer changes nothing."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        old = fire(group, lanes, "a", held)
        await held.has_begun()
        assert held.turn
        held.turn.change(url="https://old.example/")
        await lanes.close("a")
        await old.end()
        keeper.start("a")
        assert await lanes.run("a", lambda turn: turn.record.url) is None
        held.let.set()
    await until(lambda: places(book.store) == 0)
    record = await book.get("a")
    assert record
    assert (record.state, record.url) == (SessionState.ACTIVE, None)


async def test_closing_what_is_in_use_only_if(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """A session at work is not idle: the condition is asked when it would be closed. # X28 W47."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        assert await lanes.close("a", when=lambda _, in_use: not in_use) is None
        assert not running.ended.is_set()
        held.let.set()
        await running.end()
    assert running.result == "answer"
    assert await lanes.close("a", when=lambda _, in_use: not in_use)
    assert state(book, "a") == "closed"


async def test_losing_never_queues(lanes: Lanes, book: Book, keeper: Keeper) -> None:
    """All calls under way get `session_lost` at once, later ones before they take a place."""
    record = keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(book, 2)
        await lanes.lost(record, "chromedriver did not answer within 30 s")
        await running.end()
        await waiting.end()
        with pytest.raises(SessionLost, match="did not answer within 30 s"):
            await lanes.run("a", lambda _: None)
        held.let.set()
    for error in (running.error, waiting.error):
        assert isinstance(error, SessionLost)
        assert error.message == "Session 'a' is lost: chromedriver did not answer within 30 s."
    assert state(book, "a") == "lost"
    assert await lanes.close("a")
    assert keeper.start("a").state is SessionState.ACTIVE
    await lanes.lost(record, "somebody found the first one gone")
    assert state(book, "a") == "active"


async def test_calls_queue_behind_the_start(lanes: Lanes, book: Book) -> None:
    """With `wait: false` later calls wait in the lane, and find the session started."""
    record, ticket = await book.start(BROWSER, provider="local")
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, await book.resolve(), lambda turn: turn.record.remote_session_id)
        await in_line(book, 2)
        assert not call.ended.is_set()
        assert await lanes.run(record.id, activate, ticket=ticket) == "started"
        await call.end()
    assert call.result == "remote"


async def test_calls_behind_a_start_that_fails(lanes: Lanes, book: Book) -> None:
    """They hear why, in the words of the start; the id is free."""
    record, ticket = await book.start(BROWSER, provider="local")
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, record.id)
        await in_line(book, 2)
        with pytest.raises(StartFailed):
            await lanes.run(record.id, fail, ticket=ticket)
        await call.end()
    assert isinstance(call.error, SessionNotFound)
    assert call.error.hint == "Its start failed: chromedriver is missing. Start it again."
    assert await book.rows() == ([], None)


async def test_a_start_that_does_not_become_active(lanes: Lanes, book: Book) -> None:
    """Work that returns without a session has not started one."""
    record, ticket = await book.start(BROWSER, "a", provider="local")
    await lanes.run(record.id, lambda _: None, ticket=ticket)
    assert state(book, "a") == "closed"


async def test_a_start_that_is_closed(lanes: Lanes, book: Book) -> None:
    """Closing stops a start, which cannot write its session any more and has to end what it began."""
    record, ticket = await book.start(BROWSER, "a", provider="local")
    held, refused = Held(), anyio.Event()

    def work(turn: Turn) -> None:
        held.turn = turn
        held.begun.set()
        assert held.let.wait(PATIENCE)
        try:
            turn.write(state=SessionState.ACTIVE)
        except SessionNotFound:
            anyio.from_thread.run_sync(refused.set)
            raise

    async def start() -> None:
        with pytest.raises(SessionLost, match="it was closed"):
            await lanes.run(record.id, work, ticket=ticket)

    async with anyio.create_task_group() as group:
        group.start_soon(start)
        await held.has_begun()
        assert await lanes.close("a")
        held.let.set()
        await refused.wait()
    assert state(book, "a") == "closed"


async def test_a_start_that_is_cancelled(lanes: Lanes, book: Book) -> None:
    """Before or while it works, its id is free afterwards."""
    for before in (True, False):
        record, ticket = await book.start(BROWSER, "a", provider="local")
        held = Held()
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                if before:
                    scope.cancel()
                else:
                    group.start_soon(_cancel_when, held, scope)
                await lanes.run(record.id, held, ticket=ticket)
        await until(lambda: state(book, "a") == "closed")
        assert places(book.store) == 0


async def _cancel_when(held: Held, scope: anyio.CancelScope) -> None:
    await held.has_begun()
    scope.cancel()
    held.let.set()
