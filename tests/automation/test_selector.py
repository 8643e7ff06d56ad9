"""The selector grammar: every way to identify an element."""

from __future__ import annotations

import pytest

from orchestrator.automation.browser.locator import Locator
from orchestrator.automation.browser.selector import parse_selector
from orchestrator.errors import InvalidArgument


@pytest.mark.parametrize(
    ("given", "locator"),
    [
        ("e12", Locator("ref", "e12")),
        (" e12 ", Locator("ref", "e12")),
        ("[e12]", Locator("ref", "e12")),
        ("ref=e12", Locator("ref", "e12")),
        ("[ref=e12]", Locator("ref", "e12")),
        ('button "Pay now"', Locator("line", "button", "Pay now")),
        ('- button "Pay now"', Locator("line", "button", "Pay now")),
        ('- button "Say \\"hi\\""', Locator("line", "button", 'Say "hi"')),
        ('button "Pay now" [disabled]', Locator("line", "button", "Pay now")),
        ('  - button "Pay now" [e7]', Locator("ref", "e7")),
        ('- textbox "Name" [e9] [focused] = "Ann"', Locator("ref", "e9")),
        ("- textbox [e9]", Locator("ref", "e9")),
        ('textbox [e9] [focused] = "see [e5]"', Locator("ref", "e9")),
        ('textbox "Note" = "see [e5]"', Locator("line", "textbox", "Note")),
        ('- textbox "Note" [placeholder="a \\"[e5]\\" b"] [required]', Locator("line", "textbox", "Note")),
        ('- textbox "Note" [e7] [placeholder="see [e5]"]', Locator("ref", "e7")),
        ('button "Go [e5]" [e7]', Locator("ref", "e7")),
        ("input [checked]", Locator("css", "input [checked]")),
        ("- text: Total: 12", Locator("text", "Total: 12")),
        ("#pay", Locator("css", "#pay")),
        ("button.primary > span", Locator("css", "button.primary > span")),
        ("input[name=q]", Locator("css", "input[name=q]")),
        ("css=#pay", Locator("css", "#pay")),
        ("button", Locator("css", "button")),
        ("e0", Locator("css", "e0")),
        ("//a[@href='/x']", Locator("xpath", "//a[@href='/x']")),
        ("(//a)[2]", Locator("xpath", "(//a)[2]")),
        ("./a", Locator("xpath", "./a")),
        ("/html/body", Locator("xpath", "/html/body")),
        ("/hierarchy/*", Locator("xpath", "/hierarchy/*")),
        ("xpath=//a", Locator("xpath", "//a")),
        ("~login", Locator("accessibility_id", "login")),
        ("text=Sign in", Locator("text", "Sign in")),
        ('text="Sign in"', Locator("text", "Sign in", exact=True)),
        ("text='Sign in'", Locator("text", "Sign in", exact=True)),
        ("text=a=b", Locator("text", "a=b")),
        ("label=E-mail", Locator("label", "E-mail")),
        ("testid=cart", Locator("testid", "cart")),
        ("id=a.b", Locator("id", "a.b")),
        ('id=a"b', Locator("id", 'a"b')),
        ("id=com.shop:id/pay", Locator("id", "com.shop:id/pay")),
        ('android=new UiSelector().text("Pay")', Locator("android", 'new UiSelector().text("Pay")')),
        ('ios=label == "Pay"', Locator("ios", 'label == "Pay"')),
        ("chain=**/XCUIElementTypeCell[2]", Locator("chain", "**/XCUIElementTypeCell[2]")),
        ("role=button", Locator("role", "button")),
        ("role=Button", Locator("role", "button")),
        ("role=button[name=Pay now]", Locator("role", "button", "Pay now")),
        ('role=button[name="Pay now"]', Locator("role", "button", "Pay now")),
        ("role=button[name='Pay now']", Locator("role", "button", "Pay now")),
        ("role=button[name=Add [1]]", Locator("role", "button", "Add [1]")),
        ('role=button[name=""]', Locator("role", "button", "")),
    ],
)
def test_each_selector_form_is_parsed_into_its_locator(given: str, locator: Locator) -> None:
    """Refs, lines of the outline, CSS, XPath, accessibility ids, text, label, role and test ids are distinguished."""
    assert parse_selector(given).locator == locator
    assert parse_selector(given).frames == ()


def test_a_selector_may_begin_with_any_number_of_frames() -> None:
    """`frame >> selector` goes through any number of frames."""
    selector = parse_selector("iframe#pay >> frame[name=inner] >> text=Card")
    assert selector.frames == (Locator("css", "iframe#pay"), Locator("css", "frame[name=inner]"))
    assert selector.locator == Locator("text", "Card")
    assert selector.data() == {
        "by": "text",
        "value": "Card",
        "frames": [{"by": "css", "value": "iframe#pay"}, {"by": "css", "value": "frame[name=inner]"}],
    }


def test_arrows_inside_quotes_do_not_split_a_selector() -> None:
    """A name may hold `>>`."""
    assert parse_selector('role=button[name="Next >>"]').locator == Locator("role", "button", "Next >>")
    assert parse_selector('button "a \\" >> b"').frames == ()


def test_a_selector_that_is_a_ref_has_the_refs_number() -> None:
    """Errors can distinguish a ref that went away from one that was never given."""
    assert parse_selector("- button [e7]").ref == 7
    assert parse_selector("#e7").ref is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", "The selector is empty."),
        ("   ", "The selector is empty."),
        (">> #a", "'>> #a' has an empty part."),
        ("iframe >> ", "'iframe >> ' has an empty part."),
        ("text=", "'text=' has no value."),
        ("~", "'~' has no value."),
        ("id=", "'id=' has no value."),
        ("role=", "'role=' is invalid."),
        ("role=button[name", "'role=button[name' is invalid."),
    ],
)
def test_an_empty_or_incomplete_selector_is_refused_with_a_hint(given: str, expected: str) -> None:
    """An empty or half selector is `invalid_argument`; the message quotes it, the hint shows how to write it."""
    with pytest.raises(InvalidArgument) as refused:
        parse_selector(given)
    assert refused.value.message == expected
    assert refused.value.hint
