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
    errors.SessionLimit.of_namespace(2, ["ann", "ben"]),
    errors.DialogOpen("Sure?"),
    errors.Unreached("The network failed.", "reset"),
    UnknownProvider("farm", ["local"]),
    errors.TimedOut("It took long.", hint="Wait.", session_id="ann", completed=2),
]


@pytest.mark.parametrize("error", MADE_OF_FACTS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_unchanged(error: errors.OrchestratorError) -> None:
    """Process pools pickle their workers' exceptions: one that cannot be unpickled breaks them."""
    error.add_note("Step 1.")
    error.url = "http://shop.test/"
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 (it is our own)
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def test_an_errors_text_has_each_fact_that_its_message_lacks() -> None:
    """What stands in the message already is not repeated."""
    error = errors.ExpectationFailed(
        "Not as expected after 9 ms: '#total': text should be '5' but is '4'.",
        hint="Look again.",
        candidates=['button "Pay"', 'link "Back"'],
        expected={"text": "5", "value": "a long one"},
        actual={"text": "4", "value": None},
    )
    error.url = "http://shop.test/"
    assert str(error).splitlines() == [
        "Not as expected after 9 ms: '#total': text should be '5' but is '4'. Look again.",
        "Candidates:",
        '- button "Pay"',
        '- link "Back"',
        "Expected value: a long one",
        "Actual value: null",
        "URL: http://shop.test/",
    ]
    assert error.sentence == str(error).splitlines()[0]
