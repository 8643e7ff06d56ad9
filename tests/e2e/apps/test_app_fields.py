"""Setting the controls of an app: each has the requested value afterwards, read back from its screen."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import refused

pytestmark = pytest.mark.full


@pytest.mark.smoke
def test_set_value_replaces_the_text_of_an_app_field(phone: Phone) -> None:
    """The former text of a field is replaced: by text as a whole, or by key events for each character."""
    phone.open("Note")
    for keystrokes in (False, True):
        phone.ok("set_value", selector="~noteField", value="something else", keystrokes=keystrokes)
        answer = phone.ok("set_value", selector="~noteField", value="Milk & tea (2)!", keystrokes=keystrokes)
        assert "warnings" not in answer
        phone.ok("expect", selector="~noteField", value="Milk & tea (2)!")


def test_press_keys_types_text_at_the_caret_of_an_app_field(phone: Phone) -> None:
    """What is in the field stays; a word in place of a key is pointed to `text`."""
    phone.open("Note")
    phone.ok("set_value", selector="~noteField", value="Milk")
    phone.ok("press_keys", text=" & tea", selector="~noteField")
    phone.ok("expect", selector="~noteField", value="Milk & tea")
    phone.ok("press_keys", text="!")
    phone.ok("expect", selector="~noteField", value="Milk & tea!")
    assert "text" in refused(phone.call("press_keys", keys="Biscuits"), "invalid_argument")


def test_an_android_field_is_found_by_a_resource_id_without_a_package(phone: Phone) -> None:
    """Resource ids as React Native and Compose give them are found, though UiAutomator2 prefixes the package."""
    phone.open("Note")
    assert "warnings" not in phone.ok("set_value", selector="role=textbox[name=Title]", value="Groceries")
    phone.ok("set_value", selector="role=textbox[name=Title]" if phone.is_ios else "id=note-title", value="")


def test_set_value_with_submit_presses_enter_in_an_app_field(phone: Phone) -> None:
    """Enter is pressed after the text, and the change is reported."""
    phone.open("Note")
    answer = phone.ok("set_value", selector="~noteField", value="Bread", submit=True)
    assert any("Sent: Bread" in line for line in answer["stateChange"]["changed"] + answer["stateChange"]["appeared"])


def test_set_value_sets_a_switch_and_refuses_other_words(phone: Phone) -> None:
    """A switch is tapped only if its state is not the requested one."""
    phone.open("Controls")
    for value in ("true", "true", "false"):
        phone.ok("set_value", selector="~wifi", value=value)
        phone.ok("expect", selector="~wifi", checked=value == "true")
    refused(phone.call("set_value", selector="~wifi", value="maybe"), "invalid_argument")


def test_set_value_moves_a_slider_to_a_number_of_its_scale(phone: Phone) -> None:
    """A slider is set to a number of its own scale."""
    phone.open("Controls")
    for value in ("70", "20"):
        answer = phone.ok("set_value", selector="~volume", value=value)
        assert "warnings" not in answer
        assert f"Volume {value}" in phone.text()


def test_set_value_chooses_a_pickers_option_by_its_text(phone: Phone) -> None:
    """An option of a picker is chosen by its text."""
    phone.restart()
    phone.open("Controls")
    answer = phone.ok("set_value", selector="~colour", value="Blue")
    assert "warnings" not in answer
    phone.ok("expect", selector="~colour", value="Blue")


@pytest.mark.parametrize(
    ("selector", "expected"), [("text=Not now", "disabled"), ("role=heading[name=Controls]", "takes no value")]
)
def test_set_value_refuses_disabled_and_read_only_elements_with_the_reason(
    phone: Phone, selector: str, expected: str
) -> None:
    """A disabled button and a text are refused, with the reason."""
    phone.open("Controls")
    answer = phone.call("set_value", selector=selector, value="x", timeout=100)
    assert expected in refused(answer, "not_actionable")
