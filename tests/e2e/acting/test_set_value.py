"""set_value: filling fields and choosing options by trusted input."""

from __future__ import annotations

import json

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

INPUTS = f"{HEAR}<script>hear('beforeinput', 'input', 'change', 'keydown', 'keyup', 'focusin')</script>"


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<input id=f>", "Ann"),
        ("<input id=f value='was here'>", "now this"),
        ("<input id=f type=email>", "ann@example.org"),
        ("<input id=f type=search>", "größe 😀 \"'<b>"),
        ("<input id=f type=tel>", "+49 1"),
        ("<input id=f type=url>", "https://a.test/?q=1"),
        ("<input id=f type=number>", "-12.5"),
        ("<input id=f type=password value=old>", "new-one"),
        ("<textarea id=f>old\ntext</textarea>", "first\nsecond\n\tthird"),
        ("<input id=f list=l><datalist id=l><option>Berlin</datalist>", "Berlin"),
        ("<input id=f maxlength=200>", "x" * 200),
    ],
)
def test_set_value_replaces_the_text_of_a_field(stage: Stage, html: str, value: str) -> None:
    """Every kind of text field ends up with exactly the value, by trusted input events."""
    stage.show(html + INPUTS)
    answer = stage.ok("set_value", selector="#f", value=value)
    assert "warnings" not in answer
    assert stage.js(f"f.value === {json.dumps(value)}")
    heard = stage.heard("input")
    assert heard
    assert all(event["trusted"] for event in heard)


@pytest.mark.smoke
@pytest.mark.core
def test_set_value_accepts_a_json_number(stage: Stage) -> None:
    """A value that is given as a JSON number is typed as text."""
    stage.show("<input id=f type=number>")
    stage.ok("set_value", selector="#f", value=42)
    assert stage.js("f.value") == "42"


@pytest.mark.parametrize("html", ["<input id=f value=old>", "<textarea id=f>old</textarea>"])
def test_an_empty_value_clears_the_field(stage: Stage, html: str) -> None:
    """Clearing selects all and deletes it, and the page gets one trusted input event."""
    stage.show(html + INPUTS)
    stage.ok("set_value", selector="#f", value="")
    assert stage.js("f.value") == ""
    assert [event["trusted"] for event in stage.heard("input")] == [True]


def test_clearing_an_empty_field_fires_no_event(stage: Stage) -> None:
    """Clearing a field that is already empty does nothing."""
    stage.show("<input id=f>" + INPUTS)
    stage.ok("set_value", selector="#f", value="")
    assert stage.heard("input") == []


def test_keystrokes_type_each_character(stage: Stage) -> None:
    """With `keystrokes` the page sees a key event for each; without, one input event for all."""
    stage.show("<input id=f value=old>" + INPUTS)
    stage.ok("set_value", selector="#f", value="aB!", keystrokes=True)
    assert stage.js("f.value") == "aB!"
    assert [event["key"] for event in stage.heard("keydown")] == ["a", "B", "!"]
    assert all(event["trusted"] for event in stage.heard())
    stage.show("<input id=f>" + INPUTS)
    stage.ok("set_value", selector="#f", value="aB!")
    assert stage.heard("keydown") == []
    assert len(stage.heard("input")) == 1


def test_keystrokes_type_a_long_text_with_line_breaks(stage: Stage) -> None:
    """A text that needs more than one command is typed in full by keystrokes, line breaks included."""
    text = "\n".join(f"line {n} of a long text" for n in range(12))
    stage.show("<textarea id=f></textarea>")
    stage.ok("set_value", selector="#f", value=text, keystrokes=True)
    assert stage.js("f.value") == text


@pytest.mark.smoke
@pytest.mark.core
def test_submit_presses_enter_and_reports_the_new_page(stage: Stage) -> None:
    """The form is submitted as if Enter had been pressed in it, and the answer reports the new page."""
    there = stage.page("<h1>Found</h1>", title="Results")
    stage.show(f"<form action='{there}'><input name=q id=f></form>")
    answer = stage.ok("set_value", selector="#f", value="mugs", submit=True)
    assert answer["title"] == "Results"
    assert answer["url"] == f"{there}?q=mugs"
    assert answer["stateChange"]["url"]["to"] == f"{there}?q=mugs"
    assert answer["stateChange"]["appeared"][0].startswith('heading "Found"')


@pytest.mark.parametrize(("given", "value"), [("r", "r"), ("Red", "r"), ("green", "green"), ("  Light   blue ", "lb")])
def test_a_select_takes_an_options_value_or_label(stage: Stage, given: str, value: str) -> None:
    """A select takes the option's value, else its label, white space aside, and fires trusted events."""
    stage.show(
        "<select id=f><option value=''>Choose<option value=r>Red<option>green<option value=lb>Light  blue</select>"
        + INPUTS
    )
    answer = stage.ok("set_value", selector="#f", value=given)
    assert stage.js("f.value") == value
    assert "warnings" not in answer
    assert [(event["type"], event["trusted"]) for event in stage.heard() if event["type"] in ("input", "change")] == [
        ("input", True),
        ("change", True),
    ]


def test_a_missing_option_is_refused_with_a_list_of_the_existing_ones(stage: Stage) -> None:
    """The error lists the labels of the select's options, and nothing is chosen."""
    stage.show("<label>Colour <select id=f><option>Red<option>Green</select></label>")
    text = refused(stage.call("set_value", selector="#f", value="Blue", timeout=100), "not_actionable")
    assert 'has no option "Blue". Available: "Red", "Green"' in text
    assert stage.js("f.value") == "Red"


@pytest.mark.parametrize("attributes", ["size=3", "multiple"])
def test_choosing_in_a_list_box_deselects_the_option_chosen_before(stage: Stage, attributes: str) -> None:
    """An option of a list box or multiple select is clicked, and no other one stays chosen."""
    options = "".join(f"<option>o{n}" for n in range(40))
    stage.show(f"<select id=f {attributes}><option selected>first{options}</select>{INPUTS}")
    stage.ok("set_value", selector="#f", value="o30")
    assert stage.js("[...f.selectedOptions].map(o => o.value)") == ["o30"]
    assert {event["trusted"] for event in stage.heard("change")} == {True}


def test_the_right_option_is_chosen_among_many_similar_ones(stage: Stage) -> None:
    """The option asked for is chosen among disabled, hidden, grouped and similar ones, with one change event."""
    some = "".join(f"<option value={n}>Option {n}" for n in range(80))
    more = "<option disabled>Option 80<option hidden>Option 81<optgroup label=G><option>Option 82</optgroup>"
    last = "".join(f"<option>Option {n}" for n in range(83, 250))
    stage.show(f"<select id=f>{some}{more}{last}</select>{INPUTS}")
    for wanted in ("Option 82", "Option 120", "Option 249", "Option 0"):
        stage.ok("set_value", selector="#f", value=wanted)
        assert stage.js("f.selectedOptions[0].label") == wanted
    assert [event["trusted"] for event in stage.heard("change")] == [True] * 4


def test_a_select_is_set_when_the_page_swallows_keys(stage: Stage) -> None:
    """A select is set also where the page prevents every keydown."""
    stage.show("<select id=f><option>a<option>b</select><script>onkeydown = e => e.preventDefault()</script>")
    assert "warnings" not in stage.ok("set_value", selector="#f", value="b")
    assert stage.js("f.value") == "b"


def test_a_select_that_navigates_on_change_reports_the_new_page(stage: Stage) -> None:
    """A select that navigates on change is answered with the title of the new page."""
    there = stage.page("there", title="There")
    stage.show(f"<select id=f onchange='location.href = this.value'><option>here<option value='{there}'>go</select>")
    assert stage.ok("set_value", selector="#f", value="go", observe="change")["title"] == "There"


def test_options_that_are_added_late_are_waited_for(stage: Stage) -> None:
    """An option that the page adds to a select later is waited for."""
    stage.show("<select id=f><option>Red</select><script>setTimeout(() => f.append(new Option('Blue')), 300)</script>")
    stage.ok("set_value", selector="#f", value="Blue")
    assert stage.js("f.value") == "Blue"


def test_choosing_a_disabled_option_is_refused(stage: Stage) -> None:
    """A disabled option is not chosen, and the error gives that reason."""
    stage.show("<select id=f><option>Red<option disabled>Blue</select>")
    assert 'option "Blue" is disabled' in refused(
        stage.call("set_value", selector="#f", value="Blue", timeout=100), "not_actionable"
    )


@pytest.mark.parametrize("selector", ["label=E-mail", "text=E-mail", "role=textbox[name=E-mail]"])
def test_fields_are_found_by_their_labels(stage: Stage, selector: str) -> None:
    """A selector that finds a label fills the field that it labels."""
    stage.show("<label for=f>E-mail</label><input id=f>")
    stage.ok("set_value", selector=selector, value="a@b.c")
    assert stage.js("f.value") == "a@b.c"


def test_a_field_that_loses_the_focus_gives_a_warning_that_names_the_focused_one(stage: Stage) -> None:
    """A warning reports the field's value, and the focused element that got the text."""
    stage.show("<input id=f onfocus='Promise.resolve().then(() => g.focus())'><input id=g aria-label=Search>")
    stage.ok("wait_for", selector="#f")
    [warning] = stage.ok("set_value", selector="#f", value="Ann")["warnings"]
    assert "now holds ''. The focus moved to textbox \"Search\" [e" in warning


@pytest.mark.parametrize("aim", ["ref", "target", "uid", "selector"])
@pytest.mark.parametrize("name", ["text", "value"])
def test_set_value_accepts_common_aliases_of_its_arguments(stage: Stage, aim: str, name: str) -> None:
    """`ref`, `target` and `uid` are accepted for `selector`, and `text` for `value`."""
    stage.show("<input id=f>")
    stage.ok("set_value", **{aim: stage.ref("textbox"), name: "Ann"})
    assert stage.js("f.value") == "Ann"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<input id=f type=file>", "holds files. Use upload_files."),
        ("<input id=f type=date readonly>", "is read-only"),
        ("<button id=f>x</button>", "takes no value"),
        ("<p id=f>x</p>", "takes no value"),
        ("<input id=f readonly>", "is read-only. It takes no typing: if it opens a picker, click it"),
        ("<input id=f disabled>", "is disabled"),
        ("<input id=f hidden>", "is not visible"),
    ],
)
def test_an_element_that_cannot_be_filled_is_refused_with_the_reason(stage: Stage, html: str, expected: str) -> None:
    """An element that takes no value is refused with the reason or with an alternative."""
    stage.show(html)
    assert expected in refused(stage.call("set_value", selector="#f", value="2", timeout=150), "not_actionable")


def test_a_field_that_comes_late_is_waited_for(stage: Stage) -> None:
    """A field is waited for while it is absent, then disabled, then read-only."""
    stage.show(
        "<script>setTimeout(() => { document.body.innerHTML = '<input id=f disabled readonly>' }, 100);"
        "setTimeout(() => { f.disabled = false }, 200); setTimeout(() => { f.readOnly = false }, 300)</script>"
    )
    stage.ok("set_value", selector="#f", value="Ann")
    assert stage.js("f.value") == "Ann"


@pytest.mark.parametrize(
    ("html", "value", "holds"),
    [
        ("<input id=f oninput='this.value = this.value.toUpperCase()'>", "ann", "'ANN'"),
        ("<input id=f maxlength=3>", "abcdef", "'abc'"),
        ("<input id=f type=number>", "12x", ""),
        ("<input id=f value=fixed onbeforeinput='event.preventDefault()'>", "no", "'fixed'"),
    ],
)
def test_a_value_that_the_page_changes_gives_a_warning(stage: Stage, html: str, value: str, holds: str) -> None:
    """A value is read back, and a warning in text and data reports a differing one."""
    stage.show(html)
    answer = stage.call("set_value", selector="#f", value=value)
    [warning] = answer.data["warnings"]
    assert warning.startswith("The page changed the value: the field now holds ")
    assert holds in warning
    assert warning in answer.text


def test_a_field_that_is_rerendered_on_input_gives_a_warning_and_no_error(stage: Stage) -> None:
    """A field that a framework replaces on input is filled, and a warning reports that it is gone."""
    stage.show(
        "<div id=d><input id=f></div><script>d.addEventListener('input', e => { "
        "const v = e.target.value; d.innerHTML = '<input id=f>'; f.value = v })</script>"
    )
    [warning] = stage.ok("set_value", selector="#f", value="Ann")["warnings"]
    assert warning.startswith("The field is gone")
    assert stage.js("f.value") == "Ann"


def test_fields_in_shadow_roots_are_filled(stage: Stage) -> None:
    """Inputs and selects in open shadow roots are filled."""
    stage.show(
        "<x-a></x-a><script>document.querySelector('x-a').attachShadow({mode: 'open'}).innerHTML ="
        "'<input id=i><select id=s><option>a<option>b</select>'</script>"
    )
    stage.ok("set_value", selector="#i", value="deep")
    stage.ok("set_value", selector="#s", value="b")
    assert stage.js("[...document.querySelector('x-a').shadowRoot.children].map(e => e.value)") == ["deep", "b"]


def test_nothing_is_typed_elsewhere_when_the_page_moves_the_focus(stage: Stage) -> None:
    """A field that passes the focus on at once cannot be filled, and the other one stays empty."""
    stage.show("<input id=f onfocus='other.focus()'><input id=other>")
    refused(stage.call("set_value", selector="#f", value="Ann", timeout=150), "not_actionable")
    assert stage.js("[f.value, other.value]") == ["", ""]


def test_a_dialog_that_opens_at_the_input_leaves_the_value_as_it_was_given(stage: Stage) -> None:
    """A page that asks something as soon as its field has a value gets the value once."""
    stage.show("<input id=f oninput='if (!window.asked) { asked = true; alert(this.value) }'>")
    stage.ok("set_value", selector="#f", value="Ann")
    assert stage.js("f.value") == "Ann"
