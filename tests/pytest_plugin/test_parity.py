"""Users that should show the same, and the page about those that do not."""

from __future__ import annotations

import pytest

from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator
from tests.pytest_plugin.conftest import Project
from tests.servers.site import Site

pytestmark = [pytest.mark.full, pytest.mark.browser]

CART = "<h1>Cart</h1><p id=time>{time}</p><button onclick=\"document.title = 'paid'\">{pay}</button><p id=more></p>"


def test_users_that_differ_fail_the_test_with_a_page_of_pictures(project: Project, site: Site) -> None:
    """Lines that only one has are in the message; the page has all pictures, the differences and what was ignored."""
    one = site.page("/one", CART.format(time="10:00", pay="Pay"))
    other = site.page("/other", CART.format(time="10:01", pay="Buy"))
    project.write(
        "test_cart.py",
        f"""
import pytest

pytestmark = [pytest.mark.users("ann", navigation_url={one!r}), pytest.mark.users("ben", navigation_url={other!r})]

def test_same_title(sessions):
    sessions.expect_same(of="elements", ignore=["button", "#time"])

def test_lines(sessions):
    sessions.expect_same("ann", "ben", of="elements", ignore=["#time"])

def test_pixels(sessions):
    sessions.expect_same("ann", "ben", of="screenshot")

def test_steps(sessions):
    sessions.run_in_step([{{"action": "scroll", "selector": "h1"}}, {{"action": "get_text"}}])
""",
    )
    done = project.run()
    assert done.counts() == {"failed": 3, "passed": 1}, done.text
    assert "SessionsDiffer: Not the same elements." in done.text
    assert 'only in ann: button "Pay"' in done.text
    assert "SessionsDiffer: Not the same after step 0 (scroll)." in done.text
    results = project.folder / "test-results"
    with Orchestrator(Settings(home=project.home.folder)) as reader:
        page = reader.start_browser(navigation_url=(results / "test_cart-test_lines" / "parity-1.html").as_uri())
        text = page.get_text().text
        assert 'only ann: button "Pay"' in text
        assert 'only ben: button "Buy"' in text
        assert "Ignored\n#time" in text.replace("\n\n", "\n")
        page.navigate((results / "test_cart-test_pixels" / "parity-1.html").as_uri())
        loaded = "return [...document.images].map(image => image.alt + ' ' + (image.naturalWidth > 0))"
        assert page.execute_script(loaded).value == ["ann true", "ben true", "ben: what differs true"]
