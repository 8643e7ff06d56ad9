"""Ids: which are given, which are refused, and when they are free again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.errors import InvalidArgument, SessionExists, SessionLimit
from orchestrator.ids import session_id
from orchestrator.models import SessionState, SessionType
from orchestrator.store import SqliteStore
from tests.store.helpers import Keeper, Peer


@pytest.mark.parametrize(
    "given", ["../x", "", "x" * 300, "x\n", "x\ny", "-x", "x:", ":x", "a:b:c", "a/b", "ä", "x:../y", "x" * 65]
)
def test_what_is_no_name_is_no_id(given: str) -> None:
    """An id that could be a path or a line break is refused before anything is touched."""
    with pytest.raises(InvalidArgument):
        session_id(given)


def test_the_default_context_is_the_instance() -> None:
    """`x:default` and `x` are one session. # F1 F10."""
    assert session_id("x:default") == session_id("x") == "x"


def test_ids_count_up(keeper: Keeper) -> None:
    """Without a name sessions are browser-1, browser-2, each type for itself. # W8 W9."""
    given = [keeper.reserve()[0].id, keeper.reserve()[0].id, keeper.reserve(type_=SessionType.IOS)[0].id]
    assert given == ["browser-1", "browser-2", "ios-1"]


def test_a_closed_number_is_not_given_again_at_once(keeper: Keeper) -> None:
    """While another session is open the count goes on, so that an old id never means a new session."""
    keeper.start()
    keeper.start()
    keeper.close("browser-1")
    assert keeper.start().id == "browser-3"


def test_the_count_starts_again(keeper: Keeper) -> None:
    """With no session of the namespace left the next one is browser-1 again."""
    keeper.start()
    keeper.start()
    keeper.close("browser-1")
    keeper.close("browser-2")
    assert keeper.start().id == "browser-1"


def test_any_session_left_keeps_the_count(keeper: Keeper) -> None:
    """A session of another type, even a lost one, is a session that is left."""
    keeper.start()
    keeper.start("other")
    keeper.lose("other")
    keeper.close("browser-1")
    assert keeper.start().id == "browser-2"


def test_a_number_in_use_as_a_name_is_skipped(keeper: Keeper) -> None:
    """Who calls a session browser-1 keeps it."""
    keeper.start("browser-1")
    assert keeper.start().id == "browser-2"


def test_namespaces_count_for_themselves(keeper: Keeper) -> None:
    """One namespace's ids say nothing about another's. # O14."""
    keeper.start()
    assert keeper.start(namespace="another").id == "browser-1"


@pytest.mark.parametrize("state", [SessionState.STARTING, SessionState.ACTIVE, SessionState.LOST])
def test_a_live_id_cannot_be_opened_again(keeper: Keeper, state: SessionState) -> None:
    """An id is taken from its reservation until it is closed, and the refusal says by what. # W49 X22."""
    if state is SessionState.STARTING:
        keeper.reserve("test")
    else:
        keeper.start("test")
    if state is SessionState.LOST:
        keeper.lose("test")
    with pytest.raises(SessionExists, match=rf"Session 'test' already exists \({state}\)"):
        keeper.reserve("test")


def test_a_closed_id_is_free_again(keeper: Keeper) -> None:
    """What was remembered of its former life is gone then."""
    keeper.start("test")
    keeper.close("test")
    record, _ = keeper.reserve("test")
    assert record.remote_session_id == ""
    assert keeper.ids() == ["test"]


def test_two_processes_that_want_one_id(keeper: Keeper, store: SqliteStore, peer: Callable[[str, str], Peer]) -> None:
    """Of two starts of one id at once one wins, and the other is told that it exists. # W49 X22."""
    racers = [peer("reserve", "test"), peer("reserve", "test")]
    assert [racer.says() for racer in racers] == ["ready", "ready"]
    for racer in racers:
        racer.go_on()
    assert sorted(racer.says() for racer in racers) == ["reserved", "session_exists"]
    assert keeper.ids() == ["test"]
    assert store.get("project", "test")


def test_the_limit(keeper: Keeper) -> None:
    """One session more than max_sessions is refused with the open ids, and nothing is reserved. # W46."""
    keeper.start("a")
    keeper.start("b")
    with pytest.raises(SessionLimit, match="Open sessions: a, b"):
        keeper.reserve(max_sessions=2)
    assert keeper.ids() == ["a", "b"]
    keeper.close("a")
    assert keeper.reserve(max_sessions=2)
