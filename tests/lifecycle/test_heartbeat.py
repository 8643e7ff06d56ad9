"""Due times of keep-alives and checks of sessions, with a clock that the test moves."""

from __future__ import annotations

import math

from orchestrator.lifecycle.maintenance.heartbeat import Beat, count_missed_answer, counts_as_lost, seconds_until_check
from orchestrator.models.session import SessionState
from tests.lifecycle.test_limits import record

NEVER = Beat()


def test_a_keep_alive_is_due_a_third_of_the_remote_timeout_after_the_last_call() -> None:
    """A remote end that ends idle sessions after 60 s is contacted 20 s after the last call."""
    thinks = record(keep_alive=60.0)
    assert seconds_until_check(thinks, NEVER, 1_000.0, ours=True) == 20.0
    assert seconds_until_check(thinks, NEVER, 1_021.0, ours=True) <= 0
    assert seconds_until_check(record(keep_alive=60.0, last_active_at=1_015.0), NEVER, 1_021.0, ours=True) == 14.0


def test_a_keep_alive_is_due_a_third_of_the_remote_timeout_after_the_last_one() -> None:
    """Keep-alives continue at the same interval without calls."""
    assert seconds_until_check(record(keep_alive=60.0), Beat(at=1_500.0), 1_501.0, ours=True) == 19.0


def test_a_session_is_not_kept_alive_beyond_its_idle_limit() -> None:
    """A session past its idle limit is not kept alive, whatever timeout its remote end has."""
    assert seconds_until_check(record(keep_alive=6_000.0), NEVER, 2_799.0, ours=True) == 201.0
    assert seconds_until_check(record(keep_alive=60.0), Beat(at=2_795.0), 2_800.0, ours=True) == math.inf


def test_sessions_that_need_no_keep_alive_get_none() -> None:
    """A session without an idle limit at its remote end, a starting or lost one, or another server's gets none."""
    assert seconds_until_check(record(), NEVER, 2_000.0, ours=True) == math.inf
    assert seconds_until_check(record(keep_alive=60.0), NEVER, 2_000.0, ours=False) == math.inf
    for state in (SessionState.STARTING, SessionState.LOST):
        assert seconds_until_check(record(keep_alive=60.0, state=state), NEVER, 2_000.0, ours=True) == math.inf


def test_a_local_session_is_checked_every_10_seconds_by_its_owner_only() -> None:
    """A local session is checked every 10 s up to its idle limit; other servers leave it alone."""
    here = record(processes=[{"pid": 1, "created": 0.0, "name": "chromedriver"}])
    assert seconds_until_check(here, NEVER, 1_000.0, ours=True) == 10.0
    assert seconds_until_check(here, Beat(at=1_500.0), 1_501.0, ours=True) == 9.0
    assert seconds_until_check(here, NEVER, 2_000.0, ours=False) == math.inf
    assert seconds_until_check(here, Beat(at=2_795.0), 2_800.0, ours=True) == math.inf


def test_a_session_that_missed_a_check_is_checked_again_after_1_and_then_4_seconds() -> None:
    """A missed check is repeated after 1 s, then after 4 s; a call made since then cancels that."""
    assert seconds_until_check(record(), Beat(at=2_000.0, missed=1), 2_000.0, ours=False) == 1.0
    assert seconds_until_check(record(), Beat(at=2_001.0, missed=2), 2_001.0, ours=False) == 4.0
    assert (
        seconds_until_check(record(last_active_at=2_001.0), Beat(at=2_000.0, missed=1), 2_002.0, ours=False) == math.inf
    )


def test_a_local_session_is_given_up_after_the_third_missed_check() -> None:
    """No network is between us and a local driver: one that misses three checks is gone."""
    beat = NEVER
    seen = []
    for now in (2_000.0, 2_001.0, 2_005.0):
        beat = count_missed_answer(beat, record(), now)
        seen.append(counts_as_lost(beat, record(), far=False))
    assert seen == [False, False, True]
    assert count_missed_answer(beat, record(last_active_at=2_006.0), 2_007.0) == Beat(2_007.0, 1, 2_007.0, 2_007.0)


def test_a_remote_session_is_given_up_once_its_remote_end_would_have_ended_it() -> None:
    """A network that fails for a while loses no session; the remote end is asked every 4 s meanwhile."""
    thinks = record(keep_alive=30.0)
    assert not counts_as_lost(Beat(2_029.0, missed=9, since=2_000.0), thinks, far=True)
    assert seconds_until_check(thinks, Beat(2_029.0, missed=9, since=2_000.0), 2_029.0, ours=True) == 4.0
    assert counts_as_lost(Beat(2_030.0, missed=9, since=2_000.0), thinks, far=True)
    assert not counts_as_lost(Beat(2_059.0, missed=9, since=2_000.0), record(), far=True)
    assert counts_as_lost(Beat(2_060.0, missed=9, since=2_000.0), record(), far=True)
