"""Ending: closing and losing never queue, and a start is a call like any other."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from orchestrator import Orchestrator
from orchestrator.errors import RemoteFailure, SessionLost, SessionNotFound, StartFailed
from orchestrator.models.session import SessionState, SessionType
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from tests.sessions.helpers import Held, fire, in_line, places, state
from tests.sessions.store.helpers import NAMESPACE, Keeper
from tests.waiting import PATIENCE, until_async

pytestmark = pytest.mark.anyio
BROWSER = SessionType.BROWSER


def activate(turn: Turn) -> str:
    """Start immediately."""
    turn.change(state=SessionState.ACTIVE, remote_session_id="remote")
    return "started"


def fail(_: Turn) -> None:
    """Fail the start."""
    raise StartFailed("chromedriver is missing.")


async def test_closing_a_session_answers_its_running_and_waiting_calls_at_once(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:  # W11
    """The running call and those that wait are answered although the work still hangs."""
    keeper.start("a")
    keeper.start("b")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(registry, 2)
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
    assert state(registry, "a") == "closed"
    assert await lanes.close("a") is None


async def test_a_call_that_fails_after_another_server_closed_its_session_says_so(
    lanes: Lanes, keeper: Keeper
) -> None:  # W11 X23
    """A call whose session another server closed reports that, not the failure that it met."""
    keeper.start("a")

    def work(_: Turn) -> None:
        keeper.close("a")
        raise RemoteFailure("The script failed: Failed to fetch.")

    with pytest.raises(SessionLost, match=r"Session 'a' is lost: it was closed\."):
        await lanes.run_turn("a", work)


async def test_work_that_hangs_in_a_closed_session_does_not_delay_the_next_of_its_name(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """Work that hangs in a closed session delays no other, and its late answer changes nothing."""
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
        assert await lanes.run_turn("a", lambda turn: turn.record.url) is None
        held.let.set()
    await until_async(lambda: places(registry.store) == 0, "empty lanes")
    record = await registry.get("a")
    assert record
    assert (record.state, record.url) == (SessionState.ACTIVE, None)


async def test_a_conditional_close_spares_a_session_that_is_in_use(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:  # B36
    """A working session is not idle: the condition is checked at the moment of closing."""
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
    assert state(registry, "a") == "closed"


async def test_a_session_whose_storage_is_saved_at_the_moment_is_idle(home: Path, keeper: Keeper) -> None:
    """Maintenance takes a place in the lane, but is no use: close_sessions by idle_ms closes the session."""
    keeper.start("a")
    keeper.store.join_lane(NAMESPACE, "a", keeper.here, None)
    async with Orchestrator(Settings(home=home, namespace=NAMESPACE)) as orchestrator:
        assert (await orchestrator.close_sessions(idle_ms=0, detach=True)).detached == ["a"]


async def test_losing_a_session_answers_all_its_calls_with_session_lost_at_once(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """All running calls get `session_lost` at once, later ones before they take a place."""
    record = keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(registry, 2)
        await lanes.mark_lost(record, "chromedriver did not answer within 30 s")
        await running.end()
        await waiting.end()
        with pytest.raises(SessionLost, match="did not answer within 30 s"):
            await lanes.run_turn("a", lambda _: None)
        held.let.set()
    for error in (running.error, waiting.error):
        assert isinstance(error, SessionLost)
        assert error.message == "Session 'a' is lost: chromedriver did not answer within 30 s."
    assert state(registry, "a") == "lost"
    assert await lanes.close("a")
    assert keeper.start("a").state is SessionState.ACTIVE
    await lanes.mark_lost(record, "somebody found the first one gone")
    assert state(registry, "a") == "active"


async def test_calls_queue_behind_a_session_start(lanes: Lanes, registry: SessionRegistry) -> None:
    """With `wait: false` later calls wait in the lane, and find the session started."""
    record, ticket = await registry.reserve_session(BROWSER, provider="local")
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, await registry.resolve(), lambda turn: turn.record.remote_session_id)
        await in_line(registry, 2)
        assert not call.ended.is_set()
        assert await lanes.run_turn(record.id, activate, ticket=ticket) == "started"
        await call.end()
    assert call.result == "remote"


async def test_calls_queued_behind_a_failed_start_report_its_reason(lanes: Lanes, registry: SessionRegistry) -> None:
    """Waiting calls fail with the reason of the start, and the id is free."""
    record, ticket = await registry.reserve_session(BROWSER, provider="local")
    async with anyio.create_task_group() as group:
        call = fire(group, lanes, record.id)
        await in_line(registry, 2)
        with pytest.raises(StartFailed):
            await lanes.run_turn(record.id, fail, ticket=ticket)
        await call.end()
    assert isinstance(call.error, SessionNotFound)
    assert call.error.hint == "Its start failed: chromedriver is missing. Start it again."
    assert await registry.list_with_current() == ([], None)


async def test_a_start_whose_work_creates_no_session_is_closed(lanes: Lanes, registry: SessionRegistry) -> None:
    """Work that returns without a session has not started one."""
    record, ticket = await registry.reserve_session(BROWSER, "a", provider="local")
    await lanes.run_turn(record.id, lambda _: None, ticket=ticket)
    assert state(registry, "a") == "closed"


async def test_closing_a_session_stops_its_start(lanes: Lanes, registry: SessionRegistry) -> None:
    """Closing stops a start, which cannot write its session any more and has to end what it began."""
    record, ticket = await registry.reserve_session(BROWSER, "a", provider="local")
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
            await lanes.run_turn(record.id, work, ticket=ticket)

    async with anyio.create_task_group() as group:
        group.start_soon(start)
        await held.has_begun()
        assert await lanes.close("a")
        held.let.set()
        await refused.wait()
    assert state(registry, "a") == "closed"


async def test_a_cancelled_start_frees_its_session_id(lanes: Lanes, registry: SessionRegistry) -> None:
    """Cancelling a start before or during its work leaves its id free."""
    for before in (True, False):
        record, ticket = await registry.reserve_session(BROWSER, "a", provider="local")
        held = Held()
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                if before:
                    scope.cancel()
                else:
                    group.start_soon(_cancel_when, held, scope)
                await lanes.run_turn(record.id, held, ticket=ticket)
        await until_async(lambda: state(registry, "a") == "closed", "a closed session")
        assert places(registry.store) == 0


async def _cancel_when(held: Held, scope: anyio.CancelScope) -> None:
    await held.has_begun()
    scope.cancel()
    held.let.set()
