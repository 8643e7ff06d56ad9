"""Alerts of apps stay open until they are answered."""

from __future__ import annotations

import pytest

from tests.appium_end import POCKET, POCKET_ID
from tests.e2e.apps.phone import Phone
from tests.e2e.stage import Stage


def test_an_alert_is_what_the_screen_shows(phone: Phone) -> None:
    """Its opening is told as a change; the outline lists its buttons, and one of them can be tapped."""
    phone.open("Alerts")
    answer = phone.ok("tap_element", selector="~alertButton")
    assert any("The kettle boils" in line for line in answer["stateChange"]["appeared"])
    assert any(line.startswith('button "OK"') for line in phone.outline())
    phone.ok("tap_element", selector='role=button[name="OK"]')
    assert "Seen" in phone.text()


def test_what_the_system_of_ios_asks_is_what_the_screen_shows(stage: Stage) -> None:
    """It is another app's alert: it is in the outline all the same, alone, and its buttons can be tapped."""
    phone = Phone(stage, "ios", "ios")
    for action in ("remove", "install", "activate"):
        phone.ok("manage_app", action=action, app=str(POCKET) if action == "install" else POCKET_ID, observe="none")
    phone.open("Alerts")
    phone.ok("tap_element", selector="~locationButton")
    phone.ok("wait_for", selector="role=dialog")
    assert not any("Prompt" in line for line in phone.outline())
    phone.ok("tap_element", selector="text=Allow While Using App")
    phone.ok("wait_for", selector="text=Prompt")


@pytest.mark.parametrize(("accept", "said"), [(True, "Deleted"), (False, "Kept")])
def test_a_question_is_answered(phone: Phone, accept: bool, said: str) -> None:  # noqa: FBT001
    """In one sequence, with what it changed."""
    phone.open("Alerts")
    steps = [
        {"action": "tap_element", "selector": "~confirmButton"},
        {"action": "handle_dialog", "accept": accept},
        {"action": "wait_for", "text": said},
    ]
    assert phone.ok("execute_sequence", actions=steps)["completed"] == 3


def test_a_prompt_takes_a_text(phone: Phone) -> None:
    """It is accepted with the text that was given."""
    phone.open("Alerts")
    phone.ok("tap_element", selector="~promptButton")
    answer = phone.ok("handle_dialog", accept=True, promptText="Grace")
    assert "The dialog 'Your name?' was accepted." in answer["events"][0]
    phone.ok("wait_for", text="Name: Grace")
