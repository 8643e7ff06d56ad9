"""set_viewport: the page area of an open page, and what changes with it."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

NARROW = "<style>@media (max-width: 600px) { #wide { display: none } }</style><p id=wide>wide</p><button>Menu</button>"
SIZE = "[innerWidth, innerHeight]"


@pytest.mark.parametrize(
    ("width", "height"), [(1024, 768), (400, 700), (320, 480), (800, 600), (1600, 1000), (1280, 720)]
)
def test_the_page_area_gets_its_size(stage: Stage, width: int, height: int) -> None:  # X50 X51
    """One after the other on one page, below a window's smallest width and above again."""
    stage.ok("set_viewport", width=width, height=height)
    assert stage.js(SIZE) == [width, height]


def test_it_answers_with_what_changed(stage: Stage) -> None:  # X52
    """As a click does; what the page hides when it is narrow has disappeared."""
    stage.show(NARROW)
    answer = stage.ok("set_viewport", width=500, height=700)
    assert answer["stateChange"]["disappeared"] == ["text: wide"]
    assert answer["stable"] is True
    assert "stateChange" not in stage.ok("set_viewport", width=1280, height=720, observe="none")
    assert "wide" in stage.ok("get_text")["text"]


@pytest.mark.core
def test_the_page_stays(stage: Stage) -> None:
    """It is not loaded again, and clicks land where they should."""
    stage.show("<button style='position:fixed;right:5px;bottom:5px' onclick='this.textContent = `hit`'>Go</button>")
    stage.js("void (kept = 1)")
    stage.ok("set_viewport", width=380, height=600)
    stage.ok("click_element", selector="text=Go")
    assert stage.js("[kept, document.querySelector('button').textContent]") == [1, "hit"]
    stage.ok("set_viewport", width=1280, height=720)


def test_a_tab_that_is_selected_later_has_it_too(stage: Stage) -> None:
    """New ones, and those that were there before."""
    stage.ok("tabs", action="new")
    stage.ok("set_viewport", width=450, height=640)
    stage.ok("tabs", action="select", tab="t1")
    assert stage.js(SIZE) == [450, 640]
    stage.ok("tabs", action="new")
    assert stage.js(SIZE) == [450, 640]
    stage.ok("set_viewport", width=1280, height=720)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"width": 800}, "'height' is missing"),
        ({"width": 0, "height": 600}, "width"),
        ({"width": 800, "height": 10_001}, "height"),
        ({"width": "wide", "height": 600}, "'width' must be a whole number"),
    ],
)
def test_sizes_that_mean_nothing(stage: Stage, arguments: dict[str, object], said: str) -> None:
    """`invalid_argument`; the size stays."""
    before = stage.js(SIZE)
    assert said in refused(stage.call("set_viewport", **arguments), "invalid_argument")
    assert stage.js(SIZE) == before
