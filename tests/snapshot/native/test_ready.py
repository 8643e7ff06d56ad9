"""Whether an element of an app can be acted on, what it holds, and what is waited for."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.selector import parse
from orchestrator.snapshot.native.screen import Screen
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app, source


def ready(screen: Screen, selector: str, need: str, **asked: Any) -> dict[str, Any]:
    """Ask for it, for a second at most."""
    return screen.call("ready", locator=parse(selector).data(), need=need, **{"slice": 1000, **asked})


def wait(screen: Screen, selector: str | None, **conditions: Any) -> dict[str, Any]:
    """Look once."""
    locator = {"locator": parse(selector).data()} if selector else {}
    return screen.call("wait", conditions=conditions, slice=0, **locator)


def test_a_button_tells_its_point(phone: Phone) -> None:
    """The middle of what of it can be seen, in the driver's coordinates."""
    screen = phone.screen("android", source("android_checkout"))
    assert ready(screen, "text=Pay now", "point", handle=True) == {
        "ok": True, "x": 540, "y": 1670, "width": 996, "height": 140, "matches": 1, "ref": "e1",
        "line": 'button "Pay now" [e1]', "role": "button", "name": "Pay now", "tag": "android.view.View",
        "kind": "button", "empty": True, "checked": None, "path": [], "handle": True,
    }  # fmt: skip


KEYBOARD = ios("Keyboard", box=(0, 500, 390, 800))


@pytest.mark.parametrize(
    ("xml", "need", "reason", "said"),
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
        (ios("Button", label="X"), "frame", "not_a_frame", 'button "X" [e1] is no frame'),
    ],
)  # fmt: skip
def test_what_stands_in_the_way(phone: Phone, xml: str, need: str, reason: str, said: str) -> None:
    """The same reasons as in web pages, in words that say what to do."""
    answer = ready(phone.screen("ios", ios_app(xml)), "text=X", need, value="maybe", slice=100)
    assert (answer["ok"], answer["reason"], answer["detail"]) == (False, reason, said)


def test_what_is_beyond_the_screen_says_where(phone: Phone) -> None:
    """So that it can be scrolled to."""
    answer = ready(phone.screen("ios", source("ios_checkout")), "~payButton", "point", slice=0)
    assert (answer["reason"], answer["outside"]) == ("hidden", "below")


def test_half_a_button_above_the_keyboard_can_be_tapped(phone: Phone) -> None:
    """Its point is in the half that is seen."""
    screen = phone.screen("ios", ios_app(ios("Button", label="X", box=(0, 460, 300, 540)), KEYBOARD))
    answer = ready(screen, "text=X", "point")
    assert (answer["ok"], answer["y"]) == (True, 480)


def test_what_moves_is_waited_for(phone: Phone) -> None:
    """It must have been in one place for two looks."""
    steps = [ios_app(ios("Button", label="X", box=(0, top, 300, top + 40))) for top in range(100, 400, 50)]
    answer = ready(phone.screen("ios", *steps), "text=X", "point")
    assert (answer["ok"], answer["y"]) == (True, 370)
    phone.show(*steps)
    moving = ready(phone.screen("ios", *steps), "text=X", "point", slice=0)
    assert (moving["reason"], moving["detail"]) == ("moving", 'button "X" [e1] is moving')


def test_the_first_that_can_be_acted_on_is_taken(phone: Phone) -> None:
    """Of several matches; how many there were is told."""
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
def test_a_control_tells_how_it_is_set(phone: Phone, xml: str, value: str, kind: str, already: object) -> None:
    """What sort of control it is, and whether it holds that already."""
    answer = ready(phone.screen("ios", ios_app(xml)), "text=X", "fill", value=value)
    assert (answer["ok"], answer["kind"], answer.get("already")) == (True, kind, already)


def test_a_radio_is_meant_by_the_value_of_its_group(phone: Phone) -> None:
    """As in web pages."""
    screen = phone.screen("android", source("android_checkout"))
    answer = ready(screen, "text=Standard", "fill", value="Express")
    assert (answer["name"], answer["kind"], answer["already"]) == ("Express", "radio", False)
    refused = ready(screen, "text=Standard", "fill", value="false")
    assert refused["reason"] == "bad_value"
    assert refused["detail"].endswith('which only another one of its group unchecks: "Standard", "Express"')


def test_what_was_set_is_read_back(phone: Phone) -> None:
    """Of a password only its length is known; what is gone is gone."""

    def form(email: str, pin: str, on: str) -> str:
        return ios_app(
            ios("TextField", label="Email", value=email), ios("SecureTextField", label="PIN", value="•" * len(pin)),
            ios("Switch", label="On", value=on),
        )  # fmt: skip

    screen = phone.screen("ios", form("", "", "0"))
    ready(screen, "label=Email", "fill", value="a@b.c")
    phone.show(form("a@b.c", "1234", "1"))
    assert screen.call("verify", value="a@b.c") == {
        "same": True, "value": "a@b.c", "checked": None, "url": "", "title": "",
    }  # fmt: skip
    assert screen.call("verify", value="other")["same"] is False
    ready(screen, "label=PIN", "fill", value="1234")
    assert screen.call("verify", value="1234") | {"value": "•••"} == screen.call("verify", value="4321")
    assert screen.call("verify", value="123")["same"] is False
    phone.show(form("a@b.c", "1234", "0"))
    ready(screen, "label=On", "fill", value="true")
    assert screen.call("verify")["same"] is False
    phone.show(form("a@b.c", "1234", "1"))
    assert (screen.call("verify")["same"], screen.call("verify")["value"]) == (True, "true")
    phone.show(ios_app(ios("Button", label="Gone")))
    assert screen.call("verify", value="x")["gone"] is True


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
def test_a_condition_holds(phone: Phone, selector: str | None, conditions: dict[str, Any]) -> None:
    """Of an element, or of the screen."""
    answer = wait(phone.screen("ios", source("ios_checkout")), selector, **conditions)
    assert answer["ok"], answer


def test_a_condition_that_does_not_hold_says_what_is_there(phone: Phone) -> None:
    """Expected, actual, and the lines near it."""
    screen = phone.screen("ios", source("ios_checkout"))
    answer = wait(screen, "id=total", text="Total: $1", visible=True)
    assert answer["failed"] == [{"condition": "text", "expected": "Total: $1", "actual": "Total: $19.50"}]
    assert "text: Total: $19.50" in answer["near"]
    assert wait(screen, "text=Pay now", state="visible")["failed"][0]["actual"] == "hidden"
    secret = wait(screen, "label=Password", value="hunter2")["failed"][0]
    assert (secret["expected"], secret["actual"]) == ("•••", "•••")
    negated = screen.call("wait", conditions={"title": "Checkout"}, slice=0, **{"not": True})
    assert (negated["ok"], negated["failed"][0]["actual"]) == (False, "Checkout")


def test_it_waits_until_it_holds(phone: Phone) -> None:
    """Within its slice, looking again and again."""
    empty, there = ios_app(), ios_app(ios("StaticText", label="Done"))
    screen = phone.screen("ios", empty, empty, empty, there)
    locator = parse("text=Done").data()
    assert screen.call("wait", conditions={"state": "visible"}, slice=2000, locator=locator)["ok"]


def test_pictures_are_told_where_things_are(phone: Phone) -> None:
    """The size of the screen, the box of an element and what of it can be seen, and what can be acted on."""
    rows = android("ScrollView", android("Button", text="X", box=(0, 350, 300, 450)), box=(0, 0, 1080, 400))
    screen = phone.screen("android", android_app(rows, android("TextView", text="Only read")))
    shot = screen.call("shot", locator=parse("text=X").data(), slice=0)
    assert (shot["view"], shot["scroll"]) == ([1080, 2000], [0, 0])
    assert shot["box"] == {"left": 0, "top": 350, "right": 300, "bottom": 450}
    assert shot["part"] == shot["box"] | {"bottom": 400}
    assert screen.call("shot")["view"] == [1080, 2000]
    assert screen.call("marked") == {"marks": [{"ref": shot["ref"], "box": shot["part"]}], "frames": []}
    assert screen.call("boxes", locators=[parse("text=X").data(), parse("text=Z").data()])["boxes"] == [shot["part"]]


def test_what_scrolls_tells_how_far_it_went(phone: Phone) -> None:
    """By what is in it; where nothing moved it is at its end."""

    def things(top: int) -> str:
        texts = [
            android("TextView", text=f"Thing {n}", box=(0, top + 100 * n, 1080, top + 100 * n + 90)) for n in range(9)
        ]
        return android_app(android("ScrollView", *texts, box=(0, 200, 1080, 800)))

    screen = phone.screen("android", things(200))
    info = screen.call("scrollInfo", direction="down")
    assert (info["x"], info["y"], info["page"]) == (540, 500, [1080, 600])
    phone.show(things(50))
    assert screen.call("scrolled", direction="down", slice=1000) == {"moved": 150, "atEnd": False}
    screen.call("scrollInfo", direction="down")
    assert screen.call("scrolled", direction="down", slice=1000) == {"moved": 0, "atEnd": True}
