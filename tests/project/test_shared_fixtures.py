"""What tests share after one of them has failed, tested by runs inside this run."""

from __future__ import annotations

import pytest

from tests.servers.small_suite import SmallSuite

SHARING = """
import pytest

@pytest.fixture(scope="session")
def server():
    made = []
    yield made
    assert "broken at its end" not in made

@pytest.fixture(scope="module")
def browser(server):
    server.append("browser")
    return server

@pytest.fixture
def page(browser):
    yield browser
    assert "broken page" not in browser

def test_leaves_a_mark(browser):
    browser.append("mark")

def test_sees_the_mark(browser):
    assert browser == ["browser", "mark"]
    browser.append("broken")
    assert False

def test_after_a_failed_call(page):
    assert page == ["browser"]
    page.append("broken page")

def test_after_a_failed_end_of_its_own_fixture(browser):
    assert browser == ["browser"]
    browser.append("broken at its end")
    assert False

def test_after_a_failed_end_of_a_shared_fixture(browser):
    assert browser == ["browser"]
"""


def test_a_failed_test_takes_along_what_tests_share(suite: SmallSuite) -> None:
    """Fixtures of modules and of the run are kept between tests, and made anew after one that failed."""
    suite.write(test_it=SHARING)
    code, output = suite.run("pytest")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "2 failed, 3 passed, 2 errors" in output, output
