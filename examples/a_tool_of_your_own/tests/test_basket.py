"""Tests of the installed actions in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from orchestrator_basket import AddUp, TakeOff

from orchestrator.errors import ExpectationFailed
from orchestrator.settings import Settings
from orchestrator.sync import Orchestrator, Session

PAGE = "data:text/html,<ul id=basket><li>Tea 4.50<li>Pot 9.00</ul>"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Yield a browser that shows a basket."""
    home: Path = tmp_path_factory.mktemp("home")
    with Orchestrator(Settings(home=home)) as orchestrator, orchestrator.start_browser() as session:
        session.navigate(PAGE)
        yield session


def test_add_up_sums_the_prices_in_the_selected_element(session: Session) -> None:
    """Only prices in the selected element are added up."""
    assert session.perform(AddUp(selector="#basket")).total == "13.50"


def test_a_wrong_sum_fails_with_the_expected_and_actual_total(session: Session) -> None:
    """A wrong expectation is an error with the expected and the actual total in its details."""
    with pytest.raises(ExpectationFailed) as failed:
        session.perform(AddUp(selector="#basket", expect="20.00"))
    assert failed.value.details == {"expected": "20.00", "actual": "13.50"}


def test_actions_of_a_package_share_globals_and_vars_with_scripts(session: Session) -> None:
    """A script reads what the action stored, and the next action what the script changed."""
    session.perform(AddUp(selector="#basket"))
    assert session.run_script("prices.push('6.50'); return [prices.length, vars.get('total')]").value == [3, "13.50"]
    assert session.perform(TakeOff(percent=50)).total == "10.00"
    assert session.run_script("return vars.get('total')").value == "10.00"


def test_a_script_calls_actions_of_a_package_by_camel_case_and_snake_case_names(session: Session) -> None:
    """Actions of a package are functions in a script, by both names; what they store is there at once."""
    script = """
        const sum = await page.addUp({selector: "#basket"});
        prices.pop();
        const less = await take_off({percent: 0});
        return [sum.total, less.total, vars.get("total")];
    """
    assert session.run_script(script).value == ["13.50", "4.50", "4.50"]
