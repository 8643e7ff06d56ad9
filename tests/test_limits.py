"""The limits of a session's life, with a clock that the test moves."""

from __future__ import annotations

import math

import pytest

from orchestrator.limits import age_left, idle_left
from orchestrator.models import SessionRecord, SessionState, SessionType


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


def test_the_time_counts_from_the_last_call() -> None:  # W34
    """A session that was just used has its whole idle time left."""
    assert idle_left(record(), now=1_000.0) == 1_800.0


def test_it_is_over_when_nobody_called_for_that_long() -> None:  # W34 W48
    """Nothing is left once the idle time has passed."""
    assert idle_left(record(), now=2_800.0) <= 0


def test_a_call_begins_it_anew() -> None:  # W47
    """The last call counts, not the start."""
    assert idle_left(record(last_active_at=2_000.0), now=2_800.0) == 1_000.0


def test_a_session_that_starts_is_not_idle() -> None:  # W48
    """A start may take longer than the idle time."""
    assert idle_left(record(state=SessionState.STARTING), now=9_999.0) > 0


def test_age_counts_from_the_creation() -> None:  # O10 O11 O29
    """No call begins it anew, and neither does being parked; there is none unless it is set."""
    old = {"limits": {"idle": 1_800.0, "age": 7_200.0}, "last_active_at": 7_000.0}
    assert age_left(record(**old), now=7_100.0) == 100.0
    assert age_left(record(**old), now=7_201.0) <= 0
    assert age_left(record(**old, state=SessionState.PARKED, parked_until=9_000.0), now=7_100.0) == 100.0
    assert age_left(record(), now=1e9) == math.inf


@pytest.mark.parametrize("gone", [{"state": SessionState.LOST}, {"remote_session_id": ""}])
def test_what_is_not_there_does_not_grow_old(gone: dict[str, object]) -> None:  # O11
    """A start has a limit of its own, and of a lost session nothing is left to end."""
    assert age_left(record(**gone, limits={"age": 1.0}), now=1e9) == math.inf


def test_a_fresh_one_is_young_again() -> None:  # O23 O29
    """With on_max_duration=recreate the time counts from the last remote end on."""
    assert age_left(record(limits={"age": 100.0}, fresh_since=500.0), now=590.0) == 10.0
