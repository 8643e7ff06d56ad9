"""The idle and age limits of a session, with a clock that the test moves."""

from __future__ import annotations

import math

import pytest

from orchestrator.lifecycle.maintenance.limits import seconds_until_age_limit, seconds_until_idle_limit
from orchestrator.models.session import SessionRecord, SessionState, SessionType


def record(**fields: object) -> SessionRecord:
    """An active session, last used at 1,000 s, that may be idle for 1,800 s."""
    usual = {
        "id": "shop",
        "namespace": "tests",
        "type": SessionType.BROWSER,
        "provider": "local",
        "owner": "me",
        "state": SessionState.ACTIVE,
        "created_at": 0.0,
        "remote_session_id": "remote",
        "last_active_at": 1_000.0,
        "limits": {"idle": 1_800.0},
    }
    return SessionRecord.model_validate({**usual, **fields})


def test_idle_time_counts_from_the_last_call() -> None:  # F37
    """A session that was just used has its whole idle time left."""
    assert seconds_until_idle_limit(record(), now=1_000.0) == 1_800.0


def test_idle_time_is_over_when_no_call_came_for_that_long() -> None:  # W47
    """No time is left once the idle time has passed without a call."""
    assert seconds_until_idle_limit(record(), now=2_800.0) <= 0


def test_a_call_restarts_the_idle_time() -> None:  # O22
    """The last call counts, not the start."""
    assert seconds_until_idle_limit(record(last_active_at=2_000.0), now=2_800.0) == 1_000.0


def test_a_starting_session_is_not_idle() -> None:  # F37
    """A start may take longer than the idle time."""
    assert seconds_until_idle_limit(record(state=SessionState.STARTING), now=9_999.0) > 0


def test_a_sessions_age_counts_from_its_creation() -> None:  # O10
    """Neither a call nor parking restarts a session's age, and it has no limit unless one is set."""
    old = {"limits": {"idle": 1_800.0, "age": 7_200.0}, "last_active_at": 7_000.0}
    assert seconds_until_age_limit(record(**old), now=7_100.0) == 100.0
    assert seconds_until_age_limit(record(**old), now=7_201.0) <= 0
    assert seconds_until_age_limit(record(**old, state=SessionState.PARKED, parked_until=9_000.0), now=7_100.0) == 100.0
    assert seconds_until_age_limit(record(), now=1e9) == math.inf


@pytest.mark.parametrize("gone", [{"state": SessionState.LOST}, {"remote_session_id": ""}])
def test_a_lost_or_unstarted_session_does_not_age(gone: dict[str, object]) -> None:
    """A start has a limit of its own, and a lost session has nothing left to end."""
    assert seconds_until_age_limit(record(**gone, limits={"age": 1.0}), now=1e9) == math.inf


def test_a_recreated_session_restarts_its_age() -> None:
    """With on_max_duration=recreate the age counts from the last remote end."""
    assert seconds_until_age_limit(record(limits={"age": 100.0}, fresh_since=500.0), now=590.0) == 10.0
