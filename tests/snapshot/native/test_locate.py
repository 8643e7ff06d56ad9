"""Locators in screens of apps, lasting refs, and their elements at the remote end."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.automation.browser.selector import parse_selector
from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.methods import READY, SNAPSHOT
from tests.snapshot.native.phone import Phone, android, android_app, ios, ios_app, long_list, source
from tests.snapshot.untyped import UntypedScreen


def found(screen: UntypedScreen, selector: str, **asked: Any) -> dict[str, Any]:
    """Return the answer of `ready` for a selector."""
    answer: dict[str, Any] = screen.call(READY, locator={**parse_selector(selector).data(), **asked}, need="present")
    return answer


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
        ("getByText(/^pay/i)", 'button "Pay now"'),
        ('text="Pay now"', 'button "Pay now"'),
        ("getByRole('button', {name: 'Remove', exact: true})", 'button "Remove"'),
        ("getByLabel(/^Pass/)", 'textbox "Password"'),
        ("//XCUIElementTypeCell[2]/XCUIElementTypeButton", 'button "Remove"'),
        ("/AppiumAUT | //*[@name='total']", "text: Total: $19.50"),
    ],
)
def test_each_selector_strategy_finds_its_element_in_an_ios_app(phone: Phone, selector: str, line: str) -> None:
    """Every selector strategy that applies to an iOS app finds its element."""
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
def test_each_selector_strategy_finds_its_element_in_an_android_app(phone: Phone, selector: str, line: str) -> None:
    """An accessibility id is the content description, else the resource id."""
    assert found(phone.screen("android", source("android_checkout")), selector)["line"].startswith(line)


def test_a_field_without_a_label_is_found_by_the_text_before_it(phone: Phone) -> None:
    """Forms often label a field only by the text before it."""
    form = android("TextView", text="Street"), android("EditText", text="Long Acre")
    screen = phone.screen("android", android_app(*form, android("TextView", text="Town"), android("EditText", text="")))
    assert found(screen, "label=Street")["line"] == 'textbox [e1] = "Long Acre"'


@pytest.mark.parametrize(
    "selector", ['text="pay now"', "getByText('Pay', {exact: true})", "getByRole('button', {name: /^ay/})"]
)
def test_an_exact_text_or_a_pattern_finds_nothing_else(phone: Phone, selector: str) -> None:
    """Case and what stands around it count."""
    assert found(phone.screen("ios", source("ios_checkout")), selector)["reason"] == "not_found"


def test_a_pattern_that_cannot_be_read_is_invalid(phone: Phone) -> None:
    """The message quotes the regular expression."""
    answer = found(phone.screen("ios", source("ios_checkout")), "getByText(/a(/)")
    assert answer["reason"] == "invalid"
    assert answer["detail"].startswith('"a(" is not a valid regular expression')


CSS = "CSS works in web pages and web views; in a screen of an app use ~id, id=…, text=… or role=…"


@pytest.mark.parametrize(
    ("platform", "selector", "expected"),
    [
        ("ios", "#pay", CSS),
        ("ios", "link text=Pay", CSS),
        ("ios", "getByTitle('Pay')", "elements of an app have no title; use ~id, id=…, text=… or role=…"),
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
def test_a_selector_that_the_platform_cannot_read_is_refused_with_advice(
    phone: Phone, platform: str, selector: str, expected: str
) -> None:
    """A selector of another platform is `invalid` at once, without waiting."""
    answer = found(phone.screen(platform, source(f"{platform}_checkout")), selector)
    assert (answer["ok"], answer["reason"], answer["matches"]) == (False, "invalid", 0)
    assert answer["detail"].startswith(expected)


def test_elements_found_by_the_remote_end_are_matched_to_the_source(phone: Phone) -> None:
    """An element that the remote end finds is identified by its box, and by its class among several."""
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


def test_a_strict_locator_with_several_matches_is_ambiguous(phone: Phone) -> None:
    """Several matches of a strict locator are an error that lists them."""
    answer = found(phone.screen("ios", source("ios_checkout")), "role=radio", strict=True)
    assert (answer["reason"], answer["matches"]) == ("ambiguous", 2)
    assert answer["candidates"] == ['radio "Standard" [e1] [checked]', 'radio "Express" [e2]']


def test_a_selector_without_a_match_lists_similar_elements(phone: Phone) -> None:
    """The answer for a selector that finds nothing has the lines nearest to it."""
    answer = found(phone.screen("ios", source("ios_checkout")), 'button "Pay soon"')
    assert (answer["reason"], answer["matches"]) == ("not_found", 0)
    assert answer["candidates"][:2] == ['button "Pay now" [e1]', 'button "Pay later" [e2] [disabled]']


ROWS = [("Mug", "1"), ("Tea", "2")]


def rows(*named: tuple[str, str]) -> str:
    """An Android list whose rows are reused for other content, as usual."""
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
    """An element with an id keeps its ref when its text changes; a row with other content gets another one."""
    screen = phone.screen("android", rows(*ROWS))
    before = {one["name"]: one["ref"] for one in screen.call(SNAPSHOT, scope="page", json=True)["elements"]}
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
    """The same id on another screen is another element; elements in the same place keep their refs."""
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


def test_refs_behind_a_dialog_work_again_when_it_closes(phone: Phone) -> None:
    """A ref behind a dialog is stale while it is open, and works again afterwards."""
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
def test_each_selector_of_an_outline_finds_exactly_its_element(phone: Phone, platform: str) -> None:
    """Each selector in the data of an outline finds only its own element."""
    screen = phone.screen(platform, source(f"{platform}_checkout"))
    for one in screen.call(SNAPSHOT, scope="page", json=True)["elements"]:
        if one["selector"].startswith(("~", "id=", "text=", "xpath=")):
            answer = found(screen, one["selector"], strict=True)
            assert (answer.get("ref"), answer["matches"]) == (one["ref"], 1), one


def test_a_located_element_is_found_again_at_the_remote_end(phone: Phone) -> None:
    """An element is found by a unique id or text, else by its index, and then its place is compared."""
    screen = phone.screen("ios", source("ios_checkout"))
    phone.elements = {"mug": ((0, 153, 393, 219), "XCUIElementTypeCell")}
    found(screen, "text=Email")
    assert list(screen.handle().values()) == ["mug"]
    found(screen, "role=listitem")
    assert list(screen.handle().values()) == ["mug"]
    phone.elements = {"tea": ((0, 219, 393, 285), "XCUIElementTypeCell")}
    with pytest.raises(RemoteFailure, match="The element kept moving while it was looked up"):
        screen.handle()
    phone.show(ios_app(ios("Button", label="Other")))
    with pytest.raises(RemoteFailure, match="The element is no longer on the screen"):
        screen.handle()


@pytest.mark.parametrize("platform", ["ios", "android"])
def test_every_element_of_a_long_list_has_a_unique_selector(phone: Phone, platform: str) -> None:
    """Elements of a list of 2,000 get unique selectors, although no id is unique."""
    elements = phone.screen(platform, long_list(platform, 2000)).call(SNAPSHOT, scope="page", json=True)["elements"]
    assert len({one["selector"] for one in elements}) == len({one["ref"] for one in elements}) == len(elements) == 999


def test_selectors_quote_no_text_that_would_break_them(phone: Phone) -> None:
    """Elements whose text has quotes, arrows or line breaks get an index instead."""
    texts = ['say "hi"', "a >> b", "it's", "back`tick", "two\nlines", "x" * 200, " spaced "]
    screen = phone.screen(
        "android", android_app(*(android("Button", text=text) for text in [*texts, "Plain", "Twice", "Twice"]))
    )
    found_ = [one["selector"] for one in screen.call(SNAPSHOT, scope="page", json=True)["elements"]]
    counted = [f'android=new UiSelector().className("android.widget.Button").instance({n})' for n in range(7)]
    assert found_[:7] == counted
    assert found_[7] == "text=Plain"
    assert found_[8:] == [
        f'android=new UiSelector().className("android.widget.Button").instance({n})' for n in (8, 9)
    ]  # fmt: skip
