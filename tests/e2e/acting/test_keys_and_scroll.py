"""press_keys and scroll: the keyboard and the wheel."""

from __future__ import annotations

import pytest

from tests.e2e.stage import HEAR, Stage, refused

pytestmark = pytest.mark.full

KEYS = f"{HEAR}<script>hear('keydown', 'keyup', 'input')</script>"
TALL = "<p id=top>top</p><div style='height:5000px'></div><p id=end>end</p>"


def test_a_key_goes_to_the_focused_element(stage: Stage) -> None:
    """A key press sends trusted keydown, input and keyup events to the focused element."""
    stage.show(f"<input id=a autofocus><input id=b>{KEYS}<script>b.focus()</script>")
    stage.ok("press_keys", keys="x")
    assert [(event["type"], event["key"], event["id"], event["trusted"]) for event in stage.heard()] == [
        ("keydown", "x", "b", True),
        ("input", None, "b", True),
        ("keyup", "x", "b", True),
    ]


@pytest.mark.core
def test_press_keys_focuses_its_selector_first(stage: Stage) -> None:
    """Keys given with a selector go to the element that it names."""
    stage.show(f"<input id=a value=one><input id=b value=two>{KEYS}")
    stage.ok("press_keys", keys="Control+A Delete", selector="#b")
    assert stage.js("[a.value, b.value]") == ["one", ""]


@pytest.mark.parametrize(
    ("keys", "seen"),
    [
        ("Enter", ["Enter"]),
        ("Tab Tab", ["Tab", "Tab"]),
        ("Control+Shift+K", ["Control", "Shift", "K"]),
        ("esc F2 down", ["Escape", "F2", "ArrowDown"]),
        ("a b", ["a", "b"]),
    ],
)
def test_key_names_and_combinations_reach_the_page_in_order(stage: Stage, keys: str, seen: list[str]) -> None:
    """Key names, their aliases and combinations arrive at the page as the right keys."""
    stage.show(f"<div id=a tabindex=0>x</div><button>1</button><button>2</button>{KEYS}<script>a.focus()</script>")
    stage.ok("press_keys", keys=keys, observe="none")
    pressed = [event["key"] for event in stage.heard("keydown")]
    assert [key.upper() for key in pressed] == [key.upper() for key in seen]
    assert len(stage.heard("keyup")) == len(seen)


def test_a_modifier_key_is_released_after_its_combination(stage: Stage) -> None:
    """The key after a combination is pressed without its modifier."""
    stage.show(f"<input id=a autofocus>{KEYS}<script>a.focus()</script>")
    stage.ok("press_keys", keys="Shift+Home", observe="none")
    stage.ok("press_keys", keys="x", observe="none")
    assert stage.heard("keydown")[-1]["shift"] is False
    assert stage.js("a.value") == "x"


def test_press_keys_reports_what_the_key_changed(stage: Stage) -> None:
    """A key press reports by default how it changed the page."""
    stage.show(
        "<script>addEventListener('keydown', e => { if (e.key === 'Enter') document.body.append('sent') })</script>"
    )
    answer = stage.ok("press_keys", keys="Enter")
    assert answer["stateChange"]["appeared"] == ["text: sent"]
    assert answer["stable"] is True


@pytest.mark.parametrize(
    ("keys", "expected"), [("Entre", "Did you mean 'Enter'?"), ("", "'keys'"), ("   ", "No key was given")]
)
def test_an_unknown_or_empty_key_is_refused(stage: Stage, keys: str, expected: str) -> None:
    """An unknown key is refused with the nearest name, before anything is pressed."""
    assert expected in refused(stage.call("press_keys", keys=keys), "invalid_argument")


def test_press_keys_on_an_unfocusable_element_is_not_actionable(stage: Stage) -> None:
    """Keys for an element that takes no focus are refused, since they would go elsewhere."""
    stage.show("<p id=a>text</p>")
    assert "does not take the focus" in refused(
        stage.call("press_keys", keys="x", selector="#a", timeout=100), "not_actionable"
    )


@pytest.mark.core
def test_an_element_is_scrolled_into_view(stage: Stage) -> None:
    """A selector alone scrolls its element into view; one that is in view stays where it is."""
    stage.show(TALL)
    stage.ok("scroll", selector="#end")
    down = stage.js("scrollY")
    assert down > 3000
    stage.ok("scroll", selector="#end")
    assert stage.js("scrollY") == down
    stage.ok("scroll", selector="text=top")
    assert stage.js("scrollY") == 0


def test_scroll_without_pixels_moves_the_page_by_a_screenful(stage: Stage) -> None:
    """Real wheel events scroll the page, and the answer comes when it has settled."""
    stage.show(f"{TALL}{HEAR}<script>hear('wheel')</script>")
    answer = stage.ok("scroll", direction="down")
    assert "warnings" not in answer
    assert 300 < stage.js("scrollY") <= stage.js("innerHeight")
    assert all(event["trusted"] for event in stage.heard("wheel"))
    assert stage.heard("wheel")


@pytest.mark.parametrize(("direction", "at"), [("down", [0, 250]), ("right", [250, 0])])
def test_scroll_pixels_set_the_distance_in_each_direction(stage: Stage, direction: str, at: list[int]) -> None:
    """The page is scrolled by the given number of pixels, down, right and back."""
    stage.show("<div style='width:5000px;height:5000px'></div>")
    stage.ok("scroll", direction=direction, pixels=250)
    assert stage.js("[scrollX, scrollY]") == at
    stage.ok("scroll", direction={"down": "up", "right": "left"}[direction], pixels=100)
    assert sum(stage.js("[scrollX, scrollY]")) == 150


def test_scroll_with_a_selector_and_direction_scrolls_inside_the_element(stage: Stage) -> None:
    """A selector with a direction scrolls its element and not the page."""
    stage.show(f"<div id=box style='height:200px;overflow:auto'><div style='height:2000px'>in</div></div>{TALL}")
    stage.ok("scroll", selector="#box", direction="down", pixels=300)
    assert stage.js("[box.scrollTop, scrollY]") == [300, 0]


def test_scrolling_at_the_end_succeeds_with_a_warning(stage: Stage) -> None:
    """A warning reports that the end was reached, by this call or before it."""
    stage.show(TALL)
    [reached] = stage.ok("scroll", direction="down", pixels=100_000)["warnings"]
    assert reached.startswith("Reached the end after ")
    answer = stage.call("scroll", direction="down")
    assert answer.data["warnings"] == ["Already at the end: cannot scroll down any further."]
    assert answer.data["warnings"][0] in answer.text
    assert stage.ok("scroll", direction="left")["warnings"] == ["Already at the end: cannot scroll left any further."]


def test_scroll_uses_the_largest_scrollable_element_when_the_page_cannot_scroll(stage: Stage) -> None:
    """The largest scrollable element is scrolled if the page itself cannot scroll."""
    stage.show(
        "<style>body{margin:0;height:100vh;overflow:hidden}</style>"
        "<main id=m style='height:100vh;overflow:auto'><div style='height:4000px'>long</div></main>"
    )
    stage.ok("scroll", direction="down", pixels=500)
    assert stage.js("m.scrollTop") == 500


def test_scroll_moves_the_page_and_not_a_scrollable_element_in_it(stage: Stage) -> None:
    """A scrollable element in the middle of the page is scrolled only when a selector names it."""
    stage.show(f"<div id=m style='height:500px;margin:50px;overflow:auto'>{TALL}</div>{TALL}")
    stage.ok("scroll", direction="down", pixels=300)
    assert stage.js("[scrollY, m.scrollTop]") == [300, 0]
    stage.ok("scroll", selector="#m", direction="down", pixels=200)
    assert stage.js("[scrollY, m.scrollTop]") == [300, 200]


def test_content_loaded_by_scrolling_is_in_the_reported_change(stage: Stage) -> None:
    """`observe: change` waits for content that scrolling loads."""
    stage.show(f"{TALL}<script>addEventListener('scroll', () => end.append(' more'), {{once: true}})</script>")
    change = stage.ok("scroll", direction="down", observe="change")["stateChange"]
    assert change["changed"] or change["appeared"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "ive selector, direction, or both"),
        ({"selector": "p", "pixels": 10}, "ixels needs direction"),
        ({"direction": "inwards"}, "'direction' must be 'up', 'down', 'left' or 'right'"),
        ({"direction": "up", "pixels": 0}, "'pixels'"),
    ],
)
def test_bad_scroll_arguments_are_refused(stage: Stage, arguments: dict[str, object], expected: str) -> None:
    """Each wrong combination of scroll arguments is refused with a message of its own."""
    assert expected in refused(stage.call("scroll", **arguments), "invalid_argument")


def test_a_control_of_a_drawing_takes_keys_and_no_click(stage: Stage) -> None:
    """The content of a canvas takes the focus and keys; it has no place of its own to click, and the error says so."""
    drawing = "<canvas role=group aria-label=Seats><button id=a>A1</button></canvas>"
    stage.show(f"{drawing}{HEAR}<script>hear('click')</script>")
    text = refused(stage.call("click_element", selector=stage.ref('button "A1"'), timeout=20_000), "not_actionable")
    assert "is part of a drawing and has no place of its own. Press keys in it (press_keys Enter)" in text
    stage.ok("press_keys", selector='button "A1"', keys="Enter")
    assert [(event["id"], event["trusted"]) for event in stage.heard("click")] == [("a", True)]


def test_a_checkbox_without_a_size_is_clicked_at_the_box_around_it(stage: Stage) -> None:
    """A toggle that is drawn by the box around it is set by a real click there."""
    stage.show(
        "<div onclick='f.checked = !f.checked' style='width: 40px; height: 20px'><input id=f type=checkbox role=switch "
        f"aria-label=Dark style='position: absolute; width: 0; height: 0; margin: 0'></div>{HEAR}"
        "<script>hear('click')</script>"
    )
    stage.ok("set_value", selector='switch "Dark"', value="true")
    assert stage.js("f.checked") is True
    assert [event["trusted"] for event in stage.heard("click")] == [True]
