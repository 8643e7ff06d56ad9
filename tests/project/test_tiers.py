"""The tiers of tests: which one a test is in, by the markers of its module, its function and its case."""

from __future__ import annotations

import pytest

from tests.servers.small_suite import SmallSuite

REQUIRED = """
import pytest

def test_unmarked(): pass

@pytest.mark.full
def test_full(): pass

@pytest.mark.clock
def test_clock(): pass

@pytest.mark.core
@pytest.mark.full
def test_core_marked_full(): pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.full)])
def test_cases(n): pass
"""
FULL = """
import pytest

pytestmark = pytest.mark.full

def test_unmarked(): pass

@pytest.mark.clock
def test_clock(): pass

@pytest.mark.core
def test_core(): pass

@pytest.mark.smoke
def test_smoke(): pass

@pytest.mark.required
def test_required(): pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.core)])
def test_cases(n): pass
"""

TIERS = {
    "required": {
        "required::unmarked",
        "required::cases[1]",
        "full::core",
        "full::smoke",
        "full::required",
        "full::cases[2]",
    },
    "full": {"required::full", "required::core_marked_full", "required::cases[2]", "full::unmarked", "full::cases[1]"},
    "clock": {"required::clock", "full::clock"},
}


@pytest.fixture
def marked(suite: SmallSuite) -> SmallSuite:
    """Tests with markers, in a module of the tier required and in one of the tier full."""
    suite.write(test_required=REQUIRED, test_full=FULL)
    return suite


def collected(suite: SmallSuite, *options: str) -> set[str]:
    """Return the tests that a run would take."""
    _, output = suite.run("pytest", "--collect-only", "-q", *options)
    return {
        line.replace("test_", "").replace(".py", "")
        for line in output.splitlines()
        if line.startswith("test_") and "::" in line
    }


@pytest.mark.parametrize("tier", TIERS)
def test_a_tests_tier_is_that_of_its_nearest_marker(marked: SmallSuite, tier: str) -> None:
    """The function's wins over its module's; unmarked, core and smoke are required."""
    assert collected(marked, "--tier", tier) == TIERS[tier]


def test_each_test_is_in_one_tier(marked: SmallSuite) -> None:
    """Without a tier all are taken, and several tiers are taken together."""
    assert collected(marked) == set.union(*TIERS.values())
    assert collected(marked, "--tier", "full", "--tier", "clock") == TIERS["full"] | TIERS["clock"]
