"""Options of one name: what the outline says of their groups, and how one of them is chosen."""

from __future__ import annotations

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

INPUTS = f"{HEAR}<script>hear('input', 'change')</script>"
DOSES = (
    "<label>Dose <select id=f><option value=''>Choose<optgroup label=Adults><option value=a100>100 mg"
    "<option value=a200>200 mg</optgroup><optgroup label=Children><option value=c50>50 mg<option value=c100>100 mg"
    f"</optgroup></select></label>{INPUTS}"
)
SEATS = (
    "<label>Seats <select id=f multiple size=7><optgroup label=Stalls><option>Row 1<option>Row 2</optgroup>"
    f"<optgroup label='Upper circle'><option>Row 1<option>Row 3</optgroup></select></label>{INPUTS}"
)
SIZES = f"<select id=f aria-label=Size><option value=s-eu>40<option value=s-us>40<option value=l>42</select>{INPUTS}"
ROOMS = "<select id=f><optgroup label=A><option>x</optgroup><optgroup label=B><option>x</select>"
CHOSEN = "[...f.selectedOptions].map(option => `${option.parentNode.label ?? ''}/${option.value}`)"


@pytest.mark.required
def test_an_option_that_two_groups_have_is_refused_and_chosen_with_its_group(stage: Stage) -> None:
    """The refusal names each with group and value; nothing is changed until the group is given, too."""
    stage.show(DOSES)
    text = refused(stage.call("select_option", selector="label=Dose", values=["100 mg"]), "not_actionable")
    assert 'has 2 options "100 mg": Adults > 100 mg (value a100), Children > 100 mg (value c100).' in text
    assert "Give the group, too, as in Group > Option, or the value." in text
    assert stage.heard() == []
    answer = stage.ok("select_option", selector="label=Dose", values=["Children > 100 mg"])
    assert "warnings" not in answer
    assert stage.js("f.value") == "c100"


@pytest.mark.parametrize(
    ("html", "given", "expected"),
    [
        (DOSES, "100 mg", "Adults > 100 mg (value a100), Children > 100 mg (value c100)."),
        (SIZES, "40", "40 (value s-eu), 40 (value s-us)."),
        (
            "<select id=f><optgroup label=A><option>x</optgroup><optgroup label=B><option>x</select>",
            "x",
            "A > x, B > x.",
        ),
    ],
    ids=["groups", "values", "no values"],
)
def test_set_value_refuses_a_name_that_several_options_have(stage: Stage, html: str, given: str, expected: str) -> None:
    """Options that a form tells from each other by value, or a reader by their group, are several."""
    stage.show(html)
    assert expected in refused(stage.call("set_value", selector="#f", value=given), "not_actionable")
    assert stage.js("f.selectedIndex") == 0


@pytest.mark.parametrize(
    ("html", "given", "chosen"),
    [
        (DOSES, "Children > 100 mg", "Children/c100"),
        (DOSES, "Children>100 mg", "Children/c100"),
        (DOSES, " Adults  >  a100", "Adults/a100"),
        (DOSES, "c100", "Children/c100"),
        (DOSES, "50 mg", "Children/c50"),
        (SIZES, "s-us", "/s-us"),
        (DOSES.replace("Choose", "Children > 100 mg"), "Children > 100 mg", "/"),
        ("<select id=f><option value=n>None<option value=x>Same<option value=x>Same</select>", "Same", "/x"),
    ],
    ids=["group", "no spaces", "value in group", "value", "one", "value alone", "label with a sign", "equal"],
)
def test_an_option_is_chosen_by_its_group_or_value(stage: Stage, html: str, given: str, chosen: str) -> None:
    """A label that holds the sign itself comes first; options that no form tells apart are one."""
    stage.show(html)
    assert "warnings" not in stage.ok("set_value", selector="#f", value=given)
    assert stage.js(CHOSEN) == [chosen]


def test_several_options_of_a_list_are_chosen_with_their_groups(stage: Stage) -> None:
    """A list of several choices takes the groups of each, and refuses a name alone."""
    stage.show(SEATS)
    text = refused(stage.call("select_option", selector="#f", values=["Row 2", "Row 1"]), "not_actionable")
    assert "Stalls > Row 1, Upper circle > Row 1." in text
    assert stage.heard() == []
    stage.ok("select_option", selector="#f", values=["Row 2", "Upper circle > Row 1"])
    assert stage.js(CHOSEN) == ["Stalls/Row 2", "Upper circle/Row 1"]


def test_an_option_is_chosen_by_its_group_in_a_frame(stage: Stage) -> None:
    """A document in a frame has the same rule."""
    stage.show(f'<iframe title=Order srcdoc="{DOSES.replace(chr(34), "&quot;")}"></iframe>')
    assert "Adults > 100 mg" in refused(
        stage.call("set_value", selector="label=Dose", value="100 mg"), "not_actionable"
    )
    stage.ok("set_value", selector="label=Dose", value="Adults > 100 mg")
    assert stage.js("frames[0].f.value") == "a100"


def test_groups_of_options_have_lines_wherever_options_are_listed(stage: Stage) -> None:
    """An open list has them at once, a closed select where its options are asked for."""
    stage.show(SEATS)
    lines = [line.partition(" [")[0] for line in stage.outline()]
    at = lines.index('  - group "Stalls"')
    assert lines[at : at + 3] == ['  - group "Stalls"', '    - option "Row 1"', '    - option "Row 2"']
    stage.show(DOSES)
    assert not any("Children" in line for line in stage.outline())
    select = stage.ref('combobox "Dose"')
    for asked in ({"root": select}, {"query": "50 mg"}):
        lines = [line.strip().partition(" [")[0] for line in stage.outline(**asked)]
        assert lines[lines.index('- group "Children"') + 1] == '- option "50 mg"'
    assert any('option "50 mg"' in line for line in stage.outline(roles=["option"]))


def test_a_closed_select_shows_the_group_of_an_ambiguous_choice_only(stage: Stage) -> None:
    """The value of a select says which of two options of one name is chosen."""
    stage.show(DOSES)
    stage.ok("set_value", selector="#f", value="c100")
    assert any('= "Children > 100 mg"' in line for line in stage.outline())
    stage.ok("set_value", selector="#f", value="c50")
    assert any(line.endswith('= "50 mg"') for line in stage.outline())


BUTTON = "<button id=f role=combobox aria-label=Dose aria-expanded=false aria-controls=lb>Choose</button>"
FIELD = "<input id=f role=combobox aria-label=Dose aria-expanded=false aria-controls=lb>"


def own_list(items: str, box: str = BUTTON) -> str:
    """A combobox of the page's own whose list has these items; what is clicked is kept in `picked`."""
    return f"""{box}<div id=lb role=listbox hidden style="position: absolute; top: 60px; width: 200px">{items}</div>
    <script>
    picked = ''; options = [...lb.querySelectorAll('[role=option]')];
    const open = () => {{ lb.hidden = false; f.ariaExpanded = 'true' }};
    f.onclick = open;
    f.oninput = () => {{ open(); options.forEach(one => one.hidden = !one.textContent.includes(f.value)) }};
    options.forEach(one => one.onclick = () => {{
      picked = one.id; lb.hidden = true; f.ariaExpanded = 'false';
      if ('value' in f && f.matches('input')) f.value = one.textContent; else f.textContent = one.textContent;
    }});
    </script>"""


GROUPED = (
    "<div role=group aria-label=Adults><div role=option id=a1>100 mg</div><div role=option id=a2>200 mg</div></div>"
    "<div role=group aria-labelledby=h><b id=h>Children</b><div role=option id=c1>100 mg</div></div>"
)
HEADED = (
    "<div>Adults</div><div role=option id=a1 data-value=a100>100 mg</div><div role=option id=a2>200 mg</div>"
    "<div>Children</div><div role=option id=c1 data-value=c100>100 mg</div>"
)
NESTED = (
    "<section><h4>Adults</h4><ul role=presentation><li role=option id=a1>100 mg"
    "<li role=option id=a2>200 mg</ul></section>"
    "<section><h4>Children</h4><ul role=presentation><li role=option id=c1>100 mg</ul></section>"
)


@pytest.mark.parametrize("box", [BUTTON, FIELD], ids=["button", "field"])
@pytest.mark.parametrize("items", [GROUPED, HEADED, NESTED], ids=["groups", "headings", "sections"])
def test_an_option_of_a_list_of_own_elements_is_chosen_with_its_group(stage: Stage, items: str, box: str) -> None:
    """Groups are those of ARIA, or what stands above the options; a name that two groups have is refused."""
    stage.show(own_list(items, box))
    text = refused(stage.call("set_value", selector="#f", value="100 mg"), "not_actionable")
    assert 'it has 2 options "100 mg": Adults > 100 mg' in text
    assert "Children > 100 mg" in text
    assert stage.js("picked") == ""
    for given, picked in (("Children > 100 mg", "c1"), ("200 mg", "a2"), ("Adults>100 mg", "a1")):
        assert "warnings" not in stage.ok("set_value", selector="#f", value=given)
        assert stage.js("picked") == picked


def test_copies_of_an_option_are_no_second_option(stage: Stage) -> None:
    """A list may hold a hidden copy to measure it by, or draw an option twice in one group."""
    copies = "<div aria-hidden=true><div role=option id=x>200 mg</div></div>"
    stage.show(own_list(GROUPED.replace("<div role=option id=a2>", f"{copies}<div role=option id=a2>")))
    stage.ok("set_value", selector="#f", value="200 mg")
    assert stage.js("picked") == "a2"
