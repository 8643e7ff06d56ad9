"""Callers: the current session of each, the sessions it owns, and those that a dead one leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.errors import NoSession, SessionNotFound
from orchestrator.models.session import SessionState
from tests.sessions.store.helpers import NAMESPACE, Keeper, Peer


def current(keeper: Keeper, key: str = "me") -> str | None:
    """Return the caller's current session."""
    return keeper.store.list_with_current(NAMESPACE, key)[1]


def test_an_unnamed_session_becomes_current(keeper: Keeper) -> None:
    """The newest session without a name is the current one."""
    keeper.caller("me")
    keeper.start("named")
    keeper.start()
    assert current(keeper) == "browser-1"


def test_a_named_session_becomes_current_only_when_there_is_none(keeper: Keeper) -> None:  # W7 W54
    """Of user-a and user-b the first one is current."""
    keeper.caller("me")
    keeper.start("user-a")
    keeper.start("user-b")
    assert current(keeper) == "user-a"


def test_each_caller_has_its_own_current_session(keeper: Keeper) -> None:  # W19 W37 X8
    """A caller's choice does not affect another caller."""
    keeper.caller("me")
    keeper.caller("you")
    keeper.start("mine")
    keeper.start("yours", owner="you")
    assert (current(keeper), current(keeper, "you")) == ("mine", "yours")


def test_the_only_session_left_becomes_current_when_the_current_one_closes(keeper: Keeper) -> None:
    """The current session closes and one is left: that becomes current."""
    keeper.caller("me")
    keeper.start("a")
    keeper.start("b")
    keeper.start("theirs", owner="you")
    keeper.close("a")
    assert current(keeper) == "b"


def test_no_session_becomes_current_when_the_current_one_closes_and_several_are_left(keeper: Keeper) -> None:
    """The current session closes and several are left: the caller must name one."""
    keeper.caller("me")
    for name in ("a", "b", "c"):
        keeper.start(name)
    keeper.close("a")
    assert current(keeper) is None
    with pytest.raises(NoSession, match=r"No session: none active\. Open sessions: b, c\."):
        keeper.store.resolve(NAMESPACE, "me", None)


def test_closing_another_session_leaves_the_current_one(keeper: Keeper) -> None:
    """Only the end of the current session makes another one current."""
    keeper.caller("me")
    keeper.start("a")
    keeper.start("b")
    keeper.close("b")
    assert current(keeper) == "a"


def test_a_failed_start_leaves_the_previous_session_current(keeper: Keeper) -> None:
    """The session that was current before a failed start is current again, however many are open."""
    keeper.caller("me")
    for name in ("a", "b", "c"):
        keeper.start(name)
    record, ticket = keeper.reserve()
    assert current(keeper) == record.id
    keeper.store.leave_lane(ticket, lambda record: record.with_changes(state=SessionState.CLOSED))
    assert current(keeper) == "a"


def test_any_open_session_of_the_namespace_can_be_made_current(keeper: Keeper) -> None:
    """Another caller's session can be chosen as the current one, a closed session cannot."""
    keeper.caller("me")
    keeper.start("theirs", owner="you")
    assert keeper.store.resolve(NAMESPACE, "me", "theirs", choose=True) == "theirs"
    assert keeper.store.resolve(NAMESPACE, "me", None) == "theirs"
    keeper.close("theirs")
    with pytest.raises(SessionNotFound):
        keeper.store.resolve(NAMESPACE, "me", "theirs", choose=True)


def test_a_dead_callers_sessions_are_adopted(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A server that was killed and started again owns its session again, and it is current."""
    other = peer("own", "a")
    dead = other.next_word()
    assert keeper.store.adopt(keeper.caller("early"), NAMESPACE) == []
    other.kill()
    other.process.wait()
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == ["a"]
    record = keeper.store.get(NAMESPACE, "a")
    assert record
    assert (record.owner, record.state, current(keeper)) == ("me", SessionState.PARKED, "a")
    assert current(keeper, dead) is None


def test_no_session_is_current_after_several_were_adopted(keeper: Keeper) -> None:
    """A caller that adopts several sessions must name one."""
    for name in ("a", "b"):
        keeper.start(name, owner="gone")
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == ["a", "b"]
    assert current(keeper) is None


def test_a_session_is_adopted_by_one_caller_only(keeper: Keeper) -> None:
    """Two servers start at once: one of them gets the session."""
    keeper.start("a", owner="gone")
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == ["a"]
    assert keeper.store.adopt(keeper.caller("you"), NAMESPACE) == []


def test_sessions_of_other_namespaces_are_not_adopted(keeper: Keeper) -> None:
    """A dead caller's session of another namespace is left alone."""
    keeper.start("a", owner="gone", namespace="another")
    assert keeper.store.adopt(keeper.caller("me"), NAMESPACE) == []
    (record,) = keeper.store.list_open("another")
    assert (record.owner, record.state) == ("gone", SessionState.ACTIVE)


def test_a_session_whose_server_died_during_its_start_is_lost(keeper: Keeper, peer: Callable[[str, str], Peer]) -> None:
    """A session whose server was killed while it started can be closed, and its name used again."""
    other = peer("starting", "a")
    assert other.next_word()
    other.kill()
    other.process.wait()
    keeper.store.adopt(keeper.caller("me"), NAMESPACE)
    record = keeper.store.get(NAMESPACE, "a")
    assert record
    assert record.state is SessionState.LOST
    assert record.lost_reason
    assert keeper.close("a")
    assert keeper.start("a").state is SessionState.ACTIVE


def test_sessions_of_a_caller_that_signed_off_can_be_adopted(keeper: Keeper) -> None:
    """A caller that signed off owns nothing any more, though its process lives."""
    keeper.caller("me")
    keeper.start("a")
    keeper.store.forget("me")
    assert keeper.store.adopt(keeper.caller("you"), NAMESPACE) == ["a"]
