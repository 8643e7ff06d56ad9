"""Readiness of an app's elements for actions, their values, and wait conditions."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.automation.browser.selector import parse_selector
from orchestrator.snapshot.methods import BOXES, MARKED, READY, SCROLL_INFO, SCROLLED, SHOT, VERIFY, VIEW, WAIT
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app, source
from tests.snapshot.untyped import UntypedScreen


def ready(screen: UntypedScreen, selector: str, need: str, **asked: Any) -> dict[str, Any]:
    """Ask `ready`, with a wait of a second at most."""
    locator = parse_selector(selector).data()
    answer: dict[str, Any] = screen.call(READY, locator=locator, need=need, **{"slice": 1000, **asked})
    return answer


def wait(screen: UntypedScreen, selector: str | None, **conditions: Any) -> dict[str, Any]:
    """Check a condition once."""
    locator = {"locator": parse_selector(selector).data()} if selector else {}
    answer: dict[str, Any] = screen.call(WAIT, conditions=conditions, slice=0, **locator)
    return answer


@pytest.mark.parametrize(
    ("selector", "conditions", "first"),
    [
        (None, {"pageText": "Total of $21"}, "text: Total: $19.50"),
        ("text=Remvoe", {"state": "visible"}, 'button "Remove"'),
        ("~payBtn", {"state": "visible"}, 'button "Pay now"'),
        ("role=link[name=Pay]", {"state": "visible"}, 'button "Pay now"'),
        (None, {"pageText": "Xyzzy"}, 'heading "Checkout"'),
    ],
)
def test_the_candidates_of_a_failed_wait_are_like_what_was_looked_for(
    phone: Phone, selector: str | None, conditions: dict[str, Any], first: str
) -> None:
    """Lines with much the same text or id; if there are none, what says where the user is."""
    answer = wait(phone.screen("ios", source("ios_checkout")), selector, **conditions)
    assert any(line.startswith(first) for line in answer["near"][:2]), answer["near"]
    assert len(answer["near"]) <= 5


def test_ready_reports_the_middle_of_an_app_buttons_visible_part(phone: Phone) -> None:
    """The point to tap is the middle of an element's visible part, in the driver's coordinates."""
    screen = phone.screen("android", source("android_checkout"))
    assert ready(screen, "text=Pay now", "point", handle=True) == {
        "ok": True, "x": 540, "y": 1670, "width": 996, "height": 140, "matches": 1, "ref": "e1",
        "line": 'button "Pay now" [e1]', "role": "button", "name": "Pay now", "tag": "android.view.View",
        "kind": "button", "empty": True, "checked": None, "path": [], "origin": "", "handle": True,
    }  # fmt: skip


KEYBOARD = ios("Keyboard", box=(0, 500, 390, 800))


@pytest.mark.parametrize(
    ("xml", "need", "reason", "expected"),
    [
        (ios("Button", label="X", visible="false"), "visible", "hidden", 'button "X" [e1] is not visible'),
        (
            ios("Button", label="X", box=(0, 900, 300, 940), visible="false"), "point", "hidden",
            'button "X" [e1] is outside the screen, below: scroll to it',
        ),
        (
            ios("Button", label="X", box=(0, -90, 300, -40), visible="false"), "point", "hidden",
            'button "X" [e1] is outside the screen, above: scroll to it',
        ),
        (ios("Button", label="X", enabled="false"), "point", "disabled", 'button "X" [e1] [disabled] is disabled'),
        (
            ios("Button", label="X") + ios("Alert", ios("Button", label="OK"), label="Sorry"), "point", "covered",
            'covered by dialog "Sorry" [e1] [modal]',
        ),
        (ios("Button", label="X", box=(0, 600, 300, 640)) + KEYBOARD, "point", "covered", "covered by the keyboard"),
        (ios("Button", label="X"), "fill", "not_editable", 'button "X" [e1] takes no value'),
        (ios("Switch", label="X"), "fill", "bad_value", 'switch "X" [e1] takes true or false'),
        (ios("Slider", label="X", value="3%"), "fill", "bad_value", 'slider "X" [e1] = "3%" takes a number'),
        (ios("Button", label="X"), "options", "not_select", 'button "X" [e1] has no options'),
        (ios("Button", label="X"), "frame", "not_a_frame", 'button "X" [e1] is not a frame'),
    ],
)  # fmt: skip
def test_an_app_element_that_cannot_be_acted_on_is_refused_with_its_reason(
    phone: Phone, xml: str, need: str, reason: str, expected: str
) -> None:
    """The reasons are those of web pages, with details about the element."""
    answer = ready(phone.screen("ios", ios_app(xml)), "text=X", need, value="maybe", slice=100)
    assert (answer["ok"], answer["reason"], answer["detail"]) == (False, reason, expected)


def test_an_app_element_below_the_screen_is_reported_as_below(phone: Phone) -> None:
    """The answer names the side of the screen where an element lies, so that it can be scrolled to."""
    answer = ready(phone.screen("ios", source("ios_checkout")), "~payButton", "point", slice=0)
    assert (answer["reason"], answer["outside"]) == ("hidden", "below")


def test_half_a_button_above_the_keyboard_can_be_tapped(phone: Phone) -> None:
    """The point of a button that the keyboard half covers is in its visible half."""
    screen = phone.screen("ios", ios_app(ios("Button", label="X", box=(0, 460, 300, 540)), KEYBOARD))
    answer = ready(screen, "text=X", "point")
    assert (answer["ok"], answer["y"]) == (True, 480)


def test_a_moving_app_element_is_waited_for_until_it_rests(phone: Phone) -> None:
    """An element rests once two reads find it in one place; until then it is reported as moving."""
    steps = [ios_app(ios("Button", label="X", box=(0, top, 300, top + 40))) for top in range(100, 400, 50)]
    answer = ready(phone.screen("ios", *steps), "text=X", "point")
    assert (answer["ok"], answer["y"]) == (True, 370)
    phone.show(*steps)
    moving = ready(phone.screen("ios", *steps), "text=X", "point", slice=0)
    assert (moving["reason"], moving["detail"]) == ("moving", 'button "X" [e1] is moving')


def test_the_first_actionable_match_is_taken(phone: Phone) -> None:
    """A disabled first match is skipped, and the number of matches is reported."""
    twins = ios("Button", label="Go", enabled="false"), ios("Button", label="Go", box=(0, 200, 300, 240))
    answer = ready(phone.screen("ios", ios_app(*twins)), "text=Go", "point")
    assert (answer["y"], answer["matches"]) == (220, 2)


@pytest.mark.parametrize(
    ("xml", "value", "kind", "already"),
    [
        (ios("TextField", label="X"), "a", "text", None),
        (ios("SecureTextField", label="X"), "a", "password", None),
        (ios("Switch", label="X", value="1"), "true", "checkbox", True),
        (ios("Switch", label="X", value="1"), "off", "checkbox", False),
        (ios("Slider", label="X", value="30%"), "0.3", "slider", True),
        (ios("Slider", label="X", value="30%"), "50", "slider", False),
        (ios("PickerWheel", label="X", value="June"), "June", "picker", True),
        (ios("Other", ios("TextField", label="Inner"), label="X", accessible="false"), "a", "text", None),
    ],
)
def test_ready_for_fill_reports_the_controls_kind_and_whether_it_holds_the_value(
    phone: Phone, xml: str, value: str, kind: str, already: object
) -> None:
    """The answer names the kind of control, and is true if it has the requested value already."""
    answer = ready(phone.screen("ios", ios_app(xml)), "text=X", "fill", value=value)
    assert (answer["ok"], answer["kind"], answer.get("already")) == (True, kind, already)


def test_filling_a_radio_targets_the_one_of_its_group_that_has_the_value(phone: Phone) -> None:
    """A radio's value names one of its group, as in web pages; false is refused with the group's labels."""
    screen = phone.screen("android", source("android_checkout"))
    answer = ready(screen, "text=Standard", "fill", value="Express")
    assert (answer["name"], answer["kind"], answer["already"]) == ("Express", "radio", False)
    refused = ready(screen, "text=Standard", "fill", value="false")
    assert refused["reason"] == "bad_value"
    assert refused["detail"].endswith('which only another one of its group unchecks: "Standard", "Express"')


def test_verify_reads_back_the_value_that_was_set(phone: Phone) -> None:
    """Values are compared with the field, only by length for a password; a field that is gone is reported."""

    def form(email: str, pin: str, on: str) -> str:
        return ios_app(
            ios("TextField", label="Email", value=email), ios("SecureTextField", label="PIN", value="•" * len(pin)),
            ios("Switch", label="On", value=on),
        )  # fmt: skip

    screen = phone.screen("ios", form("", "", "0"))
    ready(screen, "label=Email", "fill", value="a@b.c")
    phone.show(form("a@b.c", "1234", "1"))
    assert screen.call(VERIFY, value="a@b.c") == {
        "same": True, "value": "a@b.c", "checked": None, "url": "", "title": "",
    }  # fmt: skip
    assert screen.call(VERIFY, value="other")["same"] is False
    ready(screen, "label=PIN", "fill", value="1234")
    assert screen.call(VERIFY, value="1234") | {"value": "•••"} == screen.call(VERIFY, value="4321")
    assert screen.call(VERIFY, value="123")["same"] is False
    phone.show(form("a@b.c", "1234", "0"))
    ready(screen, "label=On", "fill", value="true")
    assert screen.call(VERIFY)["same"] is False
    phone.show(form("a@b.c", "1234", "1"))
    assert (screen.call(VERIFY)["same"], screen.call(VERIFY)["value"]) == (True, "true")
    phone.show(ios_app(ios("Button", label="Gone")))
    assert screen.call(VERIFY, value="x")["gone"] is True


@pytest.mark.parametrize(
    ("selector", "conditions"),
    [
        ("text=Pay now", {"state": "hidden"}),
        ("text=Pay now", {"visible": False}),
        ("text=Pay soon", {"state": "gone"}),
        ("e99", {"state": "gone"}),
        ("text=Remove", {"state": "enabled", "enabled": True}),
        ("role=radio", {"count": 2}),
        ("~giftSwitch", {"checked": True}),
        ("id=total", {"text": "Total:  $19.50", "containsText": "total"}),
        ("label=Email", {"value": "ann@example.com", "text": "ann@example.com"}),
        ("label=Password", {"value": "12345678"}),
        ("id=total", {"attribute": {"name": "type", "value": "XCUIElementTypeStaticText"}}),
        (None, {"title": "Check*", "pageText": "your ORDER", "url": ""}),
    ],
)
def test_a_wait_condition_that_the_app_screen_meets_holds(
    phone: Phone, selector: str | None, conditions: dict[str, Any]
) -> None:
    """Conditions on one element and on the whole screen hold where the screen meets them."""
    answer = wait(phone.screen("ios", source("ios_checkout")), selector, **conditions)
    assert answer["ok"], answer


def test_an_unmet_condition_reports_expected_actual_and_nearby_lines(phone: Phone) -> None:
    """A failed condition reports expected and actual value, masked for passwords, and the lines near it."""
    screen = phone.screen("ios", source("ios_checkout"))
    answer = wait(screen, "id=total", text="Total: $1", visible=True)
    assert answer["failed"] == [{"condition": "text", "expected": "Total: $1", "actual": "Total: $19.50"}]
    assert "text: Total: $19.50" in answer["near"]
    assert wait(screen, "text=Pay now", state="visible")["failed"][0]["actual"] == "hidden"
    secret = wait(screen, "label=Password", value="hunter2")["failed"][0]
    assert (secret["expected"], secret["actual"]) == ("•••", "•••")
    negated = screen.call(WAIT, conditions={"title": "Checkout"}, slice=0, **{"not": True})
    assert (negated["ok"], negated["failed"][0]["actual"]) == (False, "Checkout")


def test_a_wait_ends_once_its_condition_holds(phone: Phone) -> None:
    """A wait reads the screen again and again within its time until its condition holds."""
    empty, there = ios_app(), ios_app(ios("StaticText", label="Done"))
    screen = phone.screen("ios", empty, empty, empty, there)
    locator = parse_selector("text=Done").data()
    assert screen.call(WAIT, conditions={"state": "visible"}, slice=60_000, locator=locator)["ok"]


def test_screenshot_calls_report_screen_size_element_boxes_and_marks(phone: Phone) -> None:
    """The screen's size, an element's box and its visible part, and the elements that can be acted on."""
    rows = android("ScrollView", android("Button", text="X", box=(0, 350, 300, 450)), box=(0, 0, 1080, 400))
    screen = phone.screen("android", android_app(rows, android("TextView", text="Only read")))
    shot = screen.call(SHOT, locator=parse_selector("text=X").data(), slice=0)
    assert (shot["view"], shot["scroll"]) == ([1080, 2000], [0, 0])
    assert shot["box"] == {"left": 0, "top": 350, "right": 300, "bottom": 450}
    assert shot["part"] == shot["box"] | {"bottom": 400}
    assert screen.call(VIEW)["view"] == [1080, 2000]
    assert screen.call(MARKED) == {"marks": [{"ref": shot["ref"], "box": shot["part"]}], "frames": []}
    assert screen.call(BOXES, locators=[parse_selector("text=X").data(), parse_selector("text=Z").data()])["boxes"] == [
        shot["part"]
    ]


def test_a_scroll_reports_its_distance_and_whether_the_end_is_reached(phone: Phone) -> None:
    """The distance is computed from the elements that moved; if none moved, the end is reached."""

    def things(top: int) -> str:
        texts = [
            android("TextView", text=f"Thing {n}", box=(0, top + 100 * n, 1080, top + 100 * n + 90)) for n in range(9)
        ]
        return android_app(android("ScrollView", *texts, box=(0, 200, 1080, 800)))

    screen = phone.screen("android", things(200))
    info = screen.call(SCROLL_INFO, direction="down")
    assert (info["x"], info["y"], info["page"]) == (540, 500, [1080, 600])
    phone.show(things(50))
    assert screen.call(SCROLLED, direction="down", slice=1000) == {"moved": 150, "atEnd": False}
    screen.call(SCROLL_INFO, direction="down")
    assert screen.call(SCROLLED, direction="down", slice=1000) == {"moved": 0, "atEnd": True}
