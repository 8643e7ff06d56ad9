"""Alerts of apps stay open until they are answered."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import Stage
from tests.servers.appium import POCKET, POCKET_ID

pytestmark = pytest.mark.full


def test_an_app_alert_is_in_the_outline_and_its_buttons_can_be_tapped(phone: Phone) -> None:
    """An opening alert is reported as a change; the outline lists its buttons, and one can be tapped."""
    phone.open("Alerts")
    answer = phone.ok("tap_element", selector="~alertButton")
    assert any("The kettle boils" in line for line in answer["stateChange"]["appeared"])
    assert any(line.startswith('button "OK"') for line in phone.outline())
    phone.ok("tap_element", selector='role=button[name="OK"]')
    assert "Seen" in phone.text()


def test_an_ios_system_alert_is_in_the_outline_and_its_buttons_can_be_tapped(stage: Stage) -> None:
    """A system alert belongs to another app; the outline shows it alone, and its buttons can be tapped."""
    phone = Phone(stage, "ios", "ios")
    for action in ("remove", "install", "activate"):
        phone.ok("manage_app", action=action, app=str(POCKET) if action == "install" else POCKET_ID, observe="none")
    phone.open("Alerts")
    phone.ok("tap_element", selector="~locationButton")
    phone.ok("wait_for", selector="role=dialog")
    assert not any("Prompt" in line for line in phone.outline())
    phone.ok("tap_element", selector="text=Allow While Using App")
    phone.ok("wait_for", selector="text=Prompt")


@pytest.mark.parametrize(("accept", "expected"), [(True, "Deleted"), (False, "Kept")])
def test_a_confirm_dialog_of_an_app_is_answered_within_a_sequence(phone: Phone, accept: bool, expected: str) -> None:  # noqa: FBT001
    """A sequence opens an app's confirm dialog, answers it and waits for the effect."""
    phone.open("Alerts")
    steps = [
        {"action": "tap_element", "selector": "~confirmButton"},
        {"action": "handle_dialog", "accept": accept},
        {"action": "wait_for", "text": expected},
    ]
    assert phone.ok("execute_sequence", actions=steps)["completed"] == 3


def test_a_prompt_of_an_app_is_accepted_with_the_given_text(phone: Phone) -> None:
    """A prompt is accepted with `promptText`, and an event reports it."""
    phone.open("Alerts")
    phone.ok("tap_element", selector="~promptButton")
    answer = phone.ok("handle_dialog", accept=True, promptText="Grace")
    assert "The dialog 'Your name?' was accepted." in answer["events"][0]
    phone.ok("wait_for", text="Name: Grace")
