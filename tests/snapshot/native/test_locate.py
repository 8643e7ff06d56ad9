"""Locators in screens of apps, refs that last, and how the remote end finds what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import RemoteFailure
from orchestrator.selector import parse
from orchestrator.snapshot.native.screen import Screen
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app, long_list, source


def found(screen: Screen, selector: str, **asked: Any) -> dict[str, Any]:
    """What `ready` answers for a selector."""
    return screen.call("ready", locator={**parse(selector).data(), **asked}, need="present")


@pytest.mark.parametrize(
    ("selector", "line"),
    [
        ("~payButton", 'button "Pay now"'),
        ("testid=payButton", 'button "Pay now"'),
        ("id=payButton", 'button "Pay now"'),
        ("text=Pay now", 'button "Pay now"'),
        ("text=pay NOW", 'button "Pay now"'),
        ("text=$19", "text: Total: $19.50"),
        ("text=ann@example", 'textbox "Email"'),
        ('button "Pay now"', 'button "Pay now"'),
        ("role=button[name=remove]", 'button "Remove"'),
        ("role=heading", 'heading "Checkout"'),
        ("label=Password", 'textbox "Password"'),
        ("label=coupon", 'textbox "Coupon"'),
        ("//XCUIElementTypeCell[2]/XCUIElementTypeButton", 'button "Remove"'),
        ("/AppiumAUT | //*[@name='total']", "text: Total: $19.50"),
    ],
)
def test_a_selector_finds_in_an_ios_app(phone: Phone, selector: str, line: str) -> None:
    """Every strategy of web pages that means something here."""
    assert found(phone.screen("ios", source("ios_checkout")), selector)["line"].startswith(line)


@pytest.mark.parametrize(
    ("selector", "line"),
    [
        ("~Navigate up", 'button "Navigate up"'),
        ("~passwordField", 'textbox "Password"'),
        ("testid=gift", 'switch "Gift wrap"'),
        ("id=emailField", 'textbox "Email"'),
        ("id=com.example.pocket:id/emailField", 'textbox "Email"'),
        ("text=Pay now", 'button "Pay now"'),
        ("label=Tip", 'slider "Tip"'),
        ("role=listitem", 'listitem "Blue mug $12.00"'),
        ("//android.widget.RadioButton[@text='Express']", 'radio "Express"'),
    ],
)
def test_a_selector_finds_in_an_android_app(phone: Phone, selector: str, line: str) -> None:
    """An accessibility id is the content description, else the resource id."""
    assert found(phone.screen("android", source("android_checkout")), selector)["line"].startswith(line)


def test_a_label_is_the_text_before_a_field_that_has_none(phone: Phone) -> None:
    """Forms are often written so."""
    form = android("TextView", text="Street"), android("EditText", text="Long Acre")
    screen = phone.screen("android", android_app(*form, android("TextView", text="Town"), android("EditText", text="")))
    assert found(screen, "label=Street")["line"] == 'textbox [e1] = "Long Acre"'


CSS = "CSS works in web pages and web views; in a screen of an app use ~id, id=…, text=… or role=…"


@pytest.mark.parametrize(
    ("platform", "selector", "said"),
    [
        ("ios", "#pay", CSS),
        ("android", "css=button", CSS),
        ("ios", "iframe >> text=Pay", "there are no frames in a screen of an app; leave out what is before >>"),
        ("ios", "android=new UiSelector()", "android= is for Android apps (UiAutomator), and this is an iOS app"),
        ("android", "ios=label == 'x'", "ios= is for iOS apps (XCUITest), and this is an Android app: use android="),
        ("android", "chain=**/X", "chain= is for iOS apps (XCUITest), and this is an Android app: use android="),
        ("ios", "//a[", '"//a[" is not a valid xpath selector'),
        ("ios", "xpath=count(//*)", '"count(//*)" is not a valid xpath selector (it finds no elements)'),
        ("ios", "//*[foo:bar]", '"//*[foo:bar]" is not a valid xpath selector'),
    ],
)
def test_what_means_nothing_here_says_what_does(phone: Phone, platform: str, selector: str, said: str) -> None:
    """A selector of another platform is `invalid`, and no waiting mends it."""
    answer = found(phone.screen(platform, source(f"{platform}_checkout")), selector)
    assert (answer["ok"], answer["reason"], answer["matches"]) == (False, "invalid", 0)
    assert answer["detail"].startswith(said)


def test_the_remote_end_finds_by_its_own_strategies(phone: Phone) -> None:
    """What it finds is told as an element of the source: by its box, and its class where several are there."""
    screen = phone.screen("ios", source("ios_checkout"))
    phone.elements = {
        "a": ((230, 237, 310, 267), "XCUIElementTypeButton"),
        "b": ((16, 620, 377, 710), "XCUIElementTypePicker"),
        "c": ((1, 2, 3, 4), "XCUIElementTypeOther"),
    }
    answer = found(screen, "chain=**/XCUIElementTypeAny")
    assert (answer["line"], answer["matches"]) == ('button "Remove" [e1]', 2)
    assert phone.asked == [("elements", {"using": "-ios class chain", "value": "**/XCUIElementTypeAny"})]
    phone.refusal = "Cannot read it"
    assert found(screen, "ios=label ==")["detail"].startswith('"label ==" was refused (The remote end answered')


def test_a_strict_locator_finds_one(phone: Phone) -> None:
    """Several are an error that lists them."""
    answer = found(phone.screen("ios", source("ios_checkout")), "role=radio", strict=True)
    assert (answer["reason"], answer["matches"]) == ("ambiguous", 2)
    assert answer["candidates"] == ['radio "Standard" [e1] [checked]', 'radio "Express" [e2]']


def test_nothing_found_names_what_may_be_meant(phone: Phone) -> None:
    """The lines nearest to what was asked for."""
    answer = found(phone.screen("ios", source("ios_checkout")), 'button "Pay soon"')
    assert (answer["reason"], answer["matches"]) == ("not_found", 0)
    assert answer["candidates"][:2] == ['button "Pay now" [e1]', 'button "Pay later" [e2] [disabled]']


ROWS = [("Mug", "1"), ("Tea", "2")]


def rows(*named: tuple[str, str]) -> str:
    """A list of Android whose rows are used again for other content, as all of them are."""
    cells = [
        android(
            "LinearLayout",
            android("TextView", text=name, id="title"),
            android("TextView", text=count, id="count"),
            android("Button", text="Add", id="add"),
            id="row",
        )
        for name, count in named
    ]
    total = android("TextView", text=f"{len(named)} things", id="total")
    return android_app(android("androidx.recyclerview.widget.RecyclerView", *cells, id="list"), total)


def test_a_ref_lasts_as_long_as_its_element(phone: Phone) -> None:
    """An element with an id keeps it when its text changes; a row that shows other content is another one."""
    screen = phone.screen("android", rows(*ROWS))
    before = {one["name"]: one["ref"] for one in screen.call("snapshot", scope="page", json=True)["elements"]}
    add = found(screen, "//*[@text='Mug']/../android.widget.Button")["ref"]
    total = found(screen, "id=total")["ref"]
    phone.show(rows(("Mug", "5"), ("Soap", "1"), ("Jam", "1")))
    assert found(screen, add)["ref"] == add
    assert found(screen, total)["line"] == "text: 3 things"
    assert found(screen, "id=total")["ref"] == total
    assert found(screen, "//*[@text='Soap']/../android.widget.Button")["ref"] not in before.values()
    phone.show(rows(("Tea", "1"), ("Mug", "5")))
    assert found(screen, add)["ref"] == found(screen, "//*[@text='Mug']/../android.widget.Button")["ref"] == add
    phone.show(rows(("Tea", "1")))
    gone = found(screen, add)
    assert (gone["reason"], gone["detail"]) == ("stale", f"{add} is no longer on the screen")


def test_a_ref_of_another_screen_is_stale(phone: Phone) -> None:
    """The same id on another screen is another element; what stays in its place stays itself."""
    tab = android("Button", text="Shop", id="tab", box=(0, 1800, 500, 2000))

    def page(*names: str) -> str:
        texts = [android("TextView", text=name, id=name.lower()) for name in names[1:]]
        return android_app(
            android("Toolbar", android("TextView", text=names[0])),
            *texts,
            android("Button", text=names[-1], id="go"),
            tab,
        )

    screen = phone.screen("android", page("Cart", "A", "B", "C", "Pay"))
    go, shop = found(screen, "id=go")["ref"], found(screen, "id=tab")["ref"]
    phone.show(page("Done", "X", "Y", "Z", "Again"))
    assert found(screen, go)["reason"] == "stale"
    assert found(screen, shop)["ref"] == shop
    assert found(screen, "id=go")["ref"] != go


def test_a_dialog_leaves_the_refs_behind_it_alone(phone: Phone) -> None:
    """Some platforms print nothing of what is behind."""
    screen = phone.screen("android", source("android_checkout"))
    pay = found(screen, "text=Pay now")["ref"]
    parts = (
        android("TextView", text="Sure?", id="android:id/message"),
        android("Button", text="OK", id="android:id/button1"),
    )
    phone.show(android_app(android("LinearLayout", *parts, id="parentPanel")))
    assert found(screen, pay)["reason"] == "stale"
    phone.show(source("android_checkout"))
    assert found(screen, pay)["line"] == f'button "Pay now" [{pay}]'


@pytest.mark.parametrize("platform", ["ios", "android"])
def test_each_selector_that_is_told_means_its_element(phone: Phone, platform: str) -> None:
    """What the data of an outline gives as a selector finds just that element, where we look for it ourselves."""
    screen = phone.screen(platform, source(f"{platform}_checkout"))
    for one in screen.call("snapshot", scope="page", json=True)["elements"]:
        if one["selector"].startswith(("~", "id=", "text=", "xpath=")):
            answer = found(screen, one["selector"], strict=True)
            assert (answer.get("ref"), answer["matches"]) == (one["ref"], 1), one


def test_the_element_kept_is_found_at_the_remote_end(phone: Phone) -> None:
    """By accessibility id, id or text where one is unique, else by counting: then its place is compared."""
    screen = phone.screen("ios", source("ios_checkout"))
    phone.elements = {"mug": ((0, 153, 393, 219), "XCUIElementTypeCell")}
    found(screen, "text=Email")
    assert screen.element()[:2] == ("accessibility id", "emailField")
    assert list(screen.handle().values()) == ["mug"]
    found(screen, "role=listitem")
    assert screen.element()[:2] == ("-ios class chain", "**/XCUIElementTypeCell[1]")
    assert list(screen.handle().values()) == ["mug"]
    phone.elements = {"tea": ((0, 219, 393, 285), "XCUIElementTypeCell")}
    with pytest.raises(RemoteFailure, match="The element moved away while it was looked for"):
        screen.handle()
    phone.show(ios_app(ios("Button", label="Other")))
    with pytest.raises(RemoteFailure, match="The element is no longer on the screen"):
        screen.handle()


@pytest.mark.parametrize("platform", ["ios", "android"])
def test_a_long_list_has_an_address_for_each(phone: Phone, platform: str) -> None:
    """2,000 elements of which no id is unique."""
    elements = phone.screen(platform, long_list(platform, 2000)).call("snapshot", scope="page", json=True)["elements"]
    assert len({one["selector"] for one in elements}) == len({one["ref"] for one in elements}) == len(elements) == 999


def test_addresses_quote_no_text_that_would_break_them(phone: Phone) -> None:
    """Texts with quotes, arrows or line breaks are counted instead."""
    texts = ['say "hi"', "a >> b", "it's", "back`tick", "two\nlines", "x" * 200, " spaced "]
    screen = phone.screen(
        "android", android_app(*(android("Button", text=text) for text in [*texts, "Plain", "Twice", "Twice"]))
    )
    found_ = [one["selector"] for one in screen.call("snapshot", scope="page", json=True)["elements"]]
    counted = [f'android=new UiSelector().className("android.widget.Button").instance({n})' for n in range(7)]
    assert found_[:7] == counted
    assert found_[7] == "text=Plain"
    assert found_[8:] == [
        f'android=new UiSelector().className("android.widget.Button").instance({n})' for n in (8, 9)
    ]  # fmt: skip
