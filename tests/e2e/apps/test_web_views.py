"""The web views of an app: browser tools work in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import refused

pytestmark = pytest.mark.full


@pytest.fixture
def inside(phone: Phone) -> Iterator[Phone]:
    """A phone in the web view of its app."""
    phone.open("Web view")
    phone.ok("switch_context", context="WEBVIEW")
    yield phone
    phone.ok("switch_context", context="NATIVE_APP")


def test_switch_context_lists_the_contexts_and_names_the_current_one(phone: Phone) -> None:
    """The answer names the current context; a web view is listed once its screen is open."""
    phone.open("Web view")
    answer = phone.ok("switch_context")
    assert answer["context"] == answer["contexts"][0] == "NATIVE_APP"
    assert answer["contexts"][1].startswith("WEBVIEW")


def test_browser_tools_work_in_a_web_view_of_an_app(inside: Phone) -> None:
    """A page in a web view is read, filled in, clicked and reloaded as in a browser."""
    shown = inside.ok("get_visible_elements")
    assert shown["title"] == "Pocket web"
    assert 'heading "A page in the app"' in shown["outline"]
    inside.ok("set_value", selector="#what", value="Tea")
    inside.ok("click_element", selector="#order-button")
    inside.ok("expect", selector="#order", text="Tea")
    assert inside.ok("execute_script", script="return document.title")["value"] == "Pocket web"
    inside.ok("navigate", history="reload")
    inside.ok("expect", selector="#order", text="nothing")


def test_a_page_dialog_in_a_web_view_is_answered_as_armed_and_reported(inside: Phone) -> None:
    """A dialog in a web view is answered as armed beforehand, and reported as an event."""
    inside.ok("handle_dialog", accept=True)
    answer = inside.ok("click_element", selector="#ask")
    assert any("Sure?" in event for event in answer["events"])
    inside.ok("expect", selector="#order", text="yes")


@pytest.mark.smoke
def test_one_sequence_switches_into_a_web_view_and_back(phone: Phone) -> None:
    """A sequence over both contexts reads the page and reports the native screen at its end."""
    phone.open("Web view")
    steps = [
        {"action": "switch_context", "context": "WEBVIEW"},
        {"action": "set_value", "selector": "#what", "value": "Coffee"},
        {"action": "click_element", "selector": "#order-button"},
        {"action": "get_text", "selector": "#order"},
        {"action": "switch_context", "context": "NATIVE_APP"},
        {"action": "tap_element", "selector": 'role=button[name="Back"]'},
    ]
    answer = phone.ok("execute_sequence", actions=steps, verbose=True)
    assert answer["steps"][3]["result"]["text"] == "Coffee"
    assert any('heading "Home"' in line for line in answer["stateChange"]["appeared"])


def test_phone_keys_and_swipes_are_unsupported_in_a_web_view(inside: Phone) -> None:
    """Calls for the app's own screen are refused with a hint at switch_context."""
    assert "switch_context" in refused(inside.call("press_keys", keys="BACK"), "unsupported")
    assert "switch_context" in refused(inside.call("swipe", direction="up"), "unsupported")


def test_a_sequence_that_leaves_a_web_view_reports_the_native_screen(inside: Phone) -> None:
    """A sequence that began in a web view reports the app's whole native screen as new."""
    back = {"action": "tap_element", "selector": 'role=button[name="Back"]'}
    answer = inside.ok("execute_sequence", actions=[{"action": "switch_context", "context": "NATIVE_APP"}, back])
    assert any('heading "Home"' in line for line in answer["stateChange"]["appeared"])


def test_a_session_is_back_in_the_native_context_once_its_web_view_is_gone(phone: Phone) -> None:
    """A restart of the app ends its web view, and the session is in the native context."""
    phone.open("Web view")
    phone.ok("switch_context", context="WEBVIEW")
    phone.ok("manage_app", action="terminate", observe="none")
    phone.ok("manage_app", action="activate", observe="none")
    phone.call("get_text")
    assert phone.ok("switch_context")["context"] == "NATIVE_APP"
    assert any('"Pocket"' in line for line in phone.outline())
