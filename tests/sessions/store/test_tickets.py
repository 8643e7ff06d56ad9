"""Tickets: the order in a lane, and places without a living holder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest

from orchestrator.errors import SessionLost, SessionNotFound
from orchestrator.models.session import SessionState
from orchestrator.sessions.store.sqlite import SqliteStore
from orchestrator.sessions.store.types import Holder, Ticket
from tests.sessions.store.helpers import NAMESPACE, Keeper, Peer, ahead
from tests.waiting import until


def enter(keeper: Keeper, session_id: str = "a") -> tuple[Ticket, bool]:
    """Take a place in a lane."""
    entry = keeper.store.join_lane(NAMESPACE, session_id, keeper.here)
    return entry.ticket, entry.first


def first(store: SqliteStore, ticket: Ticket) -> bool | None:
    """Return True if this place is the first one; None when it is gone."""
    entry = store.read_position(ticket)
    return entry.first if entry else None


def test_tickets_of_a_lane_are_served_in_order(keeper: Keeper) -> None:  # F12
    """The ticket that entered first is first, until it leaves."""
    keeper.start("a")
    (one, one_first), (two, two_first), (three, _) = enter(keeper), enter(keeper), enter(keeper)
    assert (one_first, two_first) == (True, False)
    keeper.store.leave_lane(two)
    assert not first(keeper.store, three)
    keeper.store.leave_lane(one)
    assert first(keeper.store, three)


def test_sessions_have_lanes_of_their_own(keeper: Keeper) -> None:
    """A turn in one session does not affect another."""
    keeper.start("a")
    keeper.start("b")
    assert enter(keeper, "a")[1]
    assert enter(keeper, "b")[1]


def test_a_call_made_during_a_session_start_waits_for_the_start(keeper: Keeper) -> None:
    """A call that is made while the session starts comes after the start."""
    _, start = keeper.reserve("a")
    call, is_first = enter(keeper)
    assert not is_first
    keeper.store.leave_lane(start, lambda record: record.with_changes(state=SessionState.ACTIVE))
    entry = keeper.store.read_position(call)
    assert entry
    assert (entry.first, entry.record.state) == (True, SessionState.ACTIVE)


def test_leaving_a_lane_writes_the_session_record(keeper: Keeper) -> None:
    """A lane is freed and its session's record written in one step."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    written = keeper.store.leave_lane(ticket, lambda record: record.with_changes(url="https://example.org/"))
    assert written
    assert keeper.store.get(NAMESPACE, "a") == written


@pytest.mark.parametrize("killed", [True, False])
def test_a_killed_lane_holder_is_passed_over_and_a_living_one_waited_for(
    keeper: Keeper, peer: Callable[[str, str], Peer], *, killed: bool
) -> None:
    """A process killed during its turn delays no other; a living one is waited for."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.next_word() == "first"
    if killed:
        other.kill()
        other.process.wait()
    assert enter(keeper)[1] is killed


def test_a_zombie_lane_holder_is_passed_over(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A killed lane holder that its parent has not reaped is passed over."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.next_word() == "first"
    ticket, is_first = enter(keeper)
    assert not is_first
    other.kill()
    until(lambda: first(keeper.store, ticket), "the first place")
    assert other.process.returncode is None


def test_a_lane_holder_without_a_heartbeat_for_30_seconds_is_passed_over(
    home: Path, keeper: Keeper, peer: Callable[[str, str], Peer]
) -> None:
    """A living process whose last heartbeat is over 30 s old has lost its place in the lane."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.next_word() == "first"
    ticket, _ = enter(keeper)
    with keeper.store._database.read() as db:
        beat = float(db.execute("SELECT min(beat) FROM tickets").fetchone()[0])
    for tick, passed in ((beat + 29, False), (beat + 31, True)):
        later = SqliteStore(home, ticks=partial(float, tick))
        assert first(later, ticket) is passed
        later.disconnect()


def test_a_heartbeat_keeps_the_place_in_a_lane(home: Path, keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A holder that sends a heartbeat keeps its place for another 30 s."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.next_word() == "first"
    ticket, _ = enter(keeper)
    created = next(holder for holder in holders(home) if holder.pid == other.process.pid)
    later = SqliteStore(home, ticks=ahead(time.monotonic, 31))
    later.beat(created)
    assert first(later, ticket) is False
    later.disconnect()


def holders(home: Path) -> list[Holder]:
    """Return the holders of tickets in the file."""
    store = SqliteStore(home)
    with store._database.read() as db:
        found = [Holder(*row) for row in db.execute("SELECT pid, created, started FROM tickets")]
    store.disconnect()
    return found


def test_a_heartbeat_from_before_a_reboot_does_not_keep_the_place_in_a_lane(home: Path, keeper: Keeper) -> None:
    """Ticks restart with the machine: a later one than now belongs to a process of an earlier boot."""
    keeper.start("a")
    parent = psutil.Process(os.getppid())
    stranger = Holder(parent.pid, parent.create_time())
    assert stranger.alive()
    future = SqliteStore(home, ticks=ahead(time.monotonic, 9_999))
    future.join_lane(NAMESPACE, "a", stranger)
    future.disconnect()
    assert enter(keeper)[1]


def test_closing_a_session_drops_its_lane(keeper: Keeper) -> None:
    """Waiting callers lose their place with the reason, and new ones are refused."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    keeper.close("a")
    assert first(keeper.store, ticket) is None
    assert isinstance(keeper.store.refusal(ticket), SessionNotFound)
    assert keeper.store.leave_lane(ticket, lambda record: record.with_changes(url="x")) is None
    with pytest.raises(SessionNotFound, match="No session: a"):
        enter(keeper)


def test_a_lost_session_refuses_calls_with_the_reason(keeper: Keeper) -> None:
    """The lane of a lost session is dropped, and later calls are refused with the reason."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    keeper.lose("a")
    assert first(keeper.store, ticket) is None
    assert isinstance(keeper.store.refusal(ticket), SessionLost)
    with pytest.raises(SessionLost, match="the browser crashed"):
        enter(keeper)


def test_a_late_answer_does_not_change_the_next_session_of_the_same_name(keeper: Keeper) -> None:
    """A ticket belongs to one life of an id."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    keeper.close("a")
    new = keeper.start("a")
    assert keeper.store.leave_lane(ticket, lambda record: record.with_changes(state=SessionState.LOST)) is None
    with pytest.raises(SessionNotFound):
        keeper.store.write(ticket, lambda record: record.with_changes(url="x"))
    assert keeper.store.get(NAMESPACE, "a") == new


def test_a_call_queued_behind_a_failed_start_gets_the_reason(keeper: Keeper) -> None:
    """A call that queued behind a start that failed is refused with the reason."""
    _, start = keeper.reserve("a")
    waiting, _ = enter(keeper)
    failed = {"state": SessionState.CLOSED, "lost_reason": "chromedriver is missing"}
    keeper.store.leave_lane(start, lambda record: record.with_changes(**failed))
    refusal = keeper.store.refusal(waiting)
    assert str(refusal).endswith("Its start failed: chromedriver is missing. Start it again.")
