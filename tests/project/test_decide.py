"""The run that decides, on a folder of small tests: what is tried again, what is not, and what is said at the end."""

from __future__ import annotations

import pytest

from tests.servers.small_suite import SmallSuite

PASSES = "def test_passes():\n    pass\n"

UNSTABLE = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("n", range(COUNT))
def test_unstable(n):
    tried = Path(f"tried-{n}")
    is_first = not tried.exists()
    tried.touch()
    assert not is_first, f"the first try of {n}"
"""
"""Each of its cases fails once."""

FAILS = "\n".join(["def test_fails():", *["    pass"] * 60, '    assert False, "as always"'])
"""Its failure shows more than 60 lines."""

RULE = """
def test_rule(subtests):
    for n in range(100):
        with subtests.test(f"place {n}"):
            assert n not in (3, 50, 99), f"no {n}"
"""
"""A rule with three offenders."""

CRASHES = """
import os

def test_crashes():
    os._exit(3)
"""

LEAVES = """
import tempfile
from pathlib import Path

def test_leaves():
    tried = Path("tried-leaves")
    is_first = not tried.exists()
    tried.touch()
    if is_first or AGAIN:
        Path(tempfile.gettempdir(), "profile-of-a-browser").mkdir()
    assert PASS or not is_first
"""


@pytest.fixture
def suite(suite: SmallSuite) -> SmallSuite:
    """A folder of small tests, one of which passes."""
    suite.write(test_first=PASSES)
    return suite


def decide(suite: SmallSuite, *options: str) -> tuple[int, list[str], str]:
    """Run what decides; return the exit code, the lines of the outcome, and the output before."""
    code, output = suite.run("tests.decide", *(options or (".",)))
    before, mark, outcome = output.rpartition("== outcome\n")
    assert mark, output
    return code, outcome.splitlines(), before


def test_tests_that_pass_are_not_tried_again(suite: SmallSuite) -> None:
    """One run, exit code 0, and nothing to tell."""
    code, outcome, output = decide(suite)
    assert (code, outcome) == (0, []), output
    assert "1 passed" in output
    assert "tried again" not in output


def test_a_test_that_fails_once_is_unstable_and_does_not_fail_the_run(suite: SmallSuite) -> None:
    """It is tried alone, in one process, and listed with its first failure."""
    suite.write(test_it=UNSTABLE.replace("COUNT", "1"))
    code, outcome, output = decide(suite)
    assert code == 0, output
    assert outcome[0] == "unstable: test_it.py::test_unstable[0]"
    assert "the first try of 0" in "".join(outcome)
    assert "== 1 failed and are tried again, alone" in output


def test_a_test_that_fails_twice_fails_the_run_with_its_last_lines(suite: SmallSuite) -> None:
    """Its name and the last 40 lines of its failure stand at the end."""
    suite.write(test_it=FAILS)
    code, outcome, output = decide(suite)
    assert code == 1, output
    assert outcome[0] == "FAILED test_it.py::test_fails"
    assert len(outcome) == 41
    assert "AssertionError: as always" in "".join(outcome)


def test_every_offender_of_a_rule_is_named_at_the_end(suite: SmallSuite) -> None:
    """Each has a line with its name and its reason; of the first one the whole failure stands above them."""
    suite.write(test_it=RULE)
    code, outcome, output = decide(suite, "-n1")
    assert code == 1, output
    assert outcome[0] == "FAILED test_it.py::test_rule"
    assert any("assert n not in (3, 50, 99)" in line for line in outcome)
    assert outcome[-4:] == [
        "    test_rule [place 3]: AssertionError: no 3",
        "    test_rule [place 50]: AssertionError: no 50",
        "    test_rule [place 99]: AssertionError: no 99",
        "    test_rule: contains 3 failed subtests",
    ]


def test_six_failed_tests_are_not_tried_again(suite: SmallSuite) -> None:
    """So many are no accident, though each would pass."""
    suite.write(test_it=UNSTABLE.replace("COUNT", "6"))
    code, outcome, output = decide(suite)
    assert code == 1, output
    assert sum(line.startswith("FAILED test_it.py::test_unstable") for line in outcome) == 6
    assert "tried again" not in output


def test_five_failed_tests_are_tried_again(suite: SmallSuite) -> None:
    """That is the most."""
    suite.write(test_it=UNSTABLE.replace("COUNT", "5"))
    code, outcome, output = decide(suite)
    assert code == 0, output
    assert sum(line.startswith("unstable: ") for line in outcome) == 5


def test_a_test_that_crashes_its_process_both_times_fails_the_run(suite: SmallSuite) -> None:
    """A worker that is gone is a failed test; alone, it takes the run with it."""
    suite.write(test_it=CRASHES)
    code, outcome, output = decide(suite, "-n", "1")
    assert code == 1, output
    assert "FAILED test_it.py::test_crashes" in outcome


def test_a_file_that_does_not_import_fails_the_run(suite: SmallSuite) -> None:
    """Nothing is tried again, whatever else failed."""
    suite.write(test_it="import no_such_module\n", test_other=UNSTABLE.replace("COUNT", "1"))
    code, outcome, output = decide(suite)
    assert code == 1, output
    assert any(line.startswith("ERROR test_it.py cannot be collected") for line in outcome)
    assert "No module named 'no_such_module'" in "\n".join(outcome)
    assert "tried again" not in output


def test_a_run_that_finds_no_test_fails(suite: SmallSuite) -> None:
    """Exit statuses of pytest other than 0 and 1 fail it."""
    code, outcome, output = decide(suite, "-k", "no_such_test")
    assert code == 1, output
    assert outcome == ["FAILED: pytest -k no_such_test ended with exit status 5"]


@pytest.mark.parametrize(
    ("leaving", "options", "code", "said"),
    [
        ({"PASS": "True", "AGAIN": "True"}, ".", 1, "left behind where every test passed"),
        ({"PASS": "False", "AGAIN": "False"}, "-n2", 0, "left behind where a test failed"),
        ({"PASS": "False", "AGAIN": "True"}, ".", 1, "left behind where a test failed"),
    ],
    ids=["its test passes", "its test fails once", "its test fails once and leaves it again"],
)
def test_what_is_left_behind_fails_the_run_unless_its_test_failed_once(
    suite: SmallSuite, leaving: dict[str, str], options: str, code: int, said: str
) -> None:
    """A profile folder that outlives its run is listed, and excused by a failed test whose second try leaves none."""
    suite.write(test_it=LEAVES.replace("AGAIN", leaving["AGAIN"]).replace("PASS", leaving["PASS"]))
    ended, outcome, output = decide(suite, options)
    assert ended == code, output
    assert any(line.startswith(said) and "profile-of-a-browser" in line for line in outcome), outcome
