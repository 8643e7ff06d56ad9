"""Fingers on an app's screen: the app says what it felt."""

from __future__ import annotations

import re

import pytest

from tests.e2e.apps.phone import Phone


def felt(phone: Phone, what: str) -> str:
    """What the pad counted."""
    match = re.search(rf"{what} ([\w.]+)", str(phone.ok("get_text")["text"]))
    assert match
    return match[1]


def test_taps_are_counted(phone: Phone) -> None:
    """One tap, two in a row, and a long press, which is no tap."""
    phone.restart()
    phone.open("Gestures")
    phone.ok("tap_element", selector="~pad")
    assert felt(phone, "taps") == "1"
    phone.ok("tap_element", selector="~pad", count=2)
    assert (felt(phone, "taps"), felt(phone, "double taps")) == ("3", "1")
    phone.ok("tap_element", selector="~pad", holdMs=900)
    assert (felt(phone, "taps"), felt(phone, "long presses")) == ("3", "1")


def test_a_point_is_tapped(phone: Phone) -> None:
    """In the coordinates that a screenshot's scale leads to."""
    phone.open("Gestures")
    before = int(felt(phone, "taps"))
    shot = phone.call("take_screenshot", selector="~pad").text
    scale, left, top = re.search(r"image pixels / ([\d.]+) \+ \((\d+), (\d+)\)", shot).groups()  # type: ignore[union-attr]
    width, height = re.search(r"saved: .* \((\d+) x (\d+) px", shot).groups()  # type: ignore[union-attr]
    shown = re.search(r"shown here with (\d+) x (\d+)", shot)
    width, height = shown.groups() if shown else (width, height)
    x = int(left) + round(int(width) / float(scale) / 2)
    y = int(top) + round(int(height) / float(scale) / 2)
    phone.ok("tap_element", x=x, y=y)
    assert int(felt(phone, "taps")) == before + 1


@pytest.mark.parametrize("direction", ["up", "right"])
def test_a_swipe_goes_where_the_finger_goes(phone: Phone, direction: str) -> None:
    """Inside the element that is named."""
    phone.open("Gestures")
    phone.ok("swipe", selector="~pad", direction=direction, percent=80)
    assert felt(phone, "swipe") == direction


def test_a_swipe_up_shows_what_is_further_down(phone: Phone) -> None:
    """Without an element it is the screen that is swiped."""
    phone.open("List")
    first = {"selector": "~Add thing 1", "timeout": 2_000}
    phone.ok("expect", **first, visible=True)
    phone.ok("swipe", direction="up")
    phone.ok("expect", **first, visible=False)


def test_a_pinch_zooms(phone: Phone) -> None:
    """In above 1, out below."""
    phone.open("Gestures")
    phone.ok("pinch", selector="~pad", scale=2)
    assert float(felt(phone, "scale")) > 1.4
    phone.ok("pinch", selector="~pad", scale=0.5)
    assert float(felt(phone, "scale")) < 0.7


def test_something_is_dragged(phone: Phone) -> None:
    """Onto an element, and to a point beside it."""
    phone.restart()
    phone.open("Gestures")
    phone.ok("drag_and_drop", source="~card", target="~target")
    phone.ok("expect", selector="~dropped", containsText="Dropped")
    phone.ok("drag_and_drop", source="~card", x=20, y=200)
    phone.ok("expect", selector="~dropped", containsText="Missed")


def test_it_is_scrolled_down_to_an_element_and_up_to_another(phone: Phone) -> None:
    """The list is searched to its end, then the other way."""
    phone.open("List")
    phone.ok("scroll", selector='role=button[name="Add thing 25"]')
    phone.ok("tap_element", selector='role=button[name="Add thing 25"]')
    phone.ok("scroll", selector="text=Thing 2")
    phone.ok("expect", selector="text=Thing 2", visible=True)
    assert "last thing 25" in phone.text()


def test_an_end_of_scrolling_is_told(phone: Phone) -> None:
    """A scroll goes as far as it is asked to, and says where it could not."""
    phone.restart()
    phone.open("List")
    assert "at its end already" in phone.ok("scroll", direction="up")["warnings"][0]
    assert "warnings" not in phone.ok("scroll", direction="down", pixels=300)
    assert "Reached the end after " in phone.ok("scroll", direction="up", pixels=900)["warnings"][0]
