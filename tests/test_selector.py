"""The selector grammar: everything that callers may write to point at an element."""

from __future__ import annotations

import pytest

from orchestrator.errors import InvalidArgument
from orchestrator.selector import Locator, parse


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
        ('text="Sign in"', Locator("text", "Sign in")),
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
def test_each_form_means_one_thing(given: str, locator: Locator) -> None:
    """Refs, lines of the outline, CSS, XPath, accessibility ids, text, label, role and test ids are told apart."""
    assert parse(given).locator == locator
    assert parse(given).frames == ()


def test_frames_stand_before_what_is_in_them() -> None:
    """`frame >> selector` goes through any number of frames."""
    selector = parse("iframe#pay >> frame[name=inner] >> text=Card")
    assert selector.frames == (Locator("css", "iframe#pay"), Locator("css", "frame[name=inner]"))
    assert selector.locator == Locator("text", "Card")
    assert selector.data() == {
        "by": "text",
        "value": "Card",
        "frames": [{"by": "css", "value": "iframe#pay"}, {"by": "css", "value": "frame[name=inner]"}],
    }


def test_arrows_inside_quotes_divide_nothing() -> None:
    """A name may hold `>>`."""
    assert parse('role=button[name="Next >>"]').locator == Locator("role", "button", "Next >>")
    assert parse('button "a \\" >> b"').frames == ()


def test_a_ref_is_known_by_its_number() -> None:
    """Errors can tell a ref that is gone from one that never was."""
    assert parse("- button [e7]").ref == 7
    assert parse("#e7").ref is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "The selector is empty."),
        ("   ", "The selector is empty."),
        (">> #a", "'>> #a' has an empty part."),
        ("iframe >> ", "'iframe >> ' has an empty part."),
        ("text=", "'text=' says nothing to look for."),
        ("~", "'~' says nothing to look for."),
        ("id=", "'id=' says nothing to look for."),
        ("role=", "'role=' cannot be read."),
        ("role=button[name", "'role=button[name' cannot be read."),
    ],
)
def test_what_says_nothing_is_refused_with_a_way_on(given: str, said: str) -> None:
    """An empty or half selector is `invalid_argument`; the message quotes it, the hint shows how to write it."""
    with pytest.raises(InvalidArgument) as refused:
        parse(given)
    assert refused.value.message == said
    assert refused.value.hint
