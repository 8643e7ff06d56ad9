"""Every tool that serves apps, once with valid and once with invalid arguments, on both platforms."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.models.session import SessionType
from tests.e2e.apps.phone import Phone
from tests.e2e.stage import Stage, refused
from tests.servers.appium import POCKET, POCKET_ID

pytestmark = pytest.mark.full

WRONG = "invalid_argument"
NOWHERE = {"selector": "~nowhere", "timeout": 100}
NOT_FOUND = ("element_not_found", "No element matches '~nowhere'")
NOT_THERE = (NOWHERE, *NOT_FOUND)


class Case(NamedTuple):
    """The screen, good arguments and part of the answer; bad ones, the code of the error and part of its text."""

    screen: str
    good: dict[str, Any]
    answer: str
    bad: dict[str, Any]
    code: str
    error: str


CASES = {
    "get_visible_elements": Case("Controls", {}, 'heading "Controls" [e', {"limit": 0}, WRONG, "limit"),
    "get_text": Case("Controls", {}, "Volume", {"selector": "//["}, WRONG, "'//['"),
    "get_page_source": Case("Controls", {"selector": "~wifi"}, "wifi", {"selector": "id="}, WRONG, "'id='"),
    "get_console": Case("Controls", {}, "for newer ones: since=", {"level": "loud"}, WRONG, "level"),
    "take_screenshot": Case(
        "Controls", {"marks": True}, "One point of the screen", {"fullPage": True}, "unsupported", "its screen"
    ),
    "click_element": Case("Alerts", {"selector": "role=button[name=Back]"}, 'heading "Home"', *NOT_THERE),
    "tap_element": Case("Gestures", {"selector": "~pad"}, "taps", {"x": 99999, "y": 5}, WRONG, "outside the viewport"),
    "scroll": Case("List", {"selector": "text=Thing 30"}, "Done.", {"direction": "north"}, WRONG, "direction"),
    "swipe": Case(
        "Gestures", {"selector": "~pad", "direction": "left"}, "swipe left", {"direction": "north"}, WRONG, "direction"
    ),
    "pinch": Case("Gestures", {"selector": "~pad", "scale": 2}, "scale", {"scale": 0}, WRONG, "scale"),
    "drag_and_drop": Case(
        "Gestures", {"source": "~card", "target": "~target"}, "Done.",
        {"source": "~nowhere", "target": "~target", "timeout": 100}, *NOT_FOUND,
    ),
    "set_value": Case(
        "Note", {"selector": "~noteField", "value": "Buy tea"}, "Done.", NOWHERE | {"value": "x"}, *NOT_FOUND
    ),
    "press_keys": Case("Controls", {"keys": "Enter"}, "Settled after", {"keys": "Nokey"}, WRONG, "'Nokey' is not"),
    "wait_for": Case(
        "Controls", {"text": "Volume"}, "Passed after", {"text": "Never", "timeout": 100}, "timeout", "Never"
    ),
    "expect": Case(
        "Controls", {"selector": "text=Not now", "enabled": False}, "Passed after",
        {"selector": "text=Not now", "enabled": True, "timeout": 100}, "expectation_failed", "enabled",
    ),
    "execute_script": Case(
        "Controls", {"script": "mobile: deviceInfo"}, "{", {"script": "return 1"}, "unsupported", "runs no JavaScript"
    ),
    "run_script": Case(
        "Controls", {"script": "return await page.getText()"}, "Volume", {"script": ")"}, WRONG, "Unexpected token"
    ),
    "handle_dialog": Case(
        "Alerts", {"accept": True}, "'The kettle boils' was accepted",
        {"accept": True, "timeout": 100}, "not_actionable", "No alert is open",
    ),
    "switch_context": Case(
        "Web view", {}, "NATIVE_APP (current)", {"context": "WEBVIEW_none", "timeout": 100}, WRONG, "No context"
    ),
    "manage_app": Case(
        "Controls", {"action": "state"}, f"{POCKET_ID}: foreground.",
        {"action": "activate", "app": "org.example.none"}, WRONG, "No app 'org.example.none' is installed",
    ),
    "manage_device": Case(
        "Controls", {"action": "clipboard", "value": "copied"}, "Done. copied",
        {"action": "set_location", "value": "here"}, WRONG, "latitude,longitude",
    ),
}  # fmt: skip

OF_APPS = [verb for verb, action in CATALOGUE.items() if SessionType.IOS in action.types]
OF_BROWSERS = [verb for verb, action in CATALOGUE.items() if SessionType.IOS not in action.types]
ELSEWHERE: dict[str, dict[str, Any]] = {
    "navigate": {"url": "https://example.org/"}, "hover": {"selector": "~wifi"}, "tabs": {"action": "list"},
    "select_option": {"selector": "~colour", "values": ["Red"]}, "switch_frame": {}, "cookies": {"action": "get"},
    "save_storage_state": {}, "passkeys": {"action": "list"}, "print_page": {}, "audit_page": {},
    "route": {"action": "clear"}, "har": {"action": "flush"}, "get_network": {},
    "upload_files": {"selector": "~wifi", "paths": [str(POCKET)]}, "set_viewport": {"width": 100, "height": 100},
    "emulate": {"offline": True},
    "set_policy": {"dialogs": "accept"},
}  # fmt: skip


@pytest.mark.parametrize("tool", OF_APPS)
def test_each_app_tool_succeeds_with_valid_arguments(phone: Phone, tool: str) -> None:
    """A tool with valid arguments succeeds in an app, and its text confirms it."""
    case = CASES[tool]
    phone.open(case.screen)
    if tool == "handle_dialog":
        phone.ok("tap_element", selector="~alertButton", observe="none")
    answer = phone.call(tool, **case.good)
    assert not answer.failed, answer.text
    assert case.answer in answer.text


@pytest.mark.parametrize("tool", OF_APPS)
def test_each_app_tool_refuses_invalid_arguments(phone: Phone, tool: str) -> None:
    """A tool with invalid arguments answers an error of the contract in an app."""
    case = CASES[tool]
    assert case.error in refused(phone.call(tool, **case.bad), case.code)


@pytest.mark.parametrize("tool", OF_BROWSERS)
def test_a_browser_tool_is_unsupported_in_an_app_and_the_hint_names_another_tool(phone: Phone, tool: str) -> None:
    """A browser tool is unsupported on an app's own screen, and the hint names another tool."""
    refused(answer := phone.call(tool, **ELSEWHERE[tool]), "unsupported")
    assert any(other in answer.data["error"]["hint"] for other in CATALOGUE), answer.text


@pytest.mark.parametrize("tool", ["swipe", "pinch", "switch_context", "manage_app", "manage_device"])
def test_an_app_tool_is_unsupported_in_a_browser_and_the_hint_names_another_tool(stage: Stage, tool: str) -> None:
    """A tool for apps is unsupported in a browser, and the hint names another tool."""
    answer = stage.call(tool, **CASES[tool].good, sessionId="web")
    refused(answer, "unsupported")
    assert any(other in answer.data["error"]["hint"] for other in CATALOGUE), answer.text


@pytest.mark.parametrize("tool", ["wait_for", "expect"])
def test_waiting_for_a_url_is_unsupported_on_an_apps_own_screen(phone: Phone, tool: str) -> None:
    """Waiting for a URL on an app's own screen is unsupported, at once."""
    assert "An app's own screen has no URL." in refused(phone.call(tool, url="**/cart"), "unsupported")
