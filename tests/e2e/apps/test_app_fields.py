"""Setting the controls of an app: each holds afterwards what was asked for, read back from its screen."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import refused


def test_what_a_field_held_is_replaced(phone: Phone) -> None:
    """By text as a whole, and by key events for each character."""
    phone.open("Note")
    for keystrokes in (False, True):
        phone.ok("set_value", selector="~noteField", value="something else", keystrokes=keystrokes)
        answer = phone.ok("set_value", selector="~noteField", value="Milk & tea (2)!", keystrokes=keystrokes)
        assert "warnings" not in answer
        phone.ok("expect", selector="~noteField", value="Milk & tea (2)!")


def test_a_field_is_found_by_an_id_without_a_package(phone: Phone) -> None:
    """As those that React Native and Compose give: UiAutomator2 would put the package before it."""
    phone.open("Note")
    assert "warnings" not in phone.ok("set_value", selector="role=textbox[name=Title]", value="Groceries")
    phone.ok("set_value", selector="role=textbox[name=Title]" if phone.is_ios else "id=note-title", value="")


def test_a_field_is_submitted(phone: Phone) -> None:
    """Enter is pressed afterwards, and what that changed is told."""
    phone.open("Note")
    answer = phone.ok("set_value", selector="~noteField", value="Bread", submit=True)
    assert any("Sent: Bread" in line for line in answer["stateChange"]["changed"] + answer["stateChange"]["appeared"])


def test_a_switch_is_set(phone: Phone) -> None:
    """It is tapped only where it is not as wanted."""
    phone.open("Controls")
    for value in ("true", "true", "false"):
        phone.ok("set_value", selector="~wifi", value=value)
        phone.ok("expect", selector="~wifi", checked=value == "true")
    refused(phone.call("set_value", selector="~wifi", value="maybe"), "invalid_argument")


def test_a_slider_is_set(phone: Phone) -> None:
    """To a number of its own scale."""
    phone.open("Controls")
    for value in ("70", "20"):
        answer = phone.ok("set_value", selector="~volume", value=value)
        assert "warnings" not in answer
        assert f"Volume {value}" in phone.text()


def test_a_choice_is_made(phone: Phone) -> None:
    """By the text of the option."""
    phone.restart()
    phone.open("Controls")
    answer = phone.ok("set_value", selector="~colour", value="Blue")
    assert "warnings" not in answer
    phone.ok("expect", selector="~colour", value="Blue")


@pytest.mark.parametrize(
    ("selector", "said"), [("text=Not now", "disabled"), ("role=heading[name=Controls]", "takes no value")]
)
def test_what_takes_no_value_says_so(phone: Phone, selector: str, said: str) -> None:
    """A disabled button and a text are refused, with the reason."""
    phone.open("Controls")
    answer = phone.call("set_value", selector=selector, value="x", timeout=100)
    assert said in refused(answer, "not_actionable")
