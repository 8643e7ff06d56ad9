"""Queues: an id can be a second session's while calls of the first still stand about."""

from __future__ import annotations

import pytest

from orchestrator.errors import SessionLost
from orchestrator.models import SessionRecord
from orchestrator.sessions.call import Call
from orchestrator.sessions.queues import Queues
from orchestrator.store import Ticket
from tests.store.helpers import NAMESPACE, Keeper

pytestmark = pytest.mark.anyio


def standing(queues: Queues, number: int, life: int, record: SessionRecord) -> Call[None]:
    """A call that stands in a lane."""
    call = Call[None](record.id, lambda _: None, Ticket(number, life, NAMESPACE, record.id))
    call.record = record
    queues.add(call)
    return call


async def test_the_end_of_a_session_is_not_the_next_ones(keeper: Keeper) -> None:
    """Only the calls on the session that ended are answered."""
    queues = Queues()
    old = keeper.start("a")
    new = old.changed(created_at=old.created_at + 1)
    before, after = standing(queues, 1, 1, old), standing(queues, 2, 2, new)
    queues.end(old, lambda: SessionLost("a", "x"), lambda: SessionLost("a", "x"))
    assert before.answered.is_set()
    assert before.left.is_set()
    assert not after.answered.is_set()
    queues.release(after)
    await queues.empty()


async def test_nobody_waits_for_a_call_on_the_session_before(keeper: Keeper) -> None:
    """The one ahead is the nearest one of the same life of the id."""
    queues = Queues()
    record = keeper.start("a")
    standing(queues, 1, 1, record)
    first, second, third = (standing(queues, number, 2, record) for number in (2, 3, 4))
    assert queues.ahead(first) is None
    assert queues.ahead(second) is first
    assert queues.ahead(third) is second
