"""Ids: their choice, refusal, and reuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.errors import InvalidArgument, SessionExists, SessionLimit
from orchestrator.models.identifiers import normalize_session_id
from orchestrator.models.session import SessionState, SessionType
from orchestrator.sessions.store.sqlite import SqliteStore
from tests.sessions.store.helpers import Keeper, Peer


@pytest.mark.parametrize(
    "given", ["../x", "", "x" * 300, "x\n", "x\ny", "-x", "x:", ":x", "a:b:c", "a/b", "ä", "x:../y", "x" * 65]
)
def test_an_invalid_session_id_is_refused(given: str) -> None:
    """An id that could be a path or a line break is refused before anything is touched."""
    with pytest.raises(InvalidArgument):
        normalize_session_id(given)


def test_the_id_of_a_default_context_is_that_of_its_instance() -> None:  # F2
    """`x:default` and `x` are one session."""
    assert normalize_session_id("x:default") == normalize_session_id("x") == "x"


def test_unnamed_sessions_are_numbered_per_type(keeper: Keeper) -> None:  # W15 W16
    """Without a name sessions are browser-1, browser-2, each type for itself."""
    given = [keeper.reserve()[0].id, keeper.reserve()[0].id, keeper.reserve(type_=SessionType.IOS)[0].id]
    assert given == ["browser-1", "browser-2", "ios-1"]


def test_a_closed_sessions_number_is_not_reused_while_another_session_is_open(keeper: Keeper) -> None:
    """The count continues while another session is open, so that an old id never means a new session."""
    keeper.start()
    keeper.start()
    keeper.close("browser-1")
    assert keeper.start().id == "browser-3"


def test_session_numbers_restart_when_no_session_is_left(keeper: Keeper) -> None:
    """With no session of the namespace left the next one is browser-1 again."""
    keeper.start()
    keeper.start()
    keeper.close("browser-1")
    keeper.close("browser-2")
    assert keeper.start().id == "browser-1"


def test_a_lost_session_keeps_session_numbers_from_restarting(keeper: Keeper) -> None:
    """A session that is left in the namespace, even a lost one, keeps the count going."""
    keeper.start()
    keeper.start("other")
    keeper.lose("other")
    keeper.close("browser-1")
    assert keeper.start().id == "browser-2"


def test_a_session_number_already_used_as_a_name_is_skipped(keeper: Keeper) -> None:
    """A session that was named browser-1 keeps that id."""
    keeper.start("browser-1")
    assert keeper.start().id == "browser-2"


def test_each_namespace_numbers_its_own_sessions(keeper: Keeper) -> None:  # O14
    """A namespace's ids do not affect another's."""
    keeper.start()
    assert keeper.start(namespace="another").id == "browser-1"


@pytest.mark.parametrize("state", [SessionState.STARTING, SessionState.ACTIVE, SessionState.LOST])
def test_a_session_id_in_use_is_refused(keeper: Keeper, state: SessionState) -> None:  # W49 X22
    """An id is taken from its reservation until it is closed, and the refusal names the session."""
    if state is SessionState.STARTING:
        keeper.reserve("test")
    else:
        keeper.start("test")
    if state is SessionState.LOST:
        keeper.lose("test")
    with pytest.raises(SessionExists, match=rf"Session 'test' already exists \({state}\)"):
        keeper.reserve("test")


def test_a_closed_session_id_can_be_used_again(keeper: Keeper) -> None:
    """A session that reuses a closed id has nothing of the former session's record."""
    keeper.start("test")
    keeper.close("test")
    record, _ = keeper.reserve("test")
    assert record.remote_session_id == ""
    assert keeper.ids() == ["test"]


def test_only_one_of_two_processes_can_reserve_the_same_session_id(
    keeper: Keeper, store: SqliteStore, peer: Callable[[str, str], Peer]
) -> None:  # W49 X22
    """Of two starts of one id at once one succeeds, and the other is refused with session_exists."""
    racers = [peer("reserve", "test"), peer("reserve", "test")]
    assert [racer.next_word() for racer in racers] == ["ready", "ready"]
    for racer in racers:
        racer.go_on()
    assert sorted(racer.next_word() for racer in racers) == ["reserved", "session_exists"]
    assert keeper.ids() == ["test"]
    assert store.get("project", "test")


def test_a_session_beyond_max_sessions_is_refused(keeper: Keeper) -> None:
    """A session over max_sessions is refused with the open ids, and nothing is reserved."""
    keeper.start("a")
    keeper.start("b")
    with pytest.raises(SessionLimit, match="Open sessions: a, b"):
        keeper.reserve(max_sessions=2)
    assert keeper.ids() == ["a", "b"]
    keeper.close("a")
    assert keeper.reserve(max_sessions=2)
