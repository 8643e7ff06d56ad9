"""set_value on other controls than text fields: checkboxes, radios, dates, colours, sliders and editors."""

from __future__ import annotations

import json

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

INPUTS = f"{HEAR}<script>hear('input', 'change', 'click')</script>"
ARIA = """<script>document.addEventListener('click', event => {
  const box = event.target.closest('[role=checkbox],[role=switch]'); if (box) toggle(box);
  const radio = event.target.closest('[role=radio]');
  if (radio) for (const each of radio.parentNode.children) each.setAttribute('aria-checked', each === radio);
}); const toggle = box => box.setAttribute('aria-checked', box.getAttribute('aria-checked') !== 'true')</script>"""


@pytest.mark.parametrize("word", ["true", "on", "checked", "yes", "Checked", True])
def test_set_value_checks_a_checkbox_with_one_real_click(stage: Stage, word: object) -> None:
    """Any usual word for true checks the box with one real click; a second call changes nothing."""
    stage.show("<label><input id=f type=checkbox>Agree</label>" + INPUTS)
    for _ in range(2):
        answer = stage.ok("set_value", selector="label=Agree", value=word)
        assert "warnings" not in answer
        assert stage.js("f.checked") is True
    assert [event["trusted"] for event in stage.heard("change")] == [True]


@pytest.mark.parametrize("word", ["false", "off", "unchecked", "no", False])
def test_set_value_unchecks_a_checkbox(stage: Stage, word: object) -> None:
    """Any usual word for false unchecks a checkbox, an indeterminate one included."""
    stage.show("<input id=f type=checkbox checked><input id=g type=checkbox><script>g.indeterminate = true</script>")
    stage.ok("set_value", selector="#f", value=word)
    stage.ok("set_value", selector="#g", value=word)
    assert stage.js("[f.checked, g.checked, g.indeterminate]") == [False, False, False]


def test_a_hidden_checkbox_is_checked_by_its_visible_label(stage: Stage) -> None:
    """A styled checkbox that is hidden itself is checked, read and clicked by its label."""
    stage.show("<label><input id=f type=checkbox style='display: none'><span>Agree</span></label>")
    stage.ok("set_value", selector="#f", value="on")
    assert stage.js("f.checked") is True
    ref = stage.ref('checkbox "Agree"')
    stage.ok("expect", selector=ref, visible=True, checked=True)
    assert stage.ok("click_element", selector=ref)["stateChange"]["changed"] == [f'checkbox "Agree" [{ref}]']
    assert stage.js("f.checked") is False


@pytest.mark.parametrize("role", ["checkbox", "switch"])
def test_an_aria_checkbox_or_switch_is_set_to_the_state_asked_for(stage: Stage, role: str) -> None:
    """Elements with role checkbox or switch and aria-checked are set like native checkboxes."""
    stage.show(f"<div id=f role={role} aria-checked=false tabindex=0>Wifi</div>{ARIA}")
    for word, state in (("on", "true"), ("on", "true"), ("off", "false")):
        stage.ok("set_value", selector="#f", value=word)
        assert stage.js("f.getAttribute('aria-checked')") == state


def test_a_checkbox_that_the_page_resets_gives_a_warning(stage: Stage) -> None:
    """A checkbox is read back after it is set, and a warning reports a differing state."""
    stage.show("<input id=f type=checkbox onclick='event.preventDefault()'>")
    [warning] = stage.ok("set_value", selector="#f", value="true")["warnings"]
    assert warning == "The page changed the value: the field now holds 'false'."


RADIOS = (
    "<label><input type=radio name=c value=r id=r>Red</label><label><input type=radio name=c value=g id=g checked>Green"
    "</label><label><input type=radio name=d value=b id=b>Blue</label>"
)


@pytest.mark.parametrize(("selector", "value"), [("#r", "true"), ("#r", "r"), ("#g", "r"), ("#g", "Red"), ("#r", "on")])
def test_a_radio_button_takes_true_or_another_option_of_its_group(stage: Stage, selector: str, value: str) -> None:
    """A radio group is set by true, by an option's value or by its label, with a real click."""
    stage.show(RADIOS + INPUTS)
    stage.ok("set_value", selector=selector, value=value)
    assert stage.js("[r.checked, g.checked]") == [True, False]
    assert all(event["trusted"] for event in stage.heard())


@pytest.mark.parametrize(
    ("value", "expected"), [("false", "only another one of its group unchecks"), ("b", "of its group")]
)
def test_a_radio_button_refuses_false_and_options_outside_its_group(stage: Stage, value: str, expected: str) -> None:
    """Refused values leave the radio group unchanged, and the error lists its options."""
    stage.show(RADIOS)
    text = refused(stage.call("set_value", selector="#g", value=value), "invalid_argument")
    assert expected in text
    assert '"Red", "Green"' in text
    assert stage.js("g.checked") is True


def test_an_aria_radio_takes_true_or_another_options_name(stage: Stage) -> None:
    """Setting an ARIA radio takes true for itself, or the name of another one in its group."""
    stage.show(
        "<div role=radiogroup><b role=radio id=f aria-checked=true>S</b>"
        "<b role=radio id=m aria-checked=false>M</b></div>" + ARIA
    )
    stage.ok("set_value", selector="#f", value="M")
    assert stage.js("m.getAttribute('aria-checked')") == "true"
    stage.ok("set_value", selector="#f", value="true")
    assert stage.js("m.getAttribute('aria-checked')") == "false"


DATES = [
    ("date", "2024-02-29", "2031-12-01"),
    ("time", "13:45", "00:07"),
    ("datetime-local", "2024-02-29T13:45", "1999-12-31T23:59"),
    ("month", "2024-02", "2030-11"),
    ("week", "2024-W07", "2026-W53"),
]


@pytest.mark.parametrize(("kind", "first", "second"), DATES)
def test_date_and_time_inputs_are_set_in_iso_form(stage: Stage, kind: str, first: str, second: str) -> None:
    """Date and time inputs take ISO values by trusted events, and can be emptied."""
    stage.show(f"<input id=f type={kind}>{INPUTS}")
    for value in (first, second, second):
        assert "warnings" not in stage.ok("set_value", selector="#f", value=value)
        assert stage.js("f.value") == value
    stage.ok("set_value", selector="#f", value="")
    assert stage.js("f.value") == ""
    assert {event["trusted"] for event in stage.heard()} == {True}


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        ("type=time step=1", "13:45:07"),
        ("type=time step=0.001", "13:45:07.123"),
        ("type=datetime-local max=9999-12-31T23:59", "2024-02-29T13:45"),
        ("type=date min=2024-02-01 max=2024-02-29", "2024-02-10"),
        ("type=datetime-local step=1 value=2020-01-05T01:02:03", "2024-02-29T13:45:30"),
    ],
)
def test_date_and_time_inputs_with_seconds_or_fixed_parts_are_set(stage: Stage, attributes: str, value: str) -> None:
    """Date and time inputs with seconds, years of four digits or parts that cannot change are set."""
    stage.show(f"<input id=f {attributes}>{INPUTS}")
    assert "warnings" not in stage.ok("set_value", selector="#f", value=value)
    assert stage.js("f.value") == value
    assert {event["trusted"] for event in stage.heard("input")} == {True}


def test_a_date_input_that_ignores_keys_is_set_by_script(stage: Stage) -> None:
    """A date input that takes no keys is set by script, and a warning reports that."""
    stage.show(f"<input id=f type=date onkeydown='event.preventDefault()'>{INPUTS}")
    [warning] = stage.ok("set_value", selector="#f", value="2024-02-29")["warnings"]
    assert "set by script" in warning
    assert stage.js("f.value") == "2024-02-29"


@pytest.mark.core
def test_a_colour_input_is_set_by_script_with_input_and_change_events(stage: Stage) -> None:
    """Setting a colour input fires input and change, also where the page overrides its value property."""
    stage.show(
        f"<input id=f type=color>{INPUTS}<script>Object.defineProperty(f, 'value', {{ set() {{}}, get: () => own(f), "
        "configurable: true }); const own = f => f.getAttribute('x') ?? Object.getOwnPropertyDescriptor("
        "HTMLInputElement.prototype, 'value').get.call(f)</script>"
    )
    [warning] = stage.ok("set_value", selector="#f", value="#ff8800")["warnings"]
    assert "set by script" in warning
    assert stage.js("f.value") == "#ff8800"
    assert [event["type"] for event in stage.heard()] == ["input", "change"]


@pytest.mark.parametrize(
    ("attributes", "value", "keys"),
    [("", "70", 3), ("value=10", "100", 1), ("min=-5 max=5 step=0.5", "-2.5", 4), ("step=any", "30", 3)],
)
def test_a_range_input_is_set_with_few_keys_and_trusted_events(
    stage: Stage, attributes: str, value: str, keys: int
) -> None:
    """A range input is set by as few keys as possible, with trusted events."""
    stage.show(f"<input id=f type=range {attributes}>{HEAR}<script>hear('keydown', 'input', 'change')</script>")
    assert "warnings" not in stage.ok("set_value", selector="#f", value=value)
    assert stage.js("f.value") == value
    assert all(event["trusted"] for event in stage.heard())
    assert len(stage.heard("keydown")) <= keys


@pytest.mark.parametrize(("value", "holds"), [("7.3", "7"), ("500", "100"), ("-3", "0")])
def test_a_range_input_gets_the_nearest_possible_value_and_a_warning(stage: Stage, value: str, holds: str) -> None:
    """A range input gets the nearest value that its step and limits allow, and a warning names it."""
    stage.show("<input id=f type=range>")
    [warning] = stage.ok("set_value", selector="#f", value=value)["warnings"]
    assert warning.endswith(f"now holds '{holds}'.")
    assert stage.js("f.value") == holds


def test_a_range_input_with_too_many_steps_is_set_by_script(stage: Stage) -> None:
    """A range of a million steps is set by script, and a warning reports that."""
    stage.show("<input id=f type=range max=1000000>")
    [warning] = stage.ok("set_value", selector="#f", value="123457")["warnings"]
    assert "set by script" in warning
    assert stage.js("f.value") == "123457"


SLIDER = """<div id=f role=slider tabindex=0 aria-valuemin=0 aria-valuemax=50 aria-valuenow=10>x</div><script>
f.onkeydown = event => { const by = { ArrowRight: STEP, ArrowLeft: -(STEP) }[event.key] ?? 0;
  f.setAttribute('aria-valuenow', Math.max(0, Math.min(50, +f.getAttribute('aria-valuenow') + by))) }</script>"""


@pytest.mark.parametrize(("step", "value"), [("1", "42"), ("5", "0"), ("-2", "30")])
def test_an_aria_slider_is_set_by_its_arrow_keys(stage: Stage, step: str, value: str) -> None:
    """An ARIA slider is set by arrow keys, also where they work the other way round."""
    stage.show(SLIDER.replace("STEP", step))
    assert "warnings" not in stage.ok("set_value", selector="#f", value=value)
    assert stage.js("f.getAttribute('aria-valuenow')") == value


def test_an_aria_slider_in_a_drawing_is_set(stage: Stage) -> None:
    """A slider that is a part of an SVG image takes the focus and its keys, too."""
    stage.show(
        SLIDER.replace("STEP", "1")
        .replace("<div id=f", "<svg width=90 height=20><g id=f")
        .replace(">x</div>", "><rect width=90 height=20 /></g></svg>")
    )
    assert "warnings" not in stage.ok("set_value", selector="role=slider", value="12")
    assert stage.js("f.getAttribute('aria-valuenow')") == "12"


def test_an_aria_spin_button_is_set_by_its_arrow_keys(stage: Stage) -> None:
    """A spin button without a field and without limits is set by the arrow keys up and down."""
    stage.show(
        "<div id=f role=spinbutton aria-label=Day tabindex=0 aria-valuenow=3>3rd</div><script>f.onkeydown = event => {"
        "const by = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;"
        "f.setAttribute('aria-valuenow', +f.getAttribute('aria-valuenow') + by) }</script>"
    )
    for value in ("7", "-2"):
        assert "warnings" not in stage.ok("set_value", selector='spinbutton "Day"', value=value)
        assert stage.js("f.getAttribute('aria-valuenow')") == value


@pytest.mark.parametrize(
    ("step", "value", "holds"), [("4", "20", ("18", "22")), ("0", "20", ("10",)), ("1", "90", ("50",))]
)
def test_an_aria_slider_that_cannot_reach_the_value_gives_a_warning(
    stage: Stage, step: str, value: str, holds: tuple[str, ...]
) -> None:
    """A warning reports the value of an ARIA slider that cannot reach the requested one."""
    stage.show(SLIDER.replace("STEP", step))
    [warning] = stage.ok("set_value", selector="#f", value=value)["warnings"]
    assert any(warning.endswith(f"now holds '{one}'.") for one in holds)


@pytest.mark.parametrize(
    ("html", "value", "expected"),
    [
        ("<input id=f type=checkbox>", "maybe", "takes true or false"),
        ("<input id=f type=date>", "29.2.2024", "takes YYYY-MM-DD"),
        ("<input id=f type=date>", "2023-02-29", "takes YYYY-MM-DD"),
        ("<input id=f type=time>", "25:00", "takes HH:MM"),
        ("<input id=f type=datetime-local>", "2024-02-29", "takes YYYY-MM-DDTHH:MM"),
        ("<input id=f type=month>", "May 2024", "takes YYYY-MM"),
        ("<input id=f type=week>", "2024-54", "takes YYYY-Www"),
        ("<input id=f type=range>", "loud", "takes a number"),
        ("<div id=f role=slider aria-valuenow=1 tabindex=0>x</div>", "", "takes a number"),
    ],
)
def test_a_value_that_a_control_cannot_hold_is_refused(stage: Stage, html: str, value: str, expected: str) -> None:
    """A value of the wrong form is refused with the accepted form, before any event."""
    if stage.browser == "firefox" and ("month" in html or "week" in html):
        pytest.skip("Firefox has no control for months and weeks, but a text field, which takes any text.")
    stage.show(html + INPUTS)
    text = refused(stage.call("set_value", selector="#f", value=value, timeout=20_000), "invalid_argument")
    assert expected in text
    assert stage.heard() == []


def test_an_invalid_colour_is_refused_and_the_input_keeps_its_value(stage: Stage) -> None:
    """An invalid colour is refused, not turned to black."""
    stage.show("<input id=f type=color value='#123456'>")
    assert "takes #rrggbb" in refused(stage.call("set_value", selector="#f", value="reddish"), "invalid_argument")
    assert stage.js("f.value") == "#123456"


@pytest.mark.parametrize("attribute", ["contenteditable", "contenteditable=plaintext-only"])
def test_contenteditable_text_is_replaced(stage: Stage, attribute: str) -> None:
    """All text of an editable element is replaced by trusted events: by one line, by several, by none."""
    stage.show(f"<div id=f {attribute}>old <b>bold</b><p>more</p></div>{INPUTS}")
    for value in ("Hello", "first\nsecond", ""):
        assert "warnings" not in stage.ok("set_value", selector="#f", value=value)
        assert stage.js("f.innerText.trim()") == value
    assert {event["trusted"] for event in stage.heard("input")} == {True}


EDITOR = """<div id=editor style='position: relative; width: 400px; height: 90px; border: 1px solid'>
<div style='overflow: hidden; position: relative; width: 3px; height: 0'><TAG id=hidden
  style='position: absolute; bottom: -1em; padding: 0; width: 1px; height: 1em; outline: none'></TAG></div>
<pre id=shown>old text</pre></div>
<script>let all = false; heard = [];
editor.onmousedown = event => { event.preventDefault(); hidden.focus() };
hidden.onkeydown = event => {
  if (event.key === 'a' && event.ctrlKey) { all = true; event.preventDefault() }
  if (event.key === 'Delete' && all) { shown.textContent = ''; all = false }
};
hidden.oninput = event => { heard.push({ type: 'input', trusted: event.isTrusted });
  const text = hidden.value ?? hidden.innerText; hidden.value = ''; hidden.textContent = '';
  setTimeout(() => { shown.textContent = all ? text : shown.textContent + text; all = false }, 50) };
</script>"""


@pytest.mark.parametrize("tag", ["textarea", "div contenteditable"])
@pytest.mark.parametrize("selector", ["#shown", "#editor", "text=old text"])
def test_an_editor_is_filled_through_the_field_that_gets_its_focus(stage: Stage, tag: str, selector: str) -> None:
    """The visible editor is clicked, and the field that has the focus then gets the text."""
    stage.show(EDITOR.replace("</TAG", f"</{tag.partition(' ')[0]}").replace("TAG", tag))
    assert "warnings" not in stage.ok("set_value", selector=selector, value="new text")
    assert stage.js("shown.textContent") == "new text"
    assert {event["trusted"] for event in stage.heard()} == {True}


def test_a_wrapper_around_one_field_stands_for_that_field(stage: Stage) -> None:
    """Setting the value of an element that wraps one visible field fills that field."""
    stage.show("<div id=w><p>Name</p><input id=f><textarea hidden></textarea></div>")
    assert "warnings" not in stage.ok("set_value", selector="#w", value="Ann")
    assert stage.js("f.value") == "Ann"


def test_several_lines_are_pasted_into_an_editor(stage: Stage) -> None:
    """Lines are pasted, since editors indent typed lines; where a page refuses the paste, they are typed."""
    stage.show(EDITOR.replace("TAG", "textarea"))
    lines = "if (a) {\n  b()\n}"
    stage.ok("set_value", selector="#shown", value=lines)
    assert stage.js("shown.textContent") == lines
    stage.js("hidden.onpaste = event => { event.preventDefault(); shown.textContent = "
             "event.clipboardData.getData('text/plain') + ' pasted' }")  # fmt: skip
    stage.ok("set_value", selector="#shown", value=lines)
    assert stage.js("shown.textContent") == f"{lines} pasted"


def test_nothing_is_typed_when_an_editor_does_not_take_the_focus(stage: Stage) -> None:
    """An editor that takes no focus is refused, and no other field gets the text."""
    stage.show("<div id=f>text<textarea style='opacity: 0' id=hidden></textarea></div><input id=other>")
    stage.js("document.querySelector('#other').focus()")
    text = refused(stage.call("set_value", selector="#f", value="x", timeout=300), "not_actionable")
    assert "clicking it focused no field" in text
    assert stage.js("[hidden.value, other.value]") == ["", ""]


FORM = (
    "<input id=c type=checkbox><input id=d type=date><input id=r type=range><div id=e contenteditable>old</div>"
    "<select id=s><option>a<option>b</select>"
)
ASKED = {"c": "on", "d": "2024-02-29", "r": "70", "e": "new", "s": "b"}
HELD = "[at('c').checked, at('d').value, at('r').value, at('e').innerText, at('s').value]"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_controls_in_frames_of_any_origin_are_set(stage: Stage, host: str) -> None:
    """Controls in same-origin and cross-origin frames are set like those of the page."""
    told = f"<p id=out></p><script>at = id => document.getElementById(id); setInterval(() => out.textContent = {HELD})"
    inner = stage.page(f"{FORM}{told}</script>").replace("127.0.0.1", host)
    stage.show(f"<div style='height: 120px'></div><iframe src='{inner}' width=500 height=300></iframe>")
    for name, value in ASKED.items():
        assert "warnings" not in stage.ok("set_value", selector=f"iframe >> #{name}", value=value)
    stage.ok("wait_for", selector="#out", text="true,2024-02-29,70,new,b")


def test_controls_in_open_shadow_roots_are_set(stage: Stage) -> None:
    """Controls in an open shadow root are set like those of the page."""
    stage.show(
        f"<x-a></x-a><script>at = id => root.getElementById(id); root = document.querySelector('x-a')"
        f".attachShadow({{mode: 'open'}}); root.innerHTML = {json.dumps(FORM)}</script>"
    )
    for name, value in ASKED.items():
        assert "warnings" not in stage.ok("set_value", selector=f"#{name}", value=value)
    assert stage.js(HELD) == [True, "2024-02-29", "70", "new", "b"]
