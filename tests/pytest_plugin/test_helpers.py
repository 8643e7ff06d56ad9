"""Logins once a role, soft expectations, and waiting for what a test checks itself."""

from __future__ import annotations

import time

import pytest

from orchestrator.pytest_plugin import eventually
from tests.pytest_plugin.conftest import Project
from tests.servers.site import Reply, Site, Visit

LOGINS = """
import pytest

@pytest.fixture(scope="session")
def logins():
    def buyer(session):
        session.navigate("/login")
        session.click_element("text=Sign in")
        session.expect("h1", text="buyer")
    return {"buyer": buyer}
"""


def shop(site: Site, lives: int) -> list[str]:
    """Add a shop that knows a buyer by a cookie, which lives for so many seconds; return the list of its logins."""
    made: list[str] = []

    def sign_in(_: Visit) -> Reply:
        made.append("buyer")
        return Reply("<h1>buyer</h1>", headers={"Set-Cookie": f"user=buyer; Max-Age={lives}; Path=/"})

    site.page("/login", "<form action=/signed><button>Sign in</button></form>")
    site.page("/signed", sign_in)
    site.page("/account", lambda visit: f"<h1>{visit.cookies.get('user', 'nobody')}</h1>")
    return made


USERS = """
import pytest
from orchestrator.pytest_plugin import eventually

pytestmark = [
    pytest.mark.parametrize("number", range(3)),
    pytest.mark.users("alice", login="buyer", navigation_url="/account"),
]

@pytest.mark.users("bob", navigation_url="/account")
def test_account(alice, bob, sessions, number):
    {check}
    bob.expect("h1", text="nobody")
    assert [*sessions] == ["alice", "bob"]
"""

SIGNED_IN = 'alice.expect("h1", text="buyer")'
UNTIL_EXPIRED = 'eventually(lambda: alice.navigate("/account") and alice.get_text("h1").text == "nobody")'


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.parametrize(
    ("lives", "check", "words", "logins"),
    [(3600, SIGNED_IN, ["-n", "2"], 1), (1, UNTIL_EXPIRED, [], 3)],
    ids=["lasting", "expired"],
)
def test_a_role_signs_in_once_a_run_and_again_when_expired(
    project: Project, site: Site, lives: int, check: str, words: list[str], logins: int
) -> None:
    """The users of all processes get its cookies; those of other roles get none."""
    made = shop(site, lives)
    project.write("conftest.py", LOGINS)
    project.write("test_account.py", USERS.format(check=check))
    done = project.run("--orchestrator-base-url", site.url("/"), *words)
    assert done.counts() == {"passed": 3}, done.text
    assert len(made) == logins


@pytest.mark.full
@pytest.mark.browser
def test_an_unknown_role_says_how_to_add_one(project: Project) -> None:
    """The error names the fixture to override."""
    project.write("test_it.py", "def test_it(login):\n    login('seller')\n")
    assert "No login 'seller'. Override the fixture logins in a conftest.py." in project.run().text


@pytest.mark.full
@pytest.mark.browser
def test_soft_expectations_let_the_test_go_on_and_fail_it_at_its_end(project: Project, site: Site) -> None:
    """Every failure is listed, with its line, step and outline; other errors end the test at once."""
    page = site.page("/", "<h1>Tea</h1><p id=total>5 EUR</p>")
    project.write(
        "test_soft.py",
        f"""
def test_both(web, soft_expect):
    web.navigate({page!r})
    with soft_expect:
        web.expect("h1", text="Coffee", timeout=0)
    with soft_expect:
        assert web.get_text("#total").text == "6 EUR"
    with soft_expect:
        web.expect("h1", text="Tea")
    print("came to the end")

def test_fine(web, soft_expect):
    with soft_expect:
        assert True

def test_error(web, soft_expect):
    with soft_expect:
        raise ValueError("at once")
    print("never printed")
""",
    )
    done = project.run()
    assert done.counts() == {"failed": 2, "passed": 1}, done.text
    assert "came to the end\n" in done.text
    assert "Expectations that failed: 2." in done.text
    assert "1. test_soft.py:5: ExpectationFailed: Not as expected" in done.text
    assert f"Session web at {page}: step 2, expect" in done.text
    assert "2. test_soft.py:7: AssertionError" in done.text
    assert "ValueError: at once" in done.text
    assert "\nnever printed" not in done.text


def test_eventually_returns_the_first_true_value() -> None:
    """Assertions and false values are tried again, other errors are raised at once."""
    began, seen = time.monotonic(), []

    def third() -> str:
        seen.append(1)
        assert len(seen) > 1
        return "here" if len(seen) > 2 else ""

    assert eventually(third, every=0.001) == "here"
    with pytest.raises(AssertionError, match=r"After 0 s it still returns 0\."):
        eventually(lambda: 0, timeout=0)
    with pytest.raises(AssertionError, match="not yet"):
        eventually(_fail, timeout=0.01)
    with pytest.raises(ZeroDivisionError):
        eventually(lambda: 1 // 0)
    assert time.monotonic() - began < 5


def _fail() -> bool:
    raise AssertionError("not yet")
