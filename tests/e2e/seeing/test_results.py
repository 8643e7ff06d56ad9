"""Common properties of all calls: spellings of arguments, and complete results in text and in data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped] # it comes with mcp, and without types
import pytest

from tests.e2e.stage import Stage, opened, refused
from tests.servers.mcp import Answer

pytestmark = pytest.mark.full

ERAS = ("auto", "legacy")
PAGE = (
    '<h1>Shop</h1><form onsubmit="event.preventDefault(); out.textContent = `hello ${n.value}`">'
    "<label>Name <input id=n></label><button id=b>Go</button></form><p id=out></p>"
    "<button>Twin</button><button>Twin</button><button id=ask onclick=\"confirm('Sure?')\">Ask</button>"
)


@pytest.fixture(scope="module", params=ERAS)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A server and a browser, in both eras of the protocol."""
    with opened(request.param) as stage:
        yield stage


@pytest.fixture(autouse=True)
def _page(stage: Stage) -> None:
    stage.show(PAGE, title="Shop")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("navigate", {"history": "reload"}),
    ("get_visible_elements", {}),
    ("get_visible_elements", {"format": "json", "scope": "page"}),
    ("get_text", {}),
    ("click_element", {"selector": "#b"}),
    ("click_element", {"selector": "text=Twin", "observe": "outline"}),
    ("click_element", {"selector": "#ask"}),
    ("set_value", {"selector": "#n", "value": "Ann", "submit": True}),
    ("press_keys", {"keys": "Tab"}),
    ("scroll", {"direction": "down"}),
    ("execute_script", {"script": "return {a: [1, null, 'x']}"}),
    ("execute_script", {"script": "return null"}),
    ("wait_for", {"selector": "#b"}),
    ("expect", {"selector": "text=Twin", "count": 2}),
    ("handle_dialog", {"accept": True}),
    ("set_policy", {"dialogs": "raise"}),
    ("execute_sequence", {"actions": [{"action": "get_text"}], "verbose": True}),
    ("execute_sequence", {"actions": [{"action": "click_element", "selector": "#none", "timeout": 50}]}),
    ("execute_parallel", {"sequences": [{"sessionId": "browser", "actions": [{"action": "get_text"}]}]}),
    ("list_sessions", {}),
    ("set_current_session", {"sessionId": "browser"}),
    ("close_sessions", {"prefix": "none-such"}),
    ("click_element", {"selector": "#none", "timeout": 50}),
    ("get_text", {"sessionId": "none-such"}),
    ("expect", {"selector": "#b", "text": "x", "timeout": 50}),
]


def leaves(value: Any) -> Iterator[str]:
    """Yield every text and number in a JSON value."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[f"{tool}-{n}" for n, (tool, _) in enumerate(CALLS)])
def test_structured_data_meets_its_schema_and_text_says_the_same(
    stage: Stage, tool: str, arguments: dict[str, Any]
) -> None:
    """Some hosts show a model only the text, some only the data: each is complete."""
    schema = next(listed.output_schema for listed in stage.server.tools() if listed.name == tool)
    answer = stage.call(tool, **arguments)
    jsonschema.validate(answer.data, schema)
    for line in lines_of(answer):
        assert line in answer.text, f"{line!r} is only in the data"


def lines_of(answer: Answer) -> Iterator[str]:
    """Return the data line by line: texts of several lines may be indented in the text."""
    for leaf in leaves(answer.data):
        for line in leaf.splitlines():
            yield json.dumps(line, ensure_ascii=False)[1:-1] if line not in answer.text else line


def test_arguments_are_accepted_in_camel_and_snake_case(stage: Stage) -> None:
    """Arguments such as sessionId and session_id mean the same."""
    url = stage.page("x")
    assert stage.ok("navigate", url=url, wait_until="interactive", session_id="browser")["url"] == url
    assert stage.ok("navigate", url=url, waitUntil="interactive", sessionId="browser")["url"] == url
    assert "outline" in stage.ok("get_visible_elements", sessionId="browser")
    assert stage.ok("execute_sequence", actions=[{"action": "get_text"}], stability_timeout_ms=100)["completed"] == 1


def test_an_argument_given_in_both_spellings_is_refused(stage: Stage) -> None:
    """An argument given in camel case and in snake case at once is an invalid_argument error."""
    answer = stage.call("navigate", url="about:blank", waitUntil="load", wait_until="none")
    assert "'waitUntil' is given twice" in refused(answer, "invalid_argument")


def test_numbers_and_booleans_are_accepted_as_strings(stage: Stage) -> None:
    """Strings that hold a number or a boolean are accepted as such, since models send them."""
    assert stage.ok("get_visible_elements", limit="2", offset="1")["shown"] == 2
    assert "url" in stage.ok("set_value", selector="#n", value="x", keystrokes="true", timeout="1000")
    assert not stage.call("expect", selector="text=Twin", count="2", visible="true").failed


def test_lists_and_objects_are_accepted_as_json_strings(stage: Stage) -> None:
    """JSON in a string is parsed."""
    assert stage.ok("execute_script", script="return arguments[1]", args='[1, "two"]')["value"] == "two"
    steps = json.dumps([{"action": "get_text"}])
    assert stage.ok("execute_sequence", actions=steps)["completed"] == 1


def test_null_arguments_count_as_not_given(stage: Stage) -> None:
    """Some clients send every argument, with null for those not given."""
    answer = stage.call("click_element", selector="#b", button=None, modifiers=None, timeout=None, sessionId=None)
    assert not answer.failed, answer.text


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("click_element", {"selector": "#b", "buton": "left"}, "Unknown argument 'buton'. Did you mean 'button'?"),
        ("set_value", {"selector": "#n"}, "Argument 'value' is missing."),
        ("get_text", {"selecter": "#b"}, "Did you mean 'selector'?"),
        ("navigate", {"uri": "about:blank"}, "Unknown argument 'uri'."),
        ("start_browser", {"sessionID": "x"}, "Did you mean 'sessionId'?"),
        ("close_all_sessions", {"force": True}, "Unknown argument 'force'."),
    ],
)
def test_an_unknown_or_missing_argument_is_refused_with_the_valid_ones(
    stage: Stage, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    """The error names the argument and the nearest valid one, and lists all valid names."""
    answer = stage.call(tool, **arguments)
    text = refused(answer, "invalid_argument")
    assert expected in text
    listed = next(one for one in stage.server.tools() if one.name == tool)
    assert f"Valid: {', '.join(listed.input_schema['properties'])}." in text


def test_an_unknown_tool_name_is_refused_with_the_nearest_one(stage: Stage) -> None:
    """An unknown tool is an error result that a model can read."""
    assert "Did you mean 'click_element'?" in refused(stage.call("click_elements"), "invalid_argument")


def test_a_result_names_its_session_only_when_the_call_did_not(stage: Stage) -> None:  # W51 W32
    """A call without sessionId is answered with the id of its session, in text and data."""
    chosen = stage.call("get_text")
    assert chosen.data["session"] == {"sessionId": "browser", "sessionType": "browser"}
    assert "Session: browser (browser)." in chosen.text
    assert "session" not in stage.ok("get_text", sessionId="browser")


def test_an_error_names_its_session(stage: Stage) -> None:
    """An error has its sessionId, for clients with several calls under way."""
    assert stage.call("click_element", selector="#none", timeout=50).data["error"]["sessionId"] == "browser"


def test_empty_result_fields_are_absent(stage: Stage) -> None:
    """Results have no empty lists and no nulls."""
    assert set(stage.ok("get_text", selector="h1", sessionId="browser")) == {"text"}


def test_no_result_is_longer_than_max_output() -> None:
    """`max_output` bounds text and data alike, of errors and outlines, too."""
    with opened(max_output="1500") as small:
        small.show("".join(f"<button>A button with a long name number {n}</button>" for n in range(300)))
        for tool, arguments in (
            ("get_visible_elements", {"scope": "page"}),
            ("get_visible_elements", {"scope": "page", "format": "json"}),
            ("get_text", {}),
            ("execute_script", {"script": "return Array(999).fill('word')"}),
            ("click_element", {"selector": "text=" + "x" * 3000, "timeout": 50}),
            ("execute_sequence", {"actions": [{"action": "get_visible_elements"}] * 20, "verbose": True}),
            ("list_sessions", {}),
        ):
            answer = small.call(tool, **arguments)
            assert len(answer.text) <= 1500, tool
            assert len(answer.data_json) <= 1500, tool
