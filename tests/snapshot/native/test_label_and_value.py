"""Texts with a label and a value, as SwiftUI, Flutter and React Native write them: both are shown, and found."""

from __future__ import annotations

import pytest

from orchestrator.snapshot.methods import READY, SNAPSHOT, TEXT, WAIT
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app
from tests.snapshot.untyped import UntypedScreen
from tests.snapshot.web.chromium import without_refs


def seats(value: str, *, platform: str) -> str:
    """Return the source of a screen with the text, in a row of a list and alone."""
    if platform == "ios":
        text = ios("StaticText", name="seats", label="Seats", value=value)
        row = ios("Cell", ios("StaticText", label="Row", value="7", box=(0, 200, 300, 240)), box=(0, 200, 300, 240))
        return ios_app(text, ios("Table", row, box=(0, 200, 300, 400)))
    text = android("TextView", desc="Seats", text=value)
    row = android("LinearLayout", android("TextView", desc="Row", text="7", box=(0, 200, 300, 240)), clickable="true",
                  box=(0, 200, 300, 240))  # fmt: skip
    return android_app(text, android("ListView", row, box=(0, 200, 300, 400)))


@pytest.fixture(params=["ios", "android"])
def screen(phone: Phone, request: pytest.FixtureRequest) -> UntypedScreen:
    """The screen on each platform."""
    return phone.screen(request.param, seats("3 of 4", platform=request.param))


def test_a_text_shows_its_label_and_its_value(screen: UntypedScreen) -> None:
    """A row that is named by its text has both in its name."""
    lines = screen.call(SNAPSHOT, scope="page", json=False)["lines"]
    assert without_refs("\n".join(lines)) == '- text: Seats = "3 of 4"\n- list\n  - listitem "Row 7"'
    assert screen.call(TEXT)["text"] == "Seats 3 of 4\nRow 7"


@pytest.mark.parametrize("sought", ["Seats", "3 of 4", "of 4"])
def test_a_text_is_found_by_its_label_and_by_its_value(screen: UntypedScreen, sought: str) -> None:
    """By selector, by a query, and by a wait for text."""
    locator = {"by": "text", "value": sought}
    assert screen.call(READY, locator=locator, need="present")["line"].startswith("text: Seats")
    assert len(screen.call(SNAPSHOT, scope="page", json=False, query=sought)["lines"]) == 1
    assert screen.call(WAIT, conditions={"pageText": sought}, slice=0)["ok"]


@pytest.mark.parametrize("text", ["3 of 4", "Seats", "Seats 3 of 4"])
def test_an_exact_text_may_be_the_label_or_the_value_or_both(screen: UntypedScreen, text: str) -> None:
    """A part of either is not the text; the value alone is expected as such."""
    locator = {"by": "text", "value": "Seats"}
    assert screen.call(WAIT, conditions={"text": text}, slice=0, locator=locator)["ok"]
    assert not screen.call(WAIT, conditions={"text": text[:-1]}, slice=0, locator=locator)["ok"]
    assert screen.call(WAIT, conditions={"value": "3 of 4"}, slice=0, locator=locator)["ok"]


def test_a_value_that_changes_is_a_change_of_the_text(phone: Phone) -> None:
    """The text stays the same element while its value changes."""
    screen = phone.screen("ios", seats("3 of 4", platform="ios"))
    before = screen.call(SNAPSHOT, scope="page", json=False)["lines"]
    phone.show(seats("4 of 4", platform="ios"))
    after = screen.call(SNAPSHOT, scope="page", json=False)["lines"]
    assert (before[0], after[0]) == ('- text: Seats = "3 of 4"', '- text: Seats = "4 of 4"')


def test_a_description_for_tests_is_no_label(phone: Phone) -> None:
    """An identifier beside a text is how tests find it, and is not shown."""
    screen = phone.screen("android", android_app(android("TextView", desc="seats_left", text="3 of 4")))
    assert screen.call(SNAPSHOT, scope="page", json=False)["lines"] == ["- text: 3 of 4"]


def test_a_query_counts_its_matches_beyond_the_screen(phone: Phone) -> None:
    """Other elements down there do not count."""
    far = [ios("Button", label=f"Buy {n}", box=(0, 900 + 50 * n, 300, 940 + 50 * n)) for n in range(3)]
    screen = phone.screen("ios", ios_app(ios("Button", label="Buy nothing"), *far))
    assert screen.call(SNAPSHOT, scope="viewport", json=False)["outside"] == 3
    assert screen.call(SNAPSHOT, scope="viewport", json=False, query="buy 1")["outside"] == 1
    assert screen.call(SNAPSHOT, scope="viewport", json=False, roles=["link"])["outside"] == 0
