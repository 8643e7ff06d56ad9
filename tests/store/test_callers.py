"""Callers: what is current for each, what each owns, and what a dead one leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.errors import NoSession, SessionNotFound
from orchestrator.models import SessionState
from tests.store.helpers import NAMESPACE, Keeper, Peer


def current(keeper: Keeper, key: str = "me") -> str | None:
    """The caller's current session."""
    return keeper.store.current(key)


def test_an_unnamed_session_becomes_current(keeper: Keeper) -> None:
    """The newest session without a name is the one that is meant next."""
    keeper.caller("me")
    keeper.start("named")
    keeper.start()
    assert current(keeper) == "browser-1"


def test_a_named_session_becomes_current_only_when_there_is_none(keeper: Keeper) -> None:
    """Of user-a and user-b the first one is current."""
    keeper.caller("me")
    keeper.start("user-a")
    keeper.start("user-b")
    assert current(keeper) == "user-a"


def test_each_caller_has_its_own(keeper: Keeper) -> None:
    """What one caller chooses is nothing to another. # X8 W19 W37."""
    keeper.caller("me")
    keeper.caller("you")
    keeper.start("mine")
    keeper.start("yours", owner="you")
    assert (current(keeper), current(keeper, "you")) == ("mine", "yours")


def test_the_only_other_one_follows(keeper: Keeper) -> None:
    """When the current session closes and one is left, that is meant."""
    keeper.caller("me")
    keeper.start("a")
    keeper.start("b")
    keeper.start("theirs", owner="you")
    keeper.close("a")
    assert current(keeper) == "b"


def test_of_several_others_none_follows(keeper: Keeper) -> None:
    """When the current session closes and several are left, the caller must say which it means."""
    keeper.caller("me")
    for name in ("a", "b", "c"):
        keeper.start(name)
    keeper.close("a")
    assert current(keeper) is None
    with pytest.raises(NoSession, match=r"No session: none active\. Open sessions: b, c\."):
        keeper.store.resolve(NAMESPACE, "me", None)


def test_closing_another_one_changes_nothing(keeper: Keeper) -> None:
    """Only the end of the current session makes another one current."""
    keeper.caller("me")
    keeper.start("a")
    keeper.start("b")
    keeper.close("b")
    assert current(keeper) == "a"


def test_a_start_that_fails_leaves_the_current_one(keeper: Keeper) -> None:
    """What was current before the start is so after it failed, however many there are."""
    keeper.caller("me")
    for name in ("a", "b", "c"):
        keeper.start(name)
    record, ticket = keeper.reserve()
    assert current(keeper) == record.id
    keeper.store.leave(ticket, lambda record: record.changed(state=SessionState.CLOSED))
    assert current(keeper) == "a"


def test_any_open_session_can_be_chosen(keeper: Keeper) -> None:
    """Another caller's session of the namespace too, but none that is closed."""
    keeper.caller("me")
    keeper.start("theirs", owner="you")
    assert keeper.store.resolve(NAMESPACE, "me", "theirs", choose=True) == "theirs"
    assert keeper.store.resolve(NAMESPACE, "me", None) == "theirs"
    keeper.close("theirs")
    with pytest.raises(SessionNotFound):
        keeper.store.resolve(NAMESPACE, "me", "theirs", choose=True)


def test_a_dead_callers_sessions_are_adopted(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A server that was killed and started again has its session back, and it is current."""
    other = peer("own", "a")
    dead = other.says()
    assert keeper.store.adopt(keeper.caller("early"), NAMESPACE) == []
    other.kill()
    other.process.wait()
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == ["a"]
    record = keeper.store.get(NAMESPACE, "a")
    assert record
    assert (record.owner, record.state, current(keeper)) == ("me", SessionState.PARKED, "a")
    assert keeper.store.current(dead) is None


def test_of_several_adopted_none_is_current(keeper: Keeper) -> None:
    """Who comes back to several sessions must say which it means."""
    for name in ("a", "b"):
        keeper.start(name, owner="gone")
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == ["a", "b"]
    assert current(keeper) is None


def test_only_one_adopts(keeper: Keeper) -> None:
    """Of two servers that start at once one gets the session."""
    keeper.start("a", owner="gone")
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == ["a"]
    assert keeper.store.adopt(keeper.caller("you"), NAMESPACE) == []


def test_other_namespaces_are_left_alone(keeper: Keeper) -> None:
    """A dead caller's session of another namespace is nobody's here, and stays as it is."""
    keeper.start("a", owner="gone", namespace="another")
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == []
    (record,) = keeper.store.open("another")
    assert (record.owner, record.state) == ("gone", SessionState.ACTIVE)


def test_a_start_that_died_is_lost(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A session whose server was killed while it started can be closed, and its name used again."""
    other = peer("starting", "a")
    assert other.says()
    other.kill()
    other.process.wait()
    keeper.store.adopt(keeper.caller("me"), NAMESPACE)
    record = keeper.store.get(NAMESPACE, "a")
    assert record
    assert record.state is SessionState.LOST
    assert record.lost_reason
    assert keeper.close("a")
    assert keeper.start("a").state is SessionState.ACTIVE


def test_what_a_forgotten_caller_leaves_can_be_adopted(keeper: Keeper) -> None:
    """A caller that said goodbye owns nothing any more, though its process lives."""
    keeper.caller("me")
    keeper.start("a")
    keeper.store.forget("me")
    assert keeper.store.adopt(keeper.caller("you"), NAMESPACE) == ["a"]
