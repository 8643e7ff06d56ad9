"""Tickets: who comes first in a lane, and whose place is nobody's any more."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from orchestrator.errors import SessionLost, SessionNotFound
from orchestrator.models import SessionState
from orchestrator.store import Holder, SqliteStore, Ticket
from tests.store.helpers import NAMESPACE, Keeper, Peer, ahead


def enter(keeper: Keeper, session_id: str = "a") -> tuple[Ticket, bool]:
    """Take a place."""
    entry = keeper.store.enter(NAMESPACE, session_id, keeper.here)
    return entry.ticket, entry.first


def first(store: SqliteStore, ticket: Ticket) -> bool | None:
    """Whether this place is the first one; None when it is gone."""
    entry = store.look(ticket)
    return entry.first if entry else None


def test_places_are_in_order(keeper: Keeper) -> None:
    """Who entered first is first, until it leaves. # F12."""
    keeper.start("a")
    (one, one_first), (two, two_first), (three, _) = enter(keeper), enter(keeper), enter(keeper)
    assert (one_first, two_first) == (True, False)
    keeper.store.leave(two)
    assert not first(keeper.store, three)
    keeper.store.leave(one)
    assert first(keeper.store, three)


def test_sessions_have_lanes_of_their_own(keeper: Keeper) -> None:
    """A turn in one session is nothing to another."""
    keeper.start("a")
    keeper.start("b")
    assert enter(keeper, "a")[1]
    assert enter(keeper, "b")[1]


def test_a_start_has_the_first_place(keeper: Keeper) -> None:
    """A call that is made while the session starts comes after the start."""
    _, start = keeper.reserve("a")
    call, is_first = enter(keeper)
    assert not is_first
    keeper.store.leave(start, lambda record: record.changed(state=SessionState.ACTIVE))
    entry = keeper.store.look(call)
    assert entry
    assert (entry.first, entry.record.state) == (True, SessionState.ACTIVE)


def test_leaving_writes_the_record(keeper: Keeper) -> None:
    """Nobody sees the lane free and the record old."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    written = keeper.store.leave(ticket, lambda record: record.changed(url="https://example.org/"))
    assert written
    assert keeper.store.get(NAMESPACE, "a") == written


@pytest.mark.parametrize("killed", [True, False])
def test_a_dead_holder_is_passed_over(keeper: Keeper, peer: Callable[[str, str], Peer], *, killed: bool) -> None:
    """A process that was killed in its turn holds nobody up; a living one is waited for."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.says() == "first"
    if killed:
        other.kill()
        other.process.wait()
    assert enter(keeper)[1] is killed


def test_a_zombie_is_dead(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A killed holder whose parent does not notice is passed over as well."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.says() == "first"
    ticket, is_first = enter(keeper)
    assert not is_first
    other.kill()
    deadline = time.monotonic() + 5
    while not first(keeper.store, ticket):
        assert time.monotonic() < deadline
    assert other.process.returncode is None


def test_a_silent_holder_is_passed_over(home: Path, keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A process that is there but has not been heard of for 30 s has lost its place."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.says() == "first"
    ticket, _ = enter(keeper)
    for seconds, passed in ((29, False), (31, True)):
        later = SqliteStore(home, ticks=ahead(time.monotonic, seconds))
        assert first(later, ticket) is passed
        later.disconnect()


def test_a_beat_keeps_the_place(home: Path, keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """Whoever is heard of again has another 30 s."""
    keeper.start("a")
    other = peer("hold", "a")
    assert other.says() == "first"
    ticket, _ = enter(keeper)
    created = next(holder for holder in holders(home) if holder.pid == other.process.pid)
    later = SqliteStore(home, ticks=ahead(time.monotonic, 31))
    later.beat(created)
    assert first(later, ticket) is False
    later.disconnect()


def holders(home: Path) -> list[Holder]:
    """Who holds tickets, as the file says."""
    store = SqliteStore(home)
    with store._database.read() as db:
        found = [Holder(*row) for row in db.execute("SELECT pid, created FROM tickets")]
    store.disconnect()
    return found


def test_a_beat_from_before_the_machine_started_again_is_old(home: Path, keeper: Keeper) -> None:
    """Ticks begin anew with the machine: one from the future belongs to a process that is long gone."""
    keeper.start("a")
    parent = psutil.Process(os.getppid())
    stranger = Holder(parent.pid, parent.create_time())
    assert stranger.alive()
    future = SqliteStore(home, ticks=ahead(time.monotonic, 9_999))
    future.enter(NAMESPACE, "a", stranger)
    future.disconnect()
    assert enter(keeper)[1]


def test_closing_drops_the_lane(keeper: Keeper) -> None:
    """Who waits finds its place gone and hears why; who enters is refused."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    keeper.close("a")
    assert first(keeper.store, ticket) is None
    assert isinstance(keeper.store.refusal(ticket), SessionNotFound)
    assert keeper.store.leave(ticket, lambda record: record.changed(url="x")) is None
    with pytest.raises(SessionNotFound, match="No session: a"):
        enter(keeper)


def test_a_lost_session_takes_no_calls(keeper: Keeper) -> None:
    """Its lane is dropped, and later calls hear at once what happened."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    keeper.lose("a")
    assert first(keeper.store, ticket) is None
    assert isinstance(keeper.store.refusal(ticket), SessionLost)
    with pytest.raises(SessionLost, match="the browser crashed"):
        enter(keeper)


def test_a_late_answer_does_not_touch_the_next_session_of_that_name(keeper: Keeper) -> None:
    """A ticket belongs to one life of an id."""
    keeper.start("a")
    ticket, _ = enter(keeper)
    keeper.close("a")
    new = keeper.start("a")
    assert keeper.store.leave(ticket, lambda record: record.changed(state=SessionState.LOST)) is None
    with pytest.raises(SessionNotFound):
        keeper.store.write(ticket, lambda record: record.changed(url="x"))
    assert keeper.store.get(NAMESPACE, "a") == new


def test_a_failed_start_is_told_to_those_who_ask(keeper: Keeper) -> None:
    """A call that queued behind a start that failed hears the reason."""
    _, start = keeper.reserve("a")
    waiting, _ = enter(keeper)
    failed = {"state": SessionState.CLOSED, "lost_reason": "chromedriver is missing"}
    keeper.store.leave(start, lambda record: record.changed(**failed))
    refusal = keeper.store.refusal(waiting)
    assert str(refusal).endswith("Its start failed: chromedriver is missing. Start it again.")
