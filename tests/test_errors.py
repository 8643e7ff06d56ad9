"""Errors: their common properties."""

from __future__ import annotations

import pickle

import pytest

from orchestrator import errors
from orchestrator.sessions.providers import UnknownProvider

MADE_OF_FACTS = [
    errors.NoSession(["ann"]),
    errors.SessionNotFound("anne", ["ann"]),
    errors.SessionExists("ann"),
    errors.SessionLost("ann", "its browser ended"),
    errors.NoAnswer("ann", "it hangs"),
    errors.SessionLimit(2, ["ann", "ben"]),
    errors.DialogOpen("Sure?"),
    errors.Unreached("The network failed.", "reset"),
    UnknownProvider("farm", ["local"]),
    errors.TimedOut("It took long.", hint="Wait.", session_id="ann", completed=2),
]


@pytest.mark.parametrize("error", MADE_OF_FACTS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_unchanged(error: errors.OrchestratorError) -> None:
    """Process pools pickle their workers' exceptions: one that cannot be unpickled breaks them."""
    error.add_note("Step 1.")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (it is our own)
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
