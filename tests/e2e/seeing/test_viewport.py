"""set_viewport: the page area of an open page, and the change of the page that it causes."""

from __future__ import annotations

import pytest

from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

NARROW = "<style>@media (max-width: 600px) { #wide { display: none } }</style><p id=wide>wide</p><button>Menu</button>"
SIZE = "[innerWidth, innerHeight]"


@pytest.mark.parametrize(
    ("width", "height"), [(1024, 768), (400, 700), (320, 480), (800, 600), (1600, 1000), (1280, 720)]
)
def test_set_viewport_gives_the_page_the_requested_size(stage: Stage, width: int, height: int) -> None:  # X50 O25
    """Sizes are set in turn on one page, below a window's smallest width and above it again."""
    stage.ok("set_viewport", width=width, height=height)
    assert stage.js(SIZE) == [width, height]


def test_set_viewport_reports_what_changed_on_the_page(stage: Stage) -> None:  # X51
    """Text that the page hides when it is narrow is reported as disappeared."""
    stage.show(NARROW)
    answer = stage.ok("set_viewport", width=500, height=700)
    assert answer["stateChange"]["disappeared"] == ["text: wide"]
    assert answer["stable"] is True
    assert "stateChange" not in stage.ok("set_viewport", width=1280, height=720, observe="none")
    assert "wide" in stage.ok("get_text")["text"]


@pytest.mark.core
def test_set_viewport_does_not_reload_the_page(stage: Stage) -> None:  # X52
    """Resizing keeps the page's state, and clicks land where they should afterwards."""
    stage.show("<button style='position:fixed;right:5px;bottom:5px' onclick='this.textContent = `hit`'>Go</button>")
    stage.js("void (kept = 1)")
    stage.ok("set_viewport", width=380, height=600)
    stage.ok("click_element", selector="text=Go")
    assert stage.js("[kept, document.querySelector('button').textContent]") == [1, "hit"]
    stage.ok("set_viewport", width=1280, height=720)


def test_a_viewport_applies_to_tabs_that_are_selected_or_opened_later(stage: Stage) -> None:
    """Tabs that were open before and new ones get the size that was set in another tab."""
    stage.ok("tabs", action="new")
    stage.ok("set_viewport", width=450, height=640)
    stage.ok("tabs", action="select", tab="t1")
    assert stage.js(SIZE) == [450, 640]
    stage.ok("tabs", action="new")
    assert stage.js(SIZE) == [450, 640]
    stage.ok("set_viewport", width=1280, height=720)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"width": 800}, "'height' is missing"),
        ({"width": 0, "height": 600}, "width"),
        ({"width": 800, "height": 10_001}, "height"),
        ({"width": "wide", "height": 600}, "'width' must be a whole number"),
    ],
)
def test_an_invalid_viewport_size_is_refused(stage: Stage, arguments: dict[str, object], expected: str) -> None:
    """Incomplete or impossible sizes are refused as invalid_argument, and the viewport stays."""
    before = stage.js(SIZE)
    assert expected in refused(stage.call("set_viewport", **arguments), "invalid_argument")
    assert stage.js(SIZE) == before
