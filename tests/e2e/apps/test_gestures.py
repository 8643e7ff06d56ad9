"""Touch gestures on an app's screen, as counted by the app."""

from __future__ import annotations

import re

import pytest

from tests.e2e.apps.phone import Phone

pytestmark = pytest.mark.full


def felt(phone: Phone, what: str) -> str:
    """Return the pad's counters."""
    match = re.search(rf"{what} ([\w.]+)", str(phone.ok("get_text")["text"]))
    assert match
    return match[1]


@pytest.mark.smoke
def test_taps_double_taps_and_long_presses_reach_the_app(phone: Phone) -> None:
    """The app counts a tap, a double tap, and a long press, which is no tap."""
    phone.restart()
    phone.open("Gestures")
    phone.ok("tap_element", selector="~pad")
    assert felt(phone, "taps") == "1"
    phone.ok("tap_element", selector="~pad", count=2)
    assert (felt(phone, "taps"), felt(phone, "double taps")) == ("3", "1")
    phone.ok("tap_element", selector="~pad", holdMs=900)
    assert (felt(phone, "taps"), felt(phone, "long presses")) == ("3", "1")


def test_tap_element_taps_the_point_computed_from_a_screenshots_scale(phone: Phone) -> None:
    """A tap lands at the coordinates computed by the scale of a screenshot."""
    phone.open("Gestures")
    before = int(felt(phone, "taps"))
    shot = phone.call("take_screenshot", selector="~pad").text
    scale, left, top = re.search(r"image pixels / ([\d.]+) \+ \((\d+), (\d+)\)", shot).groups()  # type: ignore[union-attr]
    width, height = re.search(r"saved: .* \((\d+) x (\d+) px", shot).groups()  # type: ignore[union-attr]
    shown = re.search(r"shown as (\d+) x (\d+)", shot)
    width, height = shown.groups() if shown else (width, height)
    x = int(left) + round(int(width) / float(scale) / 2)
    y = int(top) + round(int(height) / float(scale) / 2)
    phone.ok("tap_element", x=x, y=y)
    assert int(felt(phone, "taps")) == before + 1


def test_a_swipe_in_an_element_goes_in_the_given_direction(phone: Phone) -> None:
    """The element gets a swipe in the given direction."""
    phone.open("Gestures")
    for direction in ("up", "right"):
        phone.ok("swipe", selector="~pad", direction=direction, percent=80)
        assert felt(phone, "swipe") == direction


def test_a_swipe_up_without_an_element_scrolls_the_screen_down(phone: Phone) -> None:
    """A swipe without an element moves the screen."""
    phone.open("List")
    first = {"selector": "~Add thing 1", "timeout": 2_000}
    phone.ok("expect", **first, visible=True)
    phone.ok("swipe", direction="up")
    phone.ok("expect", **first, visible=False)


def test_a_pinch_zooms_in_above_scale_1_and_out_below_it(phone: Phone) -> None:
    """A scale above 1 zooms in, and one below 1 zooms out."""
    phone.open("Gestures")
    phone.ok("pinch", selector="~pad", scale=2)
    assert float(felt(phone, "scale")) > 1.4
    phone.ok("pinch", selector="~pad", scale=0.5)
    assert float(felt(phone, "scale")) < 0.7


def test_an_app_element_is_dragged_onto_a_target_or_to_a_point(phone: Phone) -> None:
    """A card is dragged onto an element, and to a point beside it."""
    phone.restart()
    phone.open("Gestures")
    phone.ok("drag_and_drop", source="~card", target="~target")
    phone.ok("expect", selector="~dropped", containsText="Dropped")
    phone.ok("drag_and_drop", source="~card", x=20, y=200)
    phone.ok("expect", selector="~dropped", containsText="Missed")


def test_scroll_finds_a_list_element_further_down_or_up(phone: Phone) -> None:
    """The list is searched to its end, then in the other direction."""
    phone.open("List")
    phone.ok("scroll", selector='role=button[name="Add thing 25"]')
    phone.ok("tap_element", selector='role=button[name="Add thing 25"]')
    phone.ok("scroll", selector="text=Thing 2")
    phone.ok("expect", selector="text=Thing 2", visible=True)
    assert "last thing 25" in phone.text()


def test_a_scroll_that_reaches_the_end_of_the_list_warns(phone: Phone) -> None:
    """A scroll beyond the end of the list stops there, with a warning."""
    phone.restart()
    phone.open("List")
    assert "at the end" in phone.ok("scroll", direction="up")["warnings"][0]
    assert "warnings" not in phone.ok("scroll", direction="down", pixels=300)
    assert "Reached the end after " in phone.ok("scroll", direction="up", pixels=900)["warnings"][0]
