"""The idle limit, with a clock that the test moves."""

from __future__ import annotations

from orchestrator.limits import left
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
        "last_active_at": 1_000.0,
        "limits": {"idle": 1_800.0},
    }
    return SessionRecord.model_validate({**usual, **fields})


def test_the_time_counts_from_the_last_call() -> None:  # W34
    """A session that was just used has its whole idle time left."""
    assert left(record(), now=1_000.0) == 1_800.0


def test_it_is_over_when_nobody_called_for_that_long() -> None:  # W34 W48
    """Nothing is left once the idle time has passed."""
    assert left(record(), now=2_800.0) <= 0


def test_a_call_begins_it_anew() -> None:  # W47
    """The last call counts, not the start."""
    assert left(record(last_active_at=2_000.0), now=2_800.0) == 1_000.0


def test_a_session_that_starts_is_not_idle() -> None:  # W48
    """A start may take longer than the idle time."""
    assert left(record(state=SessionState.STARTING), now=9_999.0) > 0
