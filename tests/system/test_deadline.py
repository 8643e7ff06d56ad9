"""Deadlines and polling."""

from __future__ import annotations

from orchestrator.system.deadline import Deadline, poll_until


def test_polling_ends_with_the_first_true_result() -> None:
    """Polling returns the true value that ended it."""
    results = iter([0, None, 7, 8])
    assert poll_until(lambda: next(results), Deadline(60), every=0) == 7


def test_polling_past_the_deadline_returns_the_last_result() -> None:
    """The check is made once even when no time is left."""
    assert poll_until(lambda: "", Deadline(0), every=60) == ""
