"""press_keys and scroll: the keyboard and the wheel."""

from __future__ import annotations

import pytest

from tests.e2e.stage import HEAR, Stage, refused

KEYS = f"{HEAR}<script>hear('keydown', 'keyup', 'input')</script>"
TALL = "<p id=top>top</p><div style='height:5000px'></div><p id=end>end</p>"


def test_a_key_goes_to_what_has_the_focus(stage: Stage) -> None:
    """Trusted, down and up."""
    stage.show(f"<input id=a autofocus><input id=b>{KEYS}<script>b.focus()</script>")
    stage.ok("press_keys", keys="x")
    assert [(event["type"], event["key"], event["id"], event["trusted"]) for event in stage.heard()] == [
        ("keydown", "x", "b", True),
        ("input", None, "b", True),
        ("keyup", "x", "b", True),
    ]


@pytest.mark.core
def test_a_selector_is_focused_first(stage: Stage) -> None:
    """By ref or any other selector."""
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
def test_names_and_combinations(stage: Stage, keys: str, seen: list[str]) -> None:
    """What the page sees pressed, in its order."""
    stage.show(f"<div id=a tabindex=0>x</div><button>1</button><button>2</button>{KEYS}<script>a.focus()</script>")
    stage.ok("press_keys", keys=keys, observe="none")
    pressed = [event["key"] for event in stage.heard("keydown")]
    assert [key.upper() for key in pressed] == [key.upper() for key in seen]
    assert len(stage.heard("keyup")) == len(seen)


def test_a_modifier_is_up_again_afterwards(stage: Stage) -> None:
    """The next key is a plain one."""
    stage.show(f"<input id=a autofocus>{KEYS}<script>a.focus()</script>")
    stage.ok("press_keys", keys="Shift+Home", observe="none")
    stage.ok("press_keys", keys="x", observe="none")
    assert stage.heard("keydown")[-1]["shift"] is False
    assert stage.js("a.value") == "x"


def test_it_reports_what_the_key_changed(stage: Stage) -> None:
    """`change` is the default: the page as the key left it."""
    stage.show(
        "<script>addEventListener('keydown', e => { if (e.key === 'Enter') document.body.append('sent') })</script>"
    )
    answer = stage.ok("press_keys", keys="Enter")
    assert answer["stateChange"]["appeared"] == ["text: sent"]
    assert answer["stable"] is True


@pytest.mark.parametrize(
    ("keys", "said"), [("Entre", "Did you mean 'Enter'?"), ("", "'keys'"), ("   ", "No key was given")]
)
def test_what_is_no_key_is_refused(stage: Stage, keys: str, said: str) -> None:
    """With the nearest name, before anything is pressed."""
    assert said in refused(stage.call("press_keys", keys=keys), "invalid_argument")


def test_what_takes_no_focus_is_told(stage: Stage) -> None:
    """Keys would go elsewhere."""
    stage.show("<p id=a>text</p>")
    assert "does not take the focus" in refused(
        stage.call("press_keys", keys="x", selector="#a", timeout=100), "not_actionable"
    )


@pytest.mark.core
def test_an_element_is_scrolled_into_view(stage: Stage) -> None:
    """By its selector alone; one that is in view stays where it is."""
    stage.show(TALL)
    stage.ok("scroll", selector="#end")
    down = stage.js("scrollY")
    assert down > 3000
    stage.ok("scroll", selector="#end")
    assert stage.js("scrollY") == down
    stage.ok("scroll", selector="text=top")
    assert stage.js("scrollY") == 0


def test_the_page_is_scrolled_by_a_screenful(stage: Stage) -> None:
    """By real wheel events, and the answer comes when it is at rest."""
    stage.show(f"{TALL}{HEAR}<script>hear('wheel')</script>")
    answer = stage.ok("scroll", direction="down")
    assert "warnings" not in answer
    assert 300 < stage.js("scrollY") <= stage.js("innerHeight")
    assert all(event["trusted"] for event in stage.heard("wheel"))
    assert stage.heard("wheel")


@pytest.mark.parametrize(("direction", "at"), [("down", [0, 250]), ("right", [250, 0])])
def test_pixels_say_how_far(stage: Stage, direction: str, at: list[int]) -> None:
    """In each direction and back."""
    stage.show("<div style='width:5000px;height:5000px'></div>")
    stage.ok("scroll", direction=direction, pixels=250)
    assert stage.js("[scrollX, scrollY]") == at
    stage.ok("scroll", direction={"down": "up", "right": "left"}[direction], pixels=100)
    assert sum(stage.js("[scrollX, scrollY]")) == 150


def test_inside_an_element(stage: Stage) -> None:
    """With selector and direction the part scrolls and the page does not."""
    stage.show(f"<div id=box style='height:200px;overflow:auto'><div style='height:2000px'>in</div></div>{TALL}")
    stage.ok("scroll", selector="#box", direction="down", pixels=300)
    assert stage.js("[box.scrollTop, scrollY]") == [300, 0]


def test_at_the_end_it_succeeds_and_says_so(stage: Stage) -> None:
    """Reached with this call, or before it."""
    stage.show(TALL)
    [reached] = stage.ok("scroll", direction="down", pixels=100_000)["warnings"]
    assert reached.startswith("Reached the end after ")
    answer = stage.call("scroll", direction="down")
    assert answer.data["warnings"] == ["It is at its end already: nothing more to scroll down."]
    assert answer.data["warnings"][0] in answer.text
    assert stage.ok("scroll", direction="left")["warnings"] == [
        "It is at its end already: nothing more to scroll left."
    ]


def test_a_page_whose_main_part_scrolls(stage: Stage) -> None:
    """Where the page itself cannot scroll, its largest scrolling part does."""
    stage.show(
        "<style>body{margin:0;height:100vh;overflow:hidden}</style>"
        "<main id=m style='height:100vh;overflow:auto'><div style='height:4000px'>long</div></main>"
    )
    stage.ok("scroll", direction="down", pixels=500)
    assert stage.js("m.scrollTop") == 500


def test_the_page_is_scrolled_and_not_what_scrolls_in_it(stage: Stage) -> None:
    """The wheel turns beside the part in the middle; that part scrolls where it is asked for."""
    stage.show(f"<div id=m style='height:500px;margin:50px;overflow:auto'>{TALL}</div>{TALL}")
    stage.ok("scroll", direction="down", pixels=300)
    assert stage.js("[scrollY, m.scrollTop]") == [300, 0]
    stage.ok("scroll", selector="#m", direction="down", pixels=200)
    assert stage.js("[scrollY, m.scrollTop]") == [300, 200]


def test_what_is_loaded_by_scrolling_is_there_afterwards(stage: Stage) -> None:
    """`observe: change` waits for what the scrolling brings."""
    stage.show(f"{TALL}<script>addEventListener('scroll', () => end.append(' more'), {{once: true}})</script>")
    change = stage.ok("scroll", direction="down", observe="change")["stateChange"]
    assert change["changed"] or change["appeared"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "ive selector, direction, or both"),
        ({"selector": "p", "pixels": 10}, "ixels needs direction"),
        ({"direction": "inwards"}, "'direction' must be 'up', 'down', 'left' or 'right'"),
        ({"direction": "up", "pixels": 0}, "'pixels'"),
    ],
)
def test_what_makes_no_sense_is_refused(stage: Stage, arguments: dict[str, object], said: str) -> None:
    """A sentence each."""
    assert said in refused(stage.call("scroll", **arguments), "invalid_argument")
