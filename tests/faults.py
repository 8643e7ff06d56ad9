"""Faults of the core, each of which a test of the tier required notices: tests/project/test_faults.py plants them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Fault:
    """A fault of one place.

    Attributes:
        what: What goes wrong, as in the table of tests/README.md.
        file: The file, below the root of the project.
        right: The text there, which occurs once.
        wrong: What stands there instead.
        noticed_by: The id of a test of the tier required that fails because of it.
    """

    what: str
    file: str
    right: str
    wrong: str
    noticed_by: str


FAULTS = (
    Fault(
        "A call is sent to the other session",
        "orchestrator/sessions/store/callers.py",
        "wanted = session_id or (current(db, key) if key else None)",
        "wanted = (current(db, key) if key else None) or session_id",
        "tests/e2e/sessions/test_sessions.py::test_two_named_sessions_are_started_used_listed_chosen_and_closed",
    ),
    Fault(
        "A lane is skipped",
        "orchestrator/sessions/store/tickets.py",
        "            return False",
        "            continue",
        "tests/sessions/store/test_tickets.py::test_tickets_of_a_lane_are_served_in_order",
    ),
    Fault(
        "A ref is resolved to its neighbour",
        "orchestrator/snapshot/web/scripts/refs.js",
        "holders.get(Number(`${ref}`.slice(1)))",
        "holders.get(Number(`${ref}`.slice(1)) + 1)",
        "tests/e2e/acting/test_click.py::test_each_of_several_equal_elements_is_clicked_by_its_own_ref",
    ),
    Fault(
        "`close_all_sessions` closes another caller's",
        "orchestrator/lifecycle/close.py",
        "own = [record.id for record in records if record.owner in family]",
        "own = [record.id for record in records]",
        "tests/e2e/sessions/test_stores.py"
        "::test_close_all_sessions_spares_other_clients_and_close_sessions_all_does_not",
    ),
    Fault(
        "A parked session is not restored",
        "orchestrator/execution/runner.py",
        "if turn.record.state is not SessionState.PARKED:",
        "if turn.record.state is not SessionState.LOST:",
        "tests/e2e/sessions/test_parking.py::test_a_parked_session_is_restored_as_it_was[end of input]",
    ),
    Fault(
        "A step is run after a failed one",
        "orchestrator/execution/sequence.py",
        " or error:\n",
        ":\n",
        "tests/e2e/execution/test_sequences.py::test_a_sequence_stops_at_the_first_failing_step",
    ),
    Fault(
        "An error is answered without its code",
        "orchestrator/mcp_server/error_text.py",
        '"code": error.code,',
        '"code": "",',
        "tests/mcp_server/test_rendering.py::test_a_long_error_keeps_its_code_and_hint",
    ),
    Fault(
        "A password is shown",
        "orchestrator/actions/forms.py",
        'if hit.kind == "password" or hit.facts.get("secret"):',
        "if False:",
        "tests/e2e/doors/test_typed_secrets.py::test_a_typed_secret_is_masked_in_each_form_of_call",
    ),
    Fault(
        "A wait returns at once",
        "orchestrator/snapshot/web/scripts/conditions.js",
        "const ok = not ? failed.length > 0 : failed.length === 0;",
        "const ok = true;",
        "tests/e2e/acting/test_waiting.py::test_a_wait_for_timeout_reports_the_actual_state_and_candidates",
    ),
    Fault(
        "An id is given twice",
        "orchestrator/sessions/store/records.py",
        'while is_open(db, namespace, f"{type_}-{number}"):',
        "while False:",
        "tests/e2e/sessions/test_sessions.py::test_automatic_ids_skip_a_name_that_is_already_open",
    ),
)
