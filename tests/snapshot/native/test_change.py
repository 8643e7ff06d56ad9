"""When a screen has come to rest, and what is different then."""

from __future__ import annotations

import time
from typing import Any

from orchestrator.snapshot.native.screen import Screen
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app


def settle(screen: Screen, *, stability: int = 60, slice_: int = 2000, **asked: Any) -> dict[str, Any]:
    """Wait for rest, from now on."""
    return screen.call("settle", stability=stability, slice=slice_, since=time.monotonic(), **asked)


def page(title: str, *elements: str) -> str:
    """A screen of iOS with a title."""
    return ios_app(ios("NavigationBar", ios("StaticText", label=title), name=title), *elements)


TOTAL = ios("StaticText", label="Total: 1", name="total")
BUTTON = ios("Button", label="Add", name="add")
OLD = ios("StaticText", label="Old")


def test_a_change_is_told_by_element(phone: Phone) -> None:
    """What appeared, disappeared and changed, as lines; texts with an id change, others come and go."""
    screen = phone.screen("ios", page("Cart", TOTAL, BUTTON, OLD))
    assert screen.call("mark", name="step") == {"url": "", "title": "Cart", "lines": 5}
    phone.show(page("Cart (2)", TOTAL.replace("Total: 1", "Total: 2"), BUTTON, ios("StaticText", label="New")))
    found = settle(screen, name="step", limit=40)
    assert found["settled"]
    assert found["delta"] == {
        "sameDocument": True, "now": {"url": "", "title": "Cart (2)"}, "url": None,
        "title": {"from": "Cart", "to": "Cart (2)"},
        "appeared": ['heading "Cart (2)" [e1] [level=1]', "text: New"], "changed": ["text: Total: 2"],
        "disappeared": ['heading "Cart" [level=1]', "text: Old"], "more": None,
    }  # fmt: skip


def test_another_screen_is_told_as_a_whole(phone: Phone) -> None:
    """Its outline, and nothing of what the one before showed."""
    screen = phone.screen("ios", page("Cart", TOTAL, BUTTON, OLD))
    screen.call("mark", name="step")
    phone.show(page("Done", ios("StaticText", label="Thanks"), ios("Button", label="Home")))
    delta = screen.call("delta", name="step")
    assert (delta["sameDocument"], delta["disappeared"], delta["changed"]) == (False, [], [])
    assert delta["appeared"] == ["banner [e1]", 'heading "Done" [e2] [level=1]', "text: Thanks", 'button "Home" [e3]']


def test_a_long_change_is_cut(phone: Phone) -> None:
    """40 lines, and how many more there are."""
    screen = phone.screen("ios", page("Cart", TOTAL))
    screen.call("mark")
    phone.show(page("Cart", TOTAL, *(ios("StaticText", label=f"Row {n}") for n in range(50))))
    delta = screen.call("delta", limit=40)
    assert (len(delta["appeared"]), delta["more"]) == (40, 10)


def test_a_dialog_comes_and_goes(phone: Phone) -> None:
    """What it stands in front of is not gone, and not new when it is there again."""
    texts = [android("TextView", text=f"Line {n}") for n in range(5)]
    shop = android_app(android("Toolbar", android("TextView", text="Shop")), *texts)
    parts = (
        android("TextView", text="Sure?", id="android:id/message"),
        android("Button", text="OK", id="android:id/button1"),
    )
    dialog = android_app(android("LinearLayout", *parts, id="parentPanel"))
    screen = phone.screen("android", shop)
    screen.call("mark")
    phone.show(dialog)
    opened = screen.call("delta")
    assert opened["appeared"] == ['dialog "Sure?" [e1] [modal]', "text: Sure?", 'button "OK" [e2]']
    assert (opened["disappeared"], opened["now"]["title"], opened["title"]) == ([], "Shop", None)
    screen.call("mark")
    phone.show(shop)
    closed = screen.call("delta")
    assert (closed["appeared"], closed["sameDocument"]) == ([], True)
    assert closed["disappeared"] == ['dialog "Sure?" [modal]', "text: Sure?", 'button "OK"']


def test_quiet_counts_from_the_last_change(phone: Phone) -> None:
    """While the source changes it is not settled, and what changes is named."""
    sources = [page("Cart", ios("StaticText", label=f"{n} s", name="clock")) for n in range(5)]
    screen = phone.screen("ios", *sources)
    assert settle(screen)["settled"]
    assert phone.sources == sources[-1:]
    phone.show(*sources * 20)
    restless = settle(screen, stability=2000, slice_=600)
    assert not restless["settled"]
    assert restless["reason"].startswith("the screen keeps changing (text: ")


def test_what_is_busy_is_no_rest(phone: Phone) -> None:
    """A spinner, or a progress bar that cannot say how far it is, however still."""
    spinner = ios("ActivityIndicator", label="In progress", value="1")
    busy = settle(phone.screen("ios", ios_app(spinner)), slice_=150)
    assert (busy["settled"], busy["reason"]) == (False, 'progressbar "In progress" is visible')
    stopped = ios("ActivityIndicator", label="Progress halted", value="0")
    assert settle(phone.screen("ios", ios_app(stopped, ios("ProgressIndicator", value="30%"))))["settled"]
    bar = android("ProgressBar")
    assert settle(phone.screen("android", android_app(bar)), slice_=150)["reason"] == "progressbar is visible"
    assert settle(phone.screen("android", android_app(android("ProgressBar", text="30.0"))))["settled"]


def test_a_keyboard_on_its_way_is_no_rest(phone: Phone) -> None:
    """It is told as what moves."""
    steps = [ios_app(ios("Keyboard", ios("Key", label="q"), box=(0, top, 390, 900))) for top in range(790, 500, -1)]
    moving = settle(phone.screen("ios", *steps), stability=2000, slice_=600)
    assert (moving["settled"], moving["reason"]) == (False, "the keyboard is moving")


def test_the_clock_of_the_phone_changes_nothing(phone: Phone) -> None:
    """Its bars are not the app's."""

    def at(time_: str) -> str:
        return ios_app(BUTTON, ios("StatusBar", ios("StaticText", label=time_)))

    screen = phone.screen("ios", at("9:41"))
    screen.call("mark")
    phone.show(*(at(f"9:{minute}") for minute in range(42, 59)))
    found = settle(screen, limit=40)
    assert (found["settled"], found["delta"]["changed"], found["delta"]["appeared"]) == (True, [], [])
