"""Queues: an id can belong to a second session while calls of the first are still queued."""

from __future__ import annotations

import pytest

from orchestrator.errors import SessionLost
from orchestrator.models.session import SessionRecord
from orchestrator.sessions.calls import Call, Queues
from orchestrator.sessions.registry import make_caller
from orchestrator.sessions.store.types import Ticket
from tests.sessions.store.helpers import NAMESPACE, Keeper

pytestmark = pytest.mark.anyio


def standing(queues: Queues, number: int, life: int, record: SessionRecord) -> Call[None]:
    """Return a call in a lane."""
    call = Call[None](record.id, lambda _: None, Ticket(number, life, NAMESPACE, record.id), caller=make_caller())
    call.record = record
    queues.add(call)
    return call


async def test_ending_a_session_spares_calls_on_the_next_session_of_its_id(keeper: Keeper) -> None:
    """Only the calls on the session that ended are answered."""
    queues = Queues()
    old = keeper.start("a")
    new = old.with_changes(created_at=old.created_at + 1)
    before, after = standing(queues, 1, 1, old), standing(queues, 2, 2, new)
    queues.answer_all(old, lambda: SessionLost("a", "x"), lambda: SessionLost("a", "x"))
    assert before.answered.is_set()
    assert before.left_lane.is_set()
    assert not after.answered.is_set()
    queues.release(after)
    await queues.wait_until_empty()


async def test_a_call_waits_for_no_call_on_an_earlier_session_of_its_id(keeper: Keeper) -> None:
    """The calls ahead are those on the same session, in their order, and none on an earlier one of that id."""
    queues = Queues()
    record = keeper.start("a")
    standing(queues, 1, 1, record)
    first, second, third = (standing(queues, number, 2, record) for number in (2, 3, 4))
    assert queues.ahead(first) == []
    assert queues.ahead(second) == [first]
    assert queues.ahead(third) == [first, second]
