"""Lanes: order, overlap, and effects of a call."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import anyio
import pytest

from orchestrator.errors import ElementNotFound, OrchestratorError, SessionLost
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Change, Ticket
from orchestrator.sessions.turn import CallCancelled, Turn
from tests.sessions.helpers import Held, fire, in_line, places, state
from tests.sessions.store.helpers import Keeper
from tests.waiting import PATIENCE, until_async

pytestmark = pytest.mark.anyio


async def test_calls_on_one_session_run_one_at_a_time_in_order(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:  # F12 W26 W27
    """Fifty calls started at once run one at a time, in order of their start."""
    keeper.start("a", owner=registry.caller.key)
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
    assert places(registry.store) == 0


async def test_calls_on_different_sessions_overlap(lanes: Lanes, keeper: Keeper) -> None:  # W1 F13 W25
    """Four calls on four sessions all run at one moment."""
    together = threading.Barrier(4, timeout=PATIENCE)
    async with anyio.create_task_group() as group:
        calls = [fire(group, lanes, keeper.start().id, lambda _: together.wait()) for _ in range(4)]
    assert sorted(call.result for call in calls if isinstance(call.result, int)) == [0, 1, 2, 3]


async def test_more_than_forty_sessions_can_work_at_once(lanes: Lanes, keeper: Keeper) -> None:
    """More sessions work at once than anyio's usual forty threads."""
    together = threading.Barrier(45, timeout=PATIENCE)
    async with anyio.create_task_group() as group:
        calls = [fire(group, lanes, keeper.start().id, lambda _: together.wait()) for _ in range(45)]
    assert [call.error for call in calls if call.error] == []


async def test_a_turns_changes_are_in_the_record_when_its_call_is_answered(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """The changes of a turn and the time of use are in the record when the call is answered."""
    keeper.start("a")

    def work(turn: Turn) -> str:
        turn.change(url="https://example.org/")
        turn.change(title="Example", vars={"n": "1"})
        return turn.record.title or ""

    assert await lanes.run_turn("a", work) == "Example"
    record = await registry.get("a")
    assert record
    assert (record.url, record.title, record.vars) == ("https://example.org/", "Example", {"n": "1"})
    assert record.last_active_at > 0


async def test_work_that_fails_frees_the_lane_and_keeps_its_changes(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """Work that fails gives its turn back, and its changes are kept."""
    keeper.start("a")

    def work(turn: Turn) -> None:
        turn.change(events=("a dialog was dismissed",))
        raise ElementNotFound("Nothing matched.")

    with pytest.raises(ElementNotFound, match="Nothing matched"):
        await lanes.run_turn("a", work)
    record = await registry.get("a")
    assert record
    assert record.events == ("a dialog was dismissed",)
    assert places(registry.store) == 0


async def test_a_change_of_an_unknown_record_field_is_refused_at_once(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """Changing a field that the record lacks raises in the work itself, and the lane continues."""
    keeper.start("a")
    with pytest.raises(ValueError, match="titel"):
        await lanes.run_turn("a", lambda turn: turn.change(titel="x"))
    assert await lanes.run_turn("a", lambda _: "next") == "next"
    assert places(registry.store) == 0


async def test_a_turn_can_write_to_the_record_before_it_ends(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """A turn can write before it ends, and the changes at its end do not undo that."""
    keeper.start("a")

    def work(turn: Turn) -> None:
        turn.change(url="about:blank")
        turn.write(title="now")
        record = registry.store.get(registry.namespace, "a")
        assert record
        assert (record.title, record.url) == ("now", None)

    await lanes.run_turn("a", work)
    record = await registry.get("a")
    assert record
    assert (record.title, record.url) == ("now", "about:blank")


async def test_a_cancelled_waiting_call_leaves_the_lane_without_running(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """A cancelled call leaves the queue without having run, and the one behind it moves up."""
    keeper.start("a")
    ran: list[str] = []
    held = Held()
    async with anyio.create_task_group() as group:
        fire(group, lanes, "a", held)
        await held.has_begun()
        cancelled = fire(group, lanes, "a", lambda _: ran.append("cancelled"))
        behind = fire(group, lanes, "a", lambda _: ran.append("behind"))
        await in_line(registry, 3)
        cancelled.scope.cancel()
        await cancelled.end()
        await in_line(registry, 2)
        held.let.set()
        await behind.end()
    assert ran == ["behind"]


async def test_a_cancelled_running_call_holds_the_lane_until_its_work_stops(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """The caller goes at once, the work is asked to stop, and the lane passes on only when it has."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        cancelled = fire(group, lanes, "a", held)
        await held.has_begun()
        behind = fire(group, lanes, "a")
        await in_line(registry, 2)
        cancelled.scope.cancel()
        await cancelled.end()
        assert held.turn
        assert held.turn.stop.is_set()
        with pytest.raises(CallCancelled):
            held.turn.check()
        assert not behind.ended.is_set()
        assert places(registry.store) == 2
        held.let.set()
        await behind.end()
    assert behind.error is None


async def test_a_call_cancelled_by_asyncio_wait_for_leaves_the_lane(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """A script that uses asyncio.wait_for leaves nothing in the lane either."""
    keeper.start("a")
    held = Held()
    call = asyncio.ensure_future(lanes.run_turn("a", held))
    await held.has_begun()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(call, 0.01)
    held.let.set()
    await in_line(registry, 0)
    assert await lanes.run_turn("a", lambda _: "next") == "next"


async def test_a_call_cancelled_before_it_began_leaves_no_ticket(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """However early the caller goes, no ticket stays."""
    keeper.start("a")
    for _ in range(20):
        with anyio.move_on_after(0):
            await lanes.run_turn("a", lambda _: None)
    assert await lanes.run_turn("a", lambda _: "next") == "next"
    assert places(registry.store) == 0


async def test_ending_the_lanes_stops_running_work_and_answers_every_caller(
    registry: SessionRegistry, keeper: Keeper
) -> None:
    """At the server's end running work is asked to stop, but not waited for, and every caller gets an answer."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as callers:
        async with anyio.create_task_group() as group:
            lanes = Lanes(registry, group)
            running = fire(callers, lanes, "a", held)
            await held.has_begun()
            waiting = fire(callers, lanes, "a")
            await in_line(registry, 2)
            group.cancel_scope.cancel()
        await running.end()
        await waiting.end()
        assert held.turn
        assert held.turn.stop.is_set()
        assert isinstance(running.error, OrchestratorError)
        assert isinstance(waiting.error, OrchestratorError)
        held.let.set()
    await in_line(registry, 0)
    assert state(registry, "a") == "active"


class Forgetful(SqliteStore):
    """A store that fails when a turn is given back."""

    failures = 0

    def leave_lane(self, ticket: Ticket, change: Change | None = None) -> object:  # type: ignore[override]
        """Fail this many times."""
        if self.failures:
            self.failures -= 1
            raise OrchestratorError("The store failed: disk I/O error.")
        return super().leave_lane(ticket, change)


async def test_a_turn_that_the_store_failed_to_end_is_ended_by_the_next_call(
    store: SqliteStore, keeper: Keeper, registry: SessionRegistry
) -> None:
    """A store failure at the end of a turn is reported, and the next call ends that turn first."""
    keeper.start("a")
    registry.store = forgetful = Forgetful(store._database.path.parent)
    async with anyio.create_task_group() as group:
        lanes = Lanes(registry, group)
        forgetful.failures = 1
        with pytest.raises(OrchestratorError, match="disk I/O error"):
            await lanes.run_turn("a", lambda _: None)
        assert places(store) == 1
        assert await lanes.run_turn("a", lambda _: "next") == "next"
        assert places(store) == 0
    forgetful.disconnect()


async def test_a_waiting_call_whose_ticket_was_removed_queues_again(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """A waiting call whose process was mistaken for dead queues again."""
    keeper.start("a")
    held = Held()
    async with anyio.create_task_group() as group:
        fire(group, lanes, "a", held)
        await held.has_begun()
        waiting = fire(group, lanes, "a", lambda _: "served")
        await in_line(registry, 2)
        with registry.store._database.write() as db:
            db.execute("DELETE FROM tickets")
        held.let.set()
        await waiting.end()
    assert waiting.result == "served"


async def test_a_session_found_lost_during_work_is_lost_for_waiting_and_later_calls(
    lanes: Lanes, registry: SessionRegistry, keeper: Keeper
) -> None:
    """Waiting and later calls get session_lost once the remote end no longer knows the session."""
    keeper.start("a")
    held = Held()

    def work(turn: Turn) -> None:
        held(turn)
        raise SessionLost("a", "the remote end no longer knows it")

    async with anyio.create_task_group() as group:
        running = fire(group, lanes, "a", work)
        await held.has_begun()
        waiting = fire(group, lanes, "a")
        await in_line(registry, 2)
        held.let.set()
        await running.end()
        await waiting.end()
    for error in (running.error, waiting.error):
        assert isinstance(error, SessionLost)
        assert error.message == "Session 'a' is lost: the remote end no longer knows it."
    with pytest.raises(SessionLost, match="no longer knows it"):
        await lanes.run_turn("a", lambda _: None)
    assert state(registry, "a") == "lost"
    await until_async(lambda: places(registry.store) == 0, "empty lanes")
