"""select_option: one or several options of selects, chosen by real input."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

INPUTS = f"{HEAR}<script>hear('input', 'change')</script>"
ONE = f"<select id=f><option value=r>Red<option value=g>Green<option value=2>Two<option disabled>No</select>{INPUTS}"
SEVERAL = (
    "<select id=f multiple size=4><option selected>a<option>b<option selected>c<option value=4>d"
    f"{''.join(f'<option>more {n}' for n in range(20))}<option disabled>none</select>{INPUTS}"
)
CHOSEN = "[...f.selectedOptions].map(option => option.label)"


@pytest.mark.parametrize(
    ("given", "label"), [("g", "Green"), ("Green", "Green"), ("1", "Green"), ("2", "Two"), ("0", "Red")]
)
def test_select_option_chooses_one_by_value_label_or_index(stage: Stage, given: str, label: str) -> None:
    """An option is found by value, else by label, else by index, and chosen with trusted events."""
    stage.show(ONE)
    answer = stage.ok("select_option", selector="#f", values=[given])
    assert "warnings" not in answer
    assert stage.js(CHOSEN) == [label]
    assert all(event["trusted"] for event in stage.heard())


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (["b", "d"], ["b", "d"]),
        (["4", "0"], ["a", "d"]),
        pytest.param(["a", "c"], ["a", "c"], marks=pytest.mark.core),
        (["more 19", "a", "more 7"], ["a", "more 7", "more 19"]),
        ([], []),
    ],
)
def test_select_option_sets_exactly_the_given_options(stage: Stage, given: list[str], labels: list[str]) -> None:
    """Other options are deselected, and options out of sight are scrolled to, all by real clicks."""
    stage.show(SEVERAL)
    answer = stage.ok("select_option", selector="#f", values=given)
    assert "warnings" not in answer
    assert stage.js(CHOSEN) == labels
    assert all(event["trusted"] for event in stage.heard())


def test_select_option_fires_no_event_when_the_options_are_selected_already(stage: Stage) -> None:
    """Options that are selected already are left alone."""
    stage.show(SEVERAL)
    stage.ok("select_option", selector="#f", values=["a", "c"])
    assert stage.heard() == []


@pytest.mark.parametrize(
    ("html", "values", "code", "expected"),
    [
        (ONE, ["r", "g"], "invalid_argument", "takes exactly one value"),
        (ONE, [], "invalid_argument", "takes exactly one value"),
        (ONE, ["Blue"], "not_actionable", 'has no option "Blue". Available: "Red", "Green", "Two", "No"'),
        (ONE, ["17"], "not_actionable", 'has no option "17"'),
        (ONE, ["No"], "not_actionable", 'option "No" is disabled'),
        (SEVERAL, ["b", "z"], "not_actionable", 'has no option "z". Available: "a", "b"'),
        (SEVERAL, ["b", "none"], "not_actionable", 'option "none" is disabled'),
        ("<select id=f disabled><option value=r>Red</select>", ["r"], "not_actionable", "is disabled"),
        ("<input id=f>", ["r"], "not_actionable", "is not a select. Click it, then click its option."),
    ],
)
def test_an_option_that_cannot_be_selected_is_refused_and_nothing_changes(
    stage: Stage, html: str, values: list[str], code: str, expected: str
) -> None:
    """The error gives the reason and the options that can be selected, and the page gets no event."""
    stage.show(html + INPUTS)
    assert expected in refused(stage.call("select_option", selector="#f", values=values, timeout=100), code)
    assert stage.heard() == []


def test_select_option_refuses_values_that_are_no_list(stage: Stage) -> None:
    """A string or a missing list is an invalid_argument error."""
    refused(stage.call("select_option", selector="#f", values="r"), "invalid_argument")
    refused(stage.call("select_option", selector="#f"), "invalid_argument")


def test_a_page_that_changes_the_selected_option_is_a_warning(stage: Stage) -> None:
    """The selection is read back, and a difference is reported."""
    stage.show("<select id=f onchange='selectedIndex = 0'><option>a<option>b</select>")
    [warning] = stage.ok("select_option", selector="#f", values=["b"])["warnings"]
    assert warning == "The page changed the value: the field now holds 'a'."


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_select_option_works_in_frames(stage: Stage, host: str) -> None:
    """A dropdown and a list box are set in a frame below the viewport."""
    told = "<p id=out></p><script>setInterval(() => out.textContent = [...document.querySelectorAll('option:checked')]"
    page = f"<select id=o><option>x<option>y</select><select id=s multiple><option>a<option>b<option>c</select>{told}"
    inner = stage.page(f"{page}.map(o => o.value))</script>").replace("127.0.0.1", host)
    stage.show(f"<div style='height: 900px'></div><iframe src='{inner}'></iframe>")
    stage.ok("select_option", selector="#o", values=["y"])
    stage.ok("select_option", selector="iframe >> #s", values=["a", "c"])
    stage.ok("wait_for", selector="#out", text="y,a,c")


def test_select_option_works_in_a_shadow_root_as_a_sequence_step(stage: Stage) -> None:
    """A sequence step finds the select by its label."""
    stage.show(
        "<x-a></x-a><script>root = document.querySelector('x-a').attachShadow({mode: 'open'});"
        "root.innerHTML = '<label>Size <select multiple><option>S<option>M<option>L</select></label>'</script>"
    )
    actions: list[dict[str, Any]] = [{"action": "select_option", "selector": "label=Size", "values": ["S", "L"]}]
    assert stage.ok("execute_sequence", actions=actions)["completed"] == 1
    assert stage.js("[...root.querySelectorAll('option:checked')].map(o => o.value)") == ["S", "L"]
