"""Codes in boxes of one character each: where the characters of a text go, and what is said of the others."""

from __future__ import annotations

from html import escape

import pytest

from tests.e2e.stage import HEAR, Stage

pytestmark = pytest.mark.full


def code_page(move: str, *, count: int = 6, attributes: str = "maxlength=1 inputmode=numeric") -> str:
    """A form with boxes, an amount before it and a message behind it; `move` is run with each `box`."""
    boxes = "".join(f"<span><input class=box aria-label='Digit {n}' {attributes}></span>" for n in range(1, count + 1))
    return (
        f"<input aria-label=Amount><fieldset id=group><legend>Code</legend><div>{boxes}</div></fieldset>"
        f"<textarea id=message aria-label=Message></textarea><button id=send>Send</button>{HEAR}<script>"
        "boxes = [...document.querySelectorAll('.box')];"
        "next = box => boxes[boxes.indexOf(box) + 1]; code = () => boxes.map(box => box.value || '_').join('');"
        f"boxes.forEach(box => {{ {move} }}); hear('input'); boxes[0].focus()</script>"
    )


ON_INPUT = "box.oninput = () => box.value && next(box)?.focus()"
ON_KEYUP = "box.onkeyup = event => event.key.length === 1 && next(box)?.focus()"
BY_TIMER = "box.oninput = () => setTimeout(() => next(box)?.focus(), 60)"
IN_NEXT_FRAME = "box.oninput = () => requestAnimationFrame(() => next(box)?.focus())"
CONTROLLED = (
    "box.onkeydown = event => { if (event.key.length > 1) return; event.preventDefault(); box.value = event.key;"
    "next(box)?.focus() }"
)
PASTED = "box.onpaste = event => event.preventDefault()"
DISABLED = (
    "box.disabled = box !== boxes[0]; box.oninput = () => { const after = next(box); if (after) { after.disabled ="
)
DISABLED = f"{DISABLED} false; after.focus() }} }}"
MOVES = {
    "input": ON_INPUT, "keyup": ON_KEYUP, "timer": BY_TIMER, "frame": IN_NEXT_FRAME, "keydown": CONTROLLED,
    "enabled": DISABLED,
}  # fmt: skip


@pytest.mark.required
def test_a_typed_code_goes_on_in_the_boxes_that_the_page_moves_the_focus_to(stage: Stage) -> None:
    """Each box gets its character, with trusted events."""
    stage.show(code_page(ON_INPUT))
    assert "warnings" not in stage.ok("press_keys", text="280473")
    assert stage.js("code()") == "280473"
    assert all(event["trusted"] for event in stage.heard("input"))


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_a_typed_code_follows_the_focus_however_the_page_moves_it(stage: Stage, move: str) -> None:
    """By an event of the input or key, later by a timer, or in the next frame."""
    stage.show(code_page(move))
    assert "warnings" not in stage.ok("press_keys", text="280473", selector="label=Digit 1")
    assert stage.js("code()") == "280473"


@pytest.mark.parametrize(
    "attributes",
    ["maxlength=1 type=password", "maxlength=1 type=tel", "type=number size=1", "size=1", "pattern=[0-9]"],
)
def test_boxes_of_every_type_take_a_typed_code(stage: Stage, attributes: str) -> None:
    """Boxes are fields of one character by their length, size or pattern."""
    stage.show(code_page(ON_INPUT, attributes=attributes))
    stage.ok("press_keys", text="731946")
    assert stage.js("code() === '731946'")


@pytest.mark.parametrize(
    ("away", "held", "said"),
    [
        ("message.focus()", "", 'the focus moved to textbox "Message" [e'),
        ("send.focus()", "", 'the focus moved to button "Send" [e'),
        ("setTimeout(() => message.focus(), 60)", "", 'the focus moved to textbox "Message" [e'),
        ("0", "", 'the focus is in textbox "Digit 3" [e'),
        ("box.blur()", "", "characters did not arrive."),
    ],
    ids=["field", "button", "later", "nowhere", "blurred"],
)
def test_what_does_not_arrive_in_the_boxes_is_said_and_goes_nowhere_else(
    stage: Stage, away: str, held: str, said: str
) -> None:
    """A page that moves the focus away from the code gets no more of it; the message does not quote the code."""
    stage.show(code_page(f"box.oninput = () => {{ if (box === boxes[2]) {away}; else next(box)?.focus() }}"))
    (warning,) = stage.ok("press_keys", text="280473")["warnings"]
    assert warning.startswith("3 of 6 characters did not arrive")
    assert said in warning
    assert "473" not in warning
    assert stage.js("[code(), message.value]") == ["280___", held]


def test_a_text_longer_than_the_boxes_goes_no_further(stage: Stage) -> None:
    """What is left when the last box has its character did not arrive."""
    stage.show(code_page(ON_INPUT, count=4))
    (warning,) = stage.ok("press_keys", text="280473")["warnings"]
    assert warning.startswith("2 of 6 characters did not arrive")
    assert stage.js("code()") == "2804"


def test_a_text_that_a_lone_field_cuts_is_typed_as_before(stage: Stage) -> None:
    """A field of one character beside others is no box of a code."""
    stage.show("<input id=f maxlength=1 aria-label=Initial><input id=g aria-label=Name><script>f.focus()</script>")
    stage.ok("press_keys", text="AB")
    assert stage.js("[f.value, g.value]") == ["A", ""]
    assert "now holds 'A'" in stage.ok("set_value", selector="#f", value="AC")["warnings"][0]


@pytest.mark.required
def test_set_value_fills_a_code_whether_the_page_moves_the_focus_or_not(stage: Stage) -> None:
    """The group takes the whole code, as its first box does."""
    stage.show(code_page(PASTED))
    assert "warnings" not in stage.ok("set_value", selector="#group", value="280473")
    assert stage.js("code()") == "280473"


@pytest.mark.parametrize("move", [*MOVES.values(), PASTED], ids=[*MOVES.keys(), "none"])
@pytest.mark.parametrize("selector", ["#group", "label=Digit 1"])
def test_set_value_fills_a_code_in_every_sort_of_boxes(stage: Stage, move: str, selector: str) -> None:
    """A value set again replaces the one before; spaces between its parts are left out."""
    stage.show(code_page(move))
    for value in ("280 473", "519-206"):
        assert "warnings" not in stage.ok("set_value", selector=selector, value=value)
        assert stage.js("code()") == value.replace(" ", "").replace("-", "")


def test_set_value_begins_in_the_box_that_it_names(stage: Stage) -> None:
    """The boxes before keep what they hold; what does not fit is said."""
    stage.show(code_page(ON_INPUT))
    stage.ok("set_value", selector="#group", value="111111")
    (warning,) = stage.ok("set_value", selector="label=Digit 5", value="789")["warnings"]
    assert warning.startswith("1 of 3 characters did not arrive")
    assert stage.js("code()") == "111178"


def test_a_code_that_is_sent_with_its_last_character_navigates(stage: Stage) -> None:
    """A form that sends itself has taken the code, and nothing is missing."""
    there = stage.page("<h1>Welcome</h1>", title="There")
    sends = f"box.oninput = () => {{ if (next(box)) next(box).focus(); else location.href = '{there}#' + code() }}"
    for tool, given in (("press_keys", {"text": "280473"}), ("set_value", {"selector": "#group", "value": "280473"})):
        stage.show(code_page(sends))
        assert "warnings" not in stage.ok(tool, **given, observe="change")
        assert stage.js("location.hash") == "#280473"


@pytest.mark.parametrize("sandbox", ["", "sandbox=allow-scripts"], ids=["same origin", "own origin"])
def test_a_code_is_typed_in_a_frame(stage: Stage, sandbox: str) -> None:
    """Boxes in a frame are found, filled and read back there."""
    inner = code_page(ON_INPUT, attributes="maxlength=1")
    stage.show(f'<iframe {sandbox} width=600 height=300 srcdoc="{escape(inner)}"></iframe>')
    for tool, given in (
        ("press_keys", {"selector": "iframe >> label=Digit 1", "text": "519206"}),
        ("set_value", {"selector": "iframe >> #group", "value": "280473"}),
    ):
        assert "warnings" not in stage.ok(tool, **given)
        digits = [line.rpartition(" = ")[2] for line in stage.outline() if "Digit" in line]
        assert digits == [f'"{digit}"' for digit in given.get("text") or given["value"]]


def test_a_code_in_password_boxes_is_never_shown(stage: Stage) -> None:
    """What is typed there is masked, with either tool."""
    shows = f"{ON_INPUT}; box.addEventListener('input', () => out.textContent = code())"
    stage.show("<p id=out></p>" + code_page(shows, count=8, attributes="maxlength=1 type=password"))
    for tool, given in (
        ("set_value", {"selector": "#group", "value": "fishwort"}),
        ("press_keys", {"selector": "label=Digit 1", "text": "swordfen"}),
    ):
        answer = stage.call(tool, **given)
        assert not answer.failed
        shown = stage.call("get_text", selector="#out").text
        assert not any(word in answer.text + shown for word in ("fishwort", "swordfen"))


def test_a_text_typed_over_a_full_code_is_dropped_by_the_page_and_said(stage: Stage) -> None:
    """A box that holds its character takes no other one at the caret; set_value replaces it."""
    stage.show(code_page(ON_INPUT, count=4))
    stage.ok("set_value", selector="#group", value="2804")
    (warning,) = stage.ok("press_keys", selector="label=Digit 1", text="5192")["warnings"]
    assert warning.startswith("4 of 4 characters did not arrive")
    assert stage.js("code()") == "2804"
