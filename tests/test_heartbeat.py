"""When remote ends hear of sessions, with a clock that the test moves."""

from __future__ import annotations

import math

from orchestrator.heartbeat import Beat, due, given_up, missed
from orchestrator.models import SessionState
from tests.test_limits import record

NEVER = Beat()


def test_a_third_of_the_time_after_the_last_call() -> None:
    """A remote end that ends sessions after a minute hears of them 20 s after the last call."""
    thinks = record(keep_alive=60.0)
    assert due(thinks, NEVER, 1_000.0, ours=True) == 20.0
    assert due(thinks, NEVER, 1_021.0, ours=True) <= 0
    assert due(record(keep_alive=60.0, last_active_at=1_015.0), NEVER, 1_021.0, ours=True) == 14.0


def test_and_a_third_after_the_last_time() -> None:
    """It hears of them again and again, as long as nobody calls."""
    assert due(record(keep_alive=60.0), Beat(at=1_500.0), 1_501.0, ours=True) == 19.0


def test_no_longer_than_it_may_be_idle() -> None:
    """What nobody uses beyond the idle limit is not kept alive, whatever the remote end would do."""
    assert due(record(keep_alive=6_000.0), NEVER, 2_799.0, ours=True) == 201.0
    assert due(record(keep_alive=60.0), Beat(at=2_795.0), 2_800.0, ours=True) == math.inf


def test_only_what_needs_it() -> None:
    """A session that no remote end would end, that starts, is lost, or is another server's, is left alone."""
    assert due(record(), NEVER, 2_000.0, ours=True) == math.inf
    assert due(record(keep_alive=60.0), NEVER, 2_000.0, ours=False) == math.inf
    for state in (SessionState.STARTING, SessionState.LOST):
        assert due(record(keep_alive=60.0, state=state), NEVER, 2_000.0, ours=True) == math.inf


def test_one_of_this_machine_is_looked_at_by_its_owner() -> None:
    """Every 10 s from the last call on, as long as it may be idle; other servers leave it alone."""
    here = record(processes=[{"pid": 1, "created": 0.0, "name": "chromedriver"}])
    assert due(here, NEVER, 1_000.0, ours=True) == 10.0
    assert due(here, Beat(at=1_500.0), 1_501.0, ours=True) == 9.0
    assert due(here, NEVER, 2_000.0, ours=False) == math.inf
    assert due(here, Beat(at=2_795.0), 2_800.0, ours=True) == math.inf


def test_who_did_not_answer_is_asked_again_soon() -> None:
    """After 1 s, then after 4; a call since then has found out, and the time counts from there."""
    assert due(record(), Beat(at=2_000.0, missed=1), 2_000.0, ours=False) == 1.0
    assert due(record(), Beat(at=2_001.0, missed=2), 2_001.0, ours=False) == 4.0
    assert due(record(last_active_at=2_001.0), Beat(at=2_000.0, missed=1), 2_002.0, ours=False) == math.inf


def test_one_of_this_machine_is_given_up_after_the_third_time() -> None:
    """Nothing lies between here and there: whoever does not answer is gone."""
    beat = NEVER
    seen = []
    for now in (2_000.0, 2_001.0, 2_005.0):
        beat = missed(beat, record(), now)
        seen.append(given_up(beat, record(), far=False))
    assert seen == [False, False, True]
    assert missed(beat, record(last_active_at=2_006.0), 2_007.0) == Beat(2_007.0, 1, 2_007.0, 2_007.0)


def test_one_that_is_far_is_given_up_when_it_would_have_ended_it() -> None:
    """A network that fails for a while loses no session; it is asked every 4 s meanwhile."""
    thinks = record(keep_alive=30.0)
    assert not given_up(Beat(2_029.0, missed=9, since=2_000.0), thinks, far=True)
    assert due(thinks, Beat(2_029.0, missed=9, since=2_000.0), 2_029.0, ours=True) == 4.0
    assert given_up(Beat(2_030.0, missed=9, since=2_000.0), thinks, far=True)
    assert not given_up(Beat(2_059.0, missed=9, since=2_000.0), record(), far=True)
    assert given_up(Beat(2_060.0, missed=9, since=2_000.0), record(), far=True)
