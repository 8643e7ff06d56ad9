"""The web views of an app: browser tools work in them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.apps.phone import Phone
from tests.e2e.stage import refused


@pytest.fixture
def inside(phone: Phone) -> Iterator[Phone]:
    """A phone in the web view of its app."""
    phone.open("Web view")
    phone.ok("switch_context", context="WEBVIEW")
    yield phone
    phone.ok("switch_context", context="NATIVE_APP")


def test_contexts_are_listed(phone: Phone) -> None:
    """The current one is named; a web view comes with its screen."""
    phone.open("Web view")
    answer = phone.ok("switch_context")
    assert answer["context"] == answer["contexts"][0] == "NATIVE_APP"
    assert answer["contexts"][1].startswith("WEBVIEW")


def test_a_page_in_an_app_is_a_page(inside: Phone) -> None:
    """It is seen, filled in and clicked as in a browser, and has an address."""
    shown = inside.ok("get_visible_elements")
    assert shown["title"] == "Pocket web"
    assert 'heading "A page in the app"' in shown["outline"]
    inside.ok("set_value", selector="#what", value="Tea")
    inside.ok("click_element", selector="#order-button")
    inside.ok("expect", selector="#order", text="Tea")
    assert inside.ok("execute_script", script="return document.title")["value"] == "Pocket web"
    inside.ok("navigate", history="reload")
    inside.ok("expect", selector="#order", text="nothing")


def test_a_dialog_of_a_page_in_an_app(inside: Phone) -> None:
    """It is answered by the policy of pages, and told."""
    inside.ok("handle_dialog", accept=True)
    answer = inside.ok("click_element", selector="#ask")
    assert any("Sure?" in event for event in answer["events"])
    inside.ok("expect", selector="#order", text="yes")


def test_one_sequence_goes_in_and_out(phone: Phone) -> None:
    """Refs are unique over both, and the change is that of the screen at the end."""
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


def test_keys_of_the_phone_are_not_the_pages(inside: Phone) -> None:
    """What belongs to the app's own screen says how to get there."""
    assert "switch_context" in refused(inside.call("press_keys", keys="BACK"), "unsupported")
    assert "switch_context" in refused(inside.call("swipe", direction="up"), "unsupported")


def test_a_sequence_that_comes_out_says_what_is_there(inside: Phone) -> None:
    """It began in a page: all of the app's own screen is new."""
    back = {"action": "tap_element", "selector": 'role=button[name="Back"]'}
    answer = inside.ok("execute_sequence", actions=[{"action": "switch_context", "context": "NATIVE_APP"}, back])
    assert any('heading "Home"' in line for line in answer["stateChange"]["appeared"])


def test_a_web_view_that_goes_away_is_left(phone: Phone) -> None:
    """The call in it says so, and the session is on the app's own screen."""
    phone.open("Web view")
    phone.ok("switch_context", context="WEBVIEW")
    phone.ok("manage_app", action="terminate", observe="none")
    phone.ok("manage_app", action="activate", observe="none")
    phone.call("get_text")
    assert phone.ok("switch_context")["context"] == "NATIVE_APP"
    assert any('"Pocket"' in line for line in phone.outline())
