"""The limit of a test, on a folder of small tests."""

from __future__ import annotations

import pytest

from tests.servers.small_suite import SmallSuite

pytestmark = pytest.mark.full

STARTS_SLOWLY = """
import time
import pytest

@pytest.fixture(scope="session")
def FIXTURE():
    time.sleep(4)

def test_first(FIXTURE):
    pass
"""


@pytest.mark.parametrize(("fixture", "outcome"), [("_grid", "1 passed"), ("another", "1 error")])
def test_starting_a_grid_does_not_count_towards_the_limit_of_the_first_test(
    suite: SmallSuite, fixture: str, outcome: str
) -> None:
    """A fixture that starts a Grid or an Appium may take longer than a test; any other is part of its test."""
    suite.write(test_it=STARTS_SLOWLY.replace("FIXTURE", fixture))
    _, output = suite.run("pytest", "--timeout", "3")
    assert outcome in output, output


def test_a_test_that_hangs_after_a_slow_start_still_has_its_limit(suite: SmallSuite) -> None:
    """The limit begins anew when the Grid is there."""
    suite.write(test_it=STARTS_SLOWLY.replace("FIXTURE", "_grid").replace("    pass", "    time.sleep(60)"))
    _, output = suite.run("pytest", "--timeout", "3")
    assert "Timeout (>3.0s) from pytest-timeout" in output, output
