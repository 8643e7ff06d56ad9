"""Settling of a screen, and its changes."""

from __future__ import annotations

import time
from typing import Any

from orchestrator.snapshot.methods import DELTA, MARK, SETTLE, WAIT
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app
from tests.snapshot.untyped import UntypedScreen


def settle(screen: UntypedScreen, *, stability: int = 60, slice_: int = 60_000, **asked: Any) -> dict[str, Any]:
    """Wait until the screen settles, beginning now."""
    asked = {"since": time.monotonic(), **asked}
    answer: dict[str, Any] = screen.call(SETTLE, stability=stability, slice=slice_, **asked)
    return answer


def watch_unrest(screen: UntypedScreen) -> dict[str, Any]:
    """Look twice at a screen of which each reading differs, and which must be quiet for long; return what is told."""
    since = time.monotonic()
    settle(screen, stability=LONG, slice_=100, since=since)  # on a busy machine that is a single reading
    return settle(screen, stability=LONG, slice_=100, since=since)


def page(title: str, *elements: str) -> str:
    """A screen of iOS with a title."""
    return ios_app(ios("NavigationBar", ios("StaticText", label=title), name=title), *elements)


LONG = 600_000
"""Ms that no screen here is quiet for."""
TOTAL = ios("StaticText", label="Total: 1", name="total")
BUTTON = ios("Button", label="Add", name="add")
OLD = ios("StaticText", label="Old")


def test_a_screen_change_is_reported_element_by_element(phone: Phone) -> None:
    """Elements that appeared, disappeared and changed are lines; texts with an id change, others come and go."""
    screen = phone.screen("ios", page("Cart", TOTAL, BUTTON, OLD))
    assert screen.call(MARK, name="step") == {"url": "", "title": "Cart", "lines": 5}
    phone.show(page("Cart (2)", TOTAL.replace("Total: 1", "Total: 2"), BUTTON, ios("StaticText", label="New")))
    found = settle(screen, name="step", limit=40)
    assert found["settled"]
    assert found["delta"] == {
        "sameDocument": True, "now": {"url": "", "title": "Cart (2)"}, "url": None, "redrawn": 0, "invalid": [],
        "title": {"from": "Cart", "to": "Cart (2)"},
        "appeared": ['heading "Cart (2)" [e1] [level=1]', "text: New"], "changed": ["text: Total: 2"],
        "disappeared": ['heading "Cart" [level=1]', "text: Old"], "more": None,
    }  # fmt: skip


def test_a_different_screen_is_reported_as_a_whole(phone: Phone) -> None:
    """A different screen is reported by its outline, without lines that the previous screen had."""
    screen = phone.screen("ios", page("Cart", TOTAL, BUTTON, OLD))
    screen.call(MARK, name="step")
    phone.show(page("Done", ios("StaticText", label="Thanks"), ios("Button", label="Home")))
    delta = screen.call(DELTA, name="step")
    assert (delta["sameDocument"], delta["disappeared"], delta["changed"]) == (False, [], [])
    assert delta["appeared"] == ["banner [e1]", 'heading "Done" [e2] [level=1]', "text: Thanks", 'button "Home" [e3]']


def test_a_long_screen_change_is_cut_at_its_limit(phone: Phone) -> None:
    """A change lists 40 lines, and counts the rest."""
    screen = phone.screen("ios", page("Cart", TOTAL))
    screen.call(MARK)
    phone.show(page("Cart", TOTAL, *(ios("StaticText", label=f"Row {n}") for n in range(50))))
    delta = screen.call(DELTA, limit=40)
    assert (len(delta["appeared"]), delta["more"]) == (40, 10)


def test_a_dialog_does_not_make_the_screen_behind_it_disappear(phone: Phone) -> None:
    """Elements behind a dialog are not gone, and not new when it closes."""
    texts = [android("TextView", text=f"Line {n}") for n in range(5)]
    shop = android_app(android("Toolbar", android("TextView", text="Shop")), *texts)
    parts = (
        android("TextView", text="Sure?", id="android:id/message"),
        android("Button", text="OK", id="android:id/button1"),
    )
    dialog = android_app(android("LinearLayout", *parts, id="parentPanel"))
    screen = phone.screen("android", shop)
    screen.call(MARK)
    phone.show(dialog)
    opened = screen.call(DELTA)
    assert opened["appeared"] == ['dialog "Sure?" [e1] [modal]', "text: Sure?", 'button "OK" [e2]']
    assert (opened["disappeared"], opened["now"]["title"], opened["title"]) == ([], "Shop", None)
    screen.call(MARK)
    phone.show(shop)
    closed = screen.call(DELTA)
    assert (closed["appeared"], closed["sameDocument"]) == ([], True)
    assert closed["disappeared"] == ['dialog "Sure?" [modal]', "text: Sure?", 'button "OK"']


def test_a_screen_that_keeps_changing_is_not_settled_and_the_reason_is_named(phone: Phone) -> None:
    """A screen is settled some time after its last change; until then the change is named."""
    sources = [page("Cart", ios("StaticText", label=f"{n} s", name="clock")) for n in range(5)]
    screen = phone.screen("ios", *sources)
    assert settle(screen)["settled"]
    assert phone.sources == sources[-1:]
    phone.show(*sources * 20)
    restless = watch_unrest(screen)
    assert not restless["settled"]
    assert restless["reason"].startswith("the screen keeps changing (text: ")


def test_waiting_for_quiet_ends_when_the_screen_has_not_changed_for_so_long(phone: Phone) -> None:
    """The condition `quiet` holds on a screen at rest; on another the last change is named as the actual state."""
    sources = [page("Cart", ios("StaticText", label=f"{n} s", name="clock")) for n in range(5)]
    screen = phone.screen("ios", *sources)
    asked: dict[str, Any] = {"conditions": {"quiet": 100}, "not": False, "since": time.monotonic()}
    assert screen.call(WAIT, slice=60_000, **asked)["ok"]
    assert phone.sources == sources[-1:]
    phone.show(*sources * 20)
    asked = {"conditions": {"quiet": LONG}, "not": False, "since": time.monotonic()}
    screen.call(WAIT, slice=100, **asked)  # on a busy machine that is a single reading
    [unmet] = screen.call(WAIT, slice=100, **asked)["failed"]
    assert (unmet["condition"], unmet["expected"]) == ("quiet", LONG)
    assert unmet["actual"].startswith("the screen keeps changing (text: ")


def test_a_spinner_or_indeterminate_progress_bar_keeps_a_screen_unsettled(phone: Phone) -> None:
    """The reason is a spinner, or a progress bar without a value, even if nothing moves."""
    spinner = ios("ActivityIndicator", label="In progress", value="1")
    busy = settle(phone.screen("ios", ios_app(spinner)), slice_=150)
    assert (busy["settled"], busy["reason"]) == (False, 'progressbar "In progress" is visible')
    stopped = ios("ActivityIndicator", label="Progress halted", value="0")
    assert settle(phone.screen("ios", ios_app(stopped, ios("ProgressIndicator", value="30%"))))["settled"]
    bar = android("ProgressBar")
    assert settle(phone.screen("android", android_app(bar)), slice_=150)["reason"] == "progressbar is visible"
    assert settle(phone.screen("android", android_app(android("ProgressBar", text="30.0"))))["settled"]


def test_a_moving_keyboard_keeps_a_screen_unsettled(phone: Phone) -> None:
    """A moving keyboard is named as the reason why the screen is not settled."""
    steps = [ios_app(ios("Keyboard", ios("Key", label="q"), box=(0, top, 390, 900))) for top in range(790, 500, -1)]
    moving = watch_unrest(phone.screen("ios", *steps))
    assert (moving["settled"], moving["reason"]) == (False, "the keyboard is moving")


def test_the_status_bars_clock_is_no_change_of_the_screen(phone: Phone) -> None:
    """The system bars do not belong to the app, so a clock in them is not reported as a change."""

    def at(time_: str) -> str:
        return ios_app(BUTTON, ios("StatusBar", ios("StaticText", label=time_)))

    screen = phone.screen("ios", at("9:41"))
    screen.call(MARK)
    phone.show(*(at(f"9:{minute}") for minute in range(42, 59)))
    found = settle(screen, limit=40)
    assert (found["settled"], found["delta"]["changed"], found["delta"]["appeared"]) == (True, [], [])
