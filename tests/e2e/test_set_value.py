"""set_value: filling fields and choosing options with input that the page can trust."""

from __future__ import annotations

import json

import pytest

from tests.e2e.stage import HEAR, Stage, refused

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
def test_text_replaces_what_is_there(stage: Stage, html: str, value: str) -> None:
    """Every kind of text field ends up with exactly the value, by trusted input events."""
    stage.show(html + INPUTS)
    answer = stage.ok("set_value", selector="#f", value=value)
    assert "warnings" not in answer
    assert stage.js(f"f.value === {json.dumps(value)}")
    heard = stage.heard("input")
    assert heard
    assert all(event["trusted"] for event in heard)


@pytest.mark.core
def test_a_number_may_be_given_as_one(stage: Stage) -> None:
    """`value: 42` is `"42"`."""
    stage.show("<input id=f type=number>")
    stage.ok("set_value", selector="#f", value=42)
    assert stage.js("f.value") == "42"


@pytest.mark.parametrize("html", ["<input id=f value=old>", "<textarea id=f>old</textarea>"])
def test_an_empty_value_clears(stage: Stage, html: str) -> None:
    """As a person would: select all, delete; the page hears of it."""
    stage.show(html + INPUTS)
    stage.ok("set_value", selector="#f", value="")
    assert stage.js("f.value") == ""
    assert [event["trusted"] for event in stage.heard("input")] == [True]


def test_an_empty_value_of_an_empty_field_is_no_event(stage: Stage) -> None:
    """Nothing to do, nothing done."""
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


def test_keystrokes_of_a_long_text(stage: Stage) -> None:
    """More than one command's worth, line breaks included."""
    text = "\n".join(f"line {n} of a long text" for n in range(12))
    stage.show("<textarea id=f></textarea>")
    stage.ok("set_value", selector="#f", value=text, keystrokes=True)
    assert stage.js("f.value") == text


@pytest.mark.core
def test_submit_presses_enter_and_reports(stage: Stage) -> None:
    """The form goes off as if Enter had been pressed in it, and the answer tells of the new page."""
    there = stage.page("<h1>Found</h1>", title="Results")
    stage.show(f"<form action='{there}'><input name=q id=f></form>")
    answer = stage.ok("set_value", selector="#f", value="mugs", submit=True)
    assert answer["title"] == "Results"
    assert answer["url"] == f"{there}?q=mugs"
    assert answer["stateChange"]["url"]["to"] == f"{there}?q=mugs"
    assert answer["stateChange"]["appeared"][0].startswith('heading "Found"')


@pytest.mark.parametrize(("given", "value"), [("r", "r"), ("Red", "r"), ("green", "green"), ("  Light   blue ", "lb")])
def test_a_select_takes_value_or_label(stage: Stage, given: str, value: str) -> None:
    """The option's value first, then its label, white space aside; input and change are heard and trusted."""
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


def test_an_option_that_is_not_there_is_told_with_those_that_are(stage: Stage) -> None:
    """The labels are listed, and nothing is chosen."""
    stage.show("<label>Colour <select id=f><option>Red<option>Green</select></label>")
    text = refused(stage.call("set_value", selector="#f", value="Blue", timeout=100), "not_actionable")
    assert 'has no option "Blue"; it has "Red", "Green"' in text
    assert stage.js("f.value") == "Red"


@pytest.mark.parametrize("attributes", ["size=3", "multiple"])
def test_a_list_of_options_is_clicked(stage: Stage, attributes: str) -> None:
    """Where the options stand in the page; what was chosen before no longer is."""
    options = "".join(f"<option>o{n}" for n in range(40))
    stage.show(f"<select id=f {attributes}><option selected>first{options}</select>{INPUTS}")
    stage.ok("set_value", selector="#f", value="o30")
    assert stage.js("[...f.selectedOptions].map(o => o.value)") == ["o30"]
    assert {event["trusted"] for event in stage.heard("change")} == {True}


def test_of_many_options_the_right_one(stage: Stage) -> None:
    """Disabled and hidden ones, groups and equal beginnings between them; one change is heard, whatever the way."""
    some = "".join(f"<option value={n}>Option {n}" for n in range(80))
    more = "<option disabled>Option 80<option hidden>Option 81<optgroup label=G><option>Option 82</optgroup>"
    last = "".join(f"<option>Option {n}" for n in range(83, 250))
    stage.show(f"<select id=f>{some}{more}{last}</select>{INPUTS}")
    for wanted in ("Option 82", "Option 120", "Option 249", "Option 0"):
        stage.ok("set_value", selector="#f", value=wanted)
        assert stage.js("f.selectedOptions[0].label") == wanted
    assert [event["trusted"] for event in stage.heard("change")] == [True] * 4


def test_a_select_whose_page_swallows_keys(stage: Stage) -> None:
    """It is set all the same."""
    stage.show("<select id=f><option>a<option>b</select><script>onkeydown = e => e.preventDefault()</script>")
    assert "warnings" not in stage.ok("set_value", selector="#f", value="b")
    assert stage.js("f.value") == "b"


def test_a_select_that_leaves_the_page(stage: Stage) -> None:
    """A menu of addresses: the new page is there when the answer comes, and the warning says where the field went."""
    there = stage.page("there", title="There")
    stage.show(f"<select id=f onchange='location.href = this.value'><option>here<option value='{there}'>go</select>")
    assert stage.ok("set_value", selector="#f", value="go", observe="change")["title"] == "There"


def test_options_that_come_late_are_waited_for(stage: Stage) -> None:
    """A select that is filled by a request."""
    stage.show("<select id=f><option>Red</select><script>setTimeout(() => f.append(new Option('Blue')), 300)</script>")
    stage.ok("set_value", selector="#f", value="Blue")
    assert stage.js("f.value") == "Blue"


def test_a_disabled_option_is_not_chosen(stage: Stage) -> None:
    """And the reason is told."""
    stage.show("<select id=f><option>Red<option disabled>Blue</select>")
    assert 'option "Blue" is disabled' in refused(
        stage.call("set_value", selector="#f", value="Blue", timeout=100), "not_actionable"
    )


@pytest.mark.parametrize("selector", ["label=E-mail", "text=E-mail", "role=textbox[name=E-mail]"])
def test_fields_are_found_by_their_labels(stage: Stage, selector: str) -> None:
    """The label is as good as the field."""
    stage.show("<label for=f>E-mail</label><input id=f>")
    stage.ok("set_value", selector=selector, value="a@b.c")
    assert stage.js("f.value") == "a@b.c"


def test_a_field_that_loses_the_focus_is_told_with_what_has_it(stage: Stage) -> None:
    """What was typed is there instead."""
    stage.show("<input id=f onfocus='Promise.resolve().then(() => g.focus())'><input id=g aria-label=Search>")
    stage.ok("wait_for", selector="#f")
    [warning] = stage.ok("set_value", selector="#f", value="Ann")["warnings"]
    assert "now holds ''. The focus went to textbox \"Search\" [e" in warning


@pytest.mark.parametrize("aim", ["ref", "target", "uid", "selector"])
@pytest.mark.parametrize("name", ["text", "value"])
def test_arguments_under_the_names_that_models_guess(stage: Stage, aim: str, name: str) -> None:
    """`ref`, `target`, `uid` for `selector` and `text` for `value`."""
    stage.show("<input id=f>")
    stage.ok("set_value", **{aim: stage.ref("textbox"), name: "Ann"})
    assert stage.js("f.value") == "Ann"


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<input id=f type=file>", "holds files. Use upload_files."),
        ("<input id=f type=date readonly>", "is read-only"),
        ("<button id=f>x</button>", "takes no value"),
        ("<p id=f>x</p>", "takes no value"),
        ("<input id=f readonly>", "is read-only. It takes no typing: where it opens a picker, click it"),
        ("<input id=f disabled>", "is disabled"),
        ("<input id=f hidden>", "is not visible"),
    ],
)
def test_what_it_cannot_fill_is_told(stage: Stage, html: str, said: str) -> None:
    """`not_actionable`, with what to use instead; the field keeps what it had."""
    stage.show(html)
    assert said in refused(stage.call("set_value", selector="#f", value="2", timeout=150), "not_actionable")


def test_a_field_that_comes_late_is_waited_for(stage: Stage) -> None:
    """Absent, then disabled, then read-only, then ready."""
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
def test_a_value_that_the_page_changes_is_told(stage: Stage, html: str, value: str, holds: str) -> None:
    """What was set is read back; what the field holds instead stands in a warning, in text and data."""
    stage.show(html)
    answer = stage.call("set_value", selector="#f", value=value)
    [warning] = answer.data["warnings"]
    assert warning.startswith("The page changed what was set: the field now holds ")
    assert holds in warning
    assert warning in answer.text


def test_a_field_replaced_by_its_own_event_is_no_error(stage: Stage) -> None:
    """Frameworks render anew on input."""
    stage.show(
        "<div id=d><input id=f></div><script>d.addEventListener('input', e => { "
        "const v = e.target.value; d.innerHTML = '<input id=f>'; f.value = v })</script>"
    )
    [warning] = stage.ok("set_value", selector="#f", value="Ann")["warnings"]
    assert warning.startswith("The field is gone")
    assert stage.js("f.value") == "Ann"


def test_fields_in_shadow_roots_are_filled(stage: Stage) -> None:
    """Open ones, a select in one as well."""
    stage.show(
        "<x-a></x-a><script>document.querySelector('x-a').attachShadow({mode: 'open'}).innerHTML ="
        "'<input id=i><select id=s><option>a<option>b</select>'</script>"
    )
    stage.ok("set_value", selector="#i", value="deep")
    stage.ok("set_value", selector="#s", value="b")
    assert stage.js("[...document.querySelector('x-a').shadowRoot.children].map(e => e.value)") == ["deep", "b"]


def test_nothing_is_typed_elsewhere_when_the_page_moves_the_focus(stage: Stage) -> None:
    """A field that gives the focus away at once cannot be filled, and the other one stays empty."""
    stage.show("<input id=f onfocus='other.focus()'><input id=other>")
    refused(stage.call("set_value", selector="#f", value="Ann", timeout=150), "not_actionable")
    assert stage.js("[f.value, other.value]") == ["", ""]
