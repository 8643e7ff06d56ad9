"""Every tool once with valid and once with invalid arguments, on a real page, as clients call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.mcp_server.tools import TOOLS
from orchestrator.models.session import SessionType
from tests.e2e.stage import Stage, opened, refused
from tests.servers.appium import AppiumEnd, appium_end
from tests.servers.cloud import rest_end
from tests.servers.mcp import Served
from tests.servers.webdriver import PASSWORD, USER, RemoteEnd, remote_end

PAGE = """<h1>Workshop</h1><button id=save>Save</button><label>Name <input></label><input type=file id=file>
<select id=colour><option>Red<option>Blue</select><ul><li id=one>One<li id=two>Two</ul>
<iframe id=inner srcdoc='<p>Inside'></iframe>"""
STEP = {"action": "hover", "selector": "#save"}
NOWHERE = {"selector": "#nowhere", "timeout": 100}
DONE = "Done. 'Page'"
WRONG = "invalid_argument"


class Case(NamedTuple):
    """Good arguments and part of the answer; bad ones, the code of the error and part of its text."""

    good: dict[str, Any]
    answer: str
    bad: dict[str, Any]
    code: str
    error: str


NOT_FOUND = ("element_not_found", "No element matches '#nowhere'")
NOT_THERE = (NOWHERE, *NOT_FOUND)
UNREADABLE = ({"selector": "//["}, WRONG, "'//['")
NO_SESSION = ({"sessionId": "nobody"}, "session_not_found", "No session: nobody. Open sessions: ")

CASES = {
    "start_browser": Case(
        {"sessionId": "new"}, "new: active, chrome", {"sessionId": "one"}, "session_exists", "'one' already exists"
    ),
    "start_session": Case(
        {"sessionId": "new", "provider": "local", "platform": "browser"}, "new: active, chrome",
        {"provider": "locl", "platform": "browser"}, WRONG, "'local'",
    ),
    "attach_session": Case(
        {"sessionId": "new"}, "new: active, ",
        {"remoteUrl": "nowhere", "remoteSessionId": "a"}, WRONG, "remoteUrl is not the address",
    ),
    "start_app_session": Case(
        {"sessionId": "new", "platform": "iOS"}, "new: active, ios",
        {"platform": "symbian"}, WRONG, "Argument 'platform' must be 'ios' or 'android'",
    ),
    "list_devices": Case({}, "No Appium server answers at http://127.0.0.1:1.", {"name": "x"}, WRONG, "'name'"),
    "upload_app": Case(
        {"provider": "browserstack", "path": str(Path(__file__))}, "app bs://a1, name test_every_tool.py",
        {"provider": "local", "path": "a"}, "unsupported", "browserstack",
    ),
    "list_apps": Case(
        {"provider": "browserstack"}, "app bs://a2, name shop.apk, version 1.0",
        {"provider": "browserstak"}, WRONG, "'browserstack'",
    ),
    "list_sessions": Case({}, "Current session: one.", {"name": "x"}, WRONG, "'name'"),
    "describe_actions": Case({"names": ["swipe"]}, "swipe: ", {"names": ["fly"]}, WRONG, "'fly'"),
    "set_current_session": Case({"sessionId": "one"}, "Current session: one.", *NO_SESSION),
    "close_session": Case({"sessionId": "one"}, "Closed: one.", *NO_SESSION),
    "close_sessions": Case({"prefix": "on"}, "Closed: one.", {}, WRONG, "idleMs"),
    "close_all_sessions": Case({}, "Closed: one.", {"detach": "maybe"}, WRONG, "'detach'"),
    "claim_session": Case({"sessionId": "one"}, "Claimed: pass sessionId one~", *NO_SESSION),
    "release_session": Case({"sessionId": "one"}, "It was not claimed.", *NO_SESSION),
    "fork_session": Case({"sessionId": "one", "as": "new"}, "new: active, chrome", *NO_SESSION),
    "execute_sequence": Case(
        {"actions": [STEP, STEP]}, "Completed 2 steps.",
        {"actions": [{"action": "fly"}]}, WRONG, "'fly' is not an action",
    ),
    "execute_parallel": Case(
        {"sequences": [{"sessionIds": ["one", "two"], "actions": [STEP]}]}, "2 sequences in ",
        {"sequences": [{"actions": [STEP]}]}, WRONG, "sessionId",
    ),
    "compare_sessions": Case(
        {"sessionIds": ["one", "two"], "of": "elements"}, "All sessions show the same as one.",
        {"sessionIds": ["one"], "of": "text"}, WRONG, "sessionIds",
    ),
    "navigate": Case({"history": "reload"}, "Done. 'Page' at http", {}, WRONG, "url"),
    "get_visible_elements": Case({}, '- button "Save" [e', {"roles": "button", "limit": 0}, WRONG, "limit"),
    "get_text": Case({"selector": "h1"}, "Workshop", *UNREADABLE),
    "get_page_source": Case({"selector": "#one"}, '<li id="one">One', *UNREADABLE),
    "get_console": Case({}, "for newer ones: since=", {"level": "loud"}, WRONG, "level"),
    "get_network": Case({"status": 404}, "for newer ones: since=", {"status": "4x"}, WRONG, "status"),
    "take_screenshot": Case({"selector": "#save"}, "Screenshot saved: ", *UNREADABLE),
    "audit_page": Case({"rules": ["label"]}, "(axe-core ", {"rules": ["label"], "tags": ["wcag2a"]}, WRONG, "either"),
    "print_page": Case({"background": True}, "Page printed: ", {"margin": 20}, WRONG, "margin"),
    "click_element": Case({"selector": "#save"}, "Settled after", *NOT_THERE),
    "hover": Case({"selector": "#save"}, DONE, *NOT_THERE),
    "scroll": Case(
        {"selector": "#one"}, DONE, {"direction": "sideways"}, WRONG, "direction"
    ),
    "tap_element": Case({"x": 5, "y": 5}, DONE, {"x": 5}, WRONG, "y"),
    "drag_and_drop": Case(
        {"source": "#one", "target": "#two"}, DONE, {"source": "#one"}, WRONG, "target"
    ),
    "set_value": Case({"selector": "label=Name", "value": "Ann"}, DONE, NOWHERE | {"value": "Ann"}, *NOT_FOUND),
    "press_keys": Case({"keys": "Tab"}, DONE, {"keys": "Nokey"}, WRONG, "Nokey"),
    "select_option": Case(
        {"selector": "#colour", "values": ["Blue"]}, DONE,
        {"selector": "#colour", "values": ["Mauve"], "timeout": 100}, "not_actionable", "Mauve",
    ),
    "upload_files": Case(
        {"selector": "#file", "paths": [str(Path(__file__))]}, DONE,
        {"selector": "#file", "paths": ["no/such/file"]}, WRONG, "/no/such/file",
    ),
    "wait_for": Case(
        {"text": "Workshop"}, "Passed after", {"text": "Never", "timeout": 100}, "timeout", "Never"
    ),
    "expect": Case(
        {"selector": "h1", "text": "Workshop"}, "Passed after",
        {"selector": "h1", "text": "Bazaar", "timeout": 100}, "expectation_failed", "Workshop",
    ),
    "execute_script": Case(
        {"script": "return args[0] + 1", "args": [1]}, "2",
        {"script": "return nothing.at.all"}, WRONG, "nothing is not defined",
    ),
    "run_script": Case(
        {"script": "return (await page.getText({selector: 'h1'})).text"}, '"Workshop"',
        {"script": "const a = 1;\nreturn nothing.at.all"}, WRONG, "nothing is not defined (line 2)",
    ),
    "handle_dialog": Case({"accept": True}, "the next one will be accepted", {}, WRONG, "accept"),
    "set_policy": Case({"dialogs": "raise"}, "raise", {"dialogs": "shout"}, WRONG, "dialogs"),
    "tabs": Case({"action": "list"}, "t1 (current): 'Page'", {"action": "select", "tab": "t99"}, WRONG, "t99"),
    "switch_frame": Case({}, "At the top of the page.", *NOT_THERE),
    "set_viewport": Case({"width": 1280, "height": 720}, DONE, {"width": 0, "height": 9}, WRONG, "width"),
    "emulate": Case(
        {"timezone": "Asia/Tokyo"}, "Emulated: timezone Asia/Tokyo",
        {"device": "iPhone 14 Por"}, WRONG, "'iPhone 14 Pro'",
    ),
    "cookies": Case(
        {"action": "set", "name": "tea", "value": "mint"}, "Set: 1.", {"action": "bake"}, WRONG, "action"
    ),
    "save_storage_state": Case({}, "Saved", {"path": "README.md/state.json"}, WRONG, "cannot be written"),
    "passkeys": Case(
        {"action": "add"}, "Passkeys work without a person: 0.", {"action": "list", "credential": "secret:A"}, WRONG,
        "List takes no credential",
    ),
    "route": Case(
        {"action": "delay", "url": "/slow", "ms": 10}, "Rules in force: 1.",
        {"action": "delay", "url": "/slow"}, WRONG, "Delay needs ms",
    ),
    "har": Case({"action": "start"}, "Recording.", {"action": "replay"}, WRONG, "Replay needs path"),
}  # fmt: skip

CLOSING = ("close_session", "close_sessions", "close_all_sessions")
OF_BOTH = ("execute_parallel", "compare_sessions")
OF_APPS = {verb for verb, action in CATALOGUE.items() if SessionType.BROWSER not in action.types}
each_tool = pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool not in OF_APPS])


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    """Two sessions, of which the first is current, and a cloud with an app in its storage."""
    with rest_end() as rest, pytest.MonkeyPatch.context() as patch:
        rest.answers["POST", "/app-automate/upload"] = 200, {"app_url": "bs://a1"}
        app = {"app_url": "bs://a2", "app_name": "shop.apk", "app_version": "1.0"}
        rest.answers["GET", "/app-automate/recent_apps"] = 200, [app]
        patch.setenv("BROWSERSTACK_USERNAME", USER)
        patch.setenv("BROWSERSTACK_ACCESS_KEY", PASSWORD)
        clouds = json.dumps({"browserstack": {"api_url": rest.url}})
        settings = {"appium_url": "http://127.0.0.1:1", "clouds": clouds, "require_session_id": "never"}
        with opened("auto", "one", "two", **settings) as stage:
            yield stage


@pytest.fixture(scope="module")
def phones() -> Iterator[AppiumEnd]:
    """An Appium that is not ours."""
    with appium_end() as end:
        yield end


@pytest.fixture(scope="module")
def end() -> Iterator[RemoteEnd]:
    """A chromedriver that is not ours."""
    with remote_end() as end:
        yield end


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool not in {*CLOSING, *OF_APPS}])
def test_each_tool_succeeds_with_valid_arguments(
    shared: Stage, end: RemoteEnd, tool: str, request: pytest.FixtureRequest
) -> None:
    """A tool with valid arguments succeeds, and its text confirms it."""
    case, page = CASES[tool], shared.page(PAGE)
    for name in ("one", "two") if tool in OF_BOTH else ("one",):
        shared.ok("navigate", url=page, sessionId=name)
    elsewhere = {"remoteUrl": end.url, "remoteSessionId": end.start()} if tool == "attach_session" else {}
    if tool == "start_app_session":
        case.good["options"] = {"url": request.getfixturevalue("phones").url}
    answer = shared.call(tool, **case.good, **elsewhere)
    if "new" in case.good.values():
        shared.ok("close_session", sessionId="new")
    if tool == "claim_session":
        shared.ok("release_session", sessionId="one", force=True)
    if elsewhere:
        end.ask("DELETE", elsewhere["remoteSessionId"], "")
    assert not answer.failed, answer.text
    assert case.answer in answer.text


@pytest.mark.parametrize("tool", CLOSING)
def test_each_closing_tool_closes_the_session_and_names_it(modern: Served, tool: str) -> None:
    """A closing tool closes the open session and names it."""
    modern.ok("start_browser", sessionId="one")
    assert CASES[tool].answer in modern.call(tool, **CASES[tool].good).text
    assert modern.ok("list_sessions")["sessions"] == []


@each_tool
def test_each_tool_refuses_invalid_arguments_and_leaves_the_sessions(shared: Stage, tool: str) -> None:
    """A tool with invalid arguments answers an error of the contract, and both sessions are unchanged."""
    case = CASES[tool]
    shared.ok("navigate", url=shared.page(PAGE), sessionId="one")
    assert case.error in refused(shared.call(tool, **case.bad), case.code)
    assert [row["sessionId"] for row in shared.ok("list_sessions")["sessions"]] == ["one", "two"]
