"""Calls as plain schemas ask for them (`--schemas plain`): what is free is JSON text, also inside of steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.doors.hosts import mismatches
from tests.e2e.stage import Stage, opened, refused
from tests.servers.mcp import Answer

pytestmark = pytest.mark.full

BUTTON = "<button onclick='this.textContent += 1'>Go</button>"


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A server for strict hosts, with a browser."""
    with opened("auto", "ann", schemas="plain") as stage:
        yield stage


def call(stage: Stage, tool: str, **arguments: Any) -> Answer:
    """Call a tool with arguments that fit its schema."""
    [schema] = [one.input_schema for one in stage.server.tools() if one.name == tool]
    problems = list(mismatches(arguments, schema, tool))
    assert not problems, problems
    return stage.call(tool, **arguments)


def text(value: Any) -> str:
    """Return a value as JSON text."""
    return json.dumps(value)


def test_a_step_has_its_undeclared_parameters_in_one_json_text(stage: Stage) -> None:
    """Parameters in `more`, free ones among them as values or as text again, reach the action."""
    url = stage.page(BUTTON)
    script = "args[0].click(); return args[1].n"
    args = [{"selector": "button"}, {"n": 7}]
    steps = [
        {"action": "navigate", "more": text({"url": url})},
        {"action": "click_element", "selector": "button", "more": text({"count": 2})},
        {"action": "execute_script", "more": text({"script": script, "args": args})},
        {"action": "execute_script", "more": text({"script": script, "args": text(args)})},
        {"action": "scroll", "selector": "button", "more": ""},
    ]
    answer = call(stage, "execute_sequence", actions=steps, verbose=True)
    assert not answer.failed, answer.text
    assert [step["result"].get("value") for step in answer.data["steps"]] == [None, None, 7, 7, None]
    assert stage.ok("get_text", selector="button")["text"] == "Go1111"


def test_free_objects_of_steps_are_json_text(stage: Stage) -> None:
    """A step of a tool with a free object, such as the headers of a route, takes it as JSON text."""
    url = stage.page("<p>old")
    headers = {"Content-Type": "text/html", "Content-Language": "de"}
    route = {"url": url, "body": "<title>new</title>", "headers": text(headers)}
    fetch = "return (await fetch(location.href)).headers.get('Content-Language')"
    steps = [
        {"action": "route", "do": "fulfil", "more": text(route)},
        {"action": "navigate", "more": text({"url": url})},
        {"action": "execute_script", "more": text({"script": fetch})},
    ]
    answer = call(stage, "execute_sequence", actions=steps, verbose=True)
    assert not answer.failed, answer.text
    assert answer.data["steps"][2]["result"]["value"] == "de"
    stage.ok("route", action="clear")


def test_whole_lists_and_starts_of_a_parallel_call_are_json_text(stage: Stage) -> None:
    """Steps in the text of `actions` have `more`, too, since the model knows them by it from execute_sequence."""
    url = stage.page(BUTTON)
    start = {"sessionId": "ben", "navigationUrl": url, "options": text({"idleTimeout": "30m"})}
    steps = [
        {"action": "click_element", "selector": "button", "more": text({"count": 3})},
        {"action": "expect", "selector": "button", "more": text({"text": "Go111"})},
    ]
    sequences = [
        {"sessionId": "ann", "actions": text([{"action": "navigate", "more": text({"url": url})}, *steps])},
        {"start": text(start), "close": True, "actions": text(steps)},
    ]
    answer = call(stage, "execute_parallel", sequences=sequences)
    assert not answer.failed, answer.text
    assert {name: result["completed"] for name, result in answer.data["results"].items()} == {"ann": 3, "ben": 2}


@pytest.mark.parametrize("more", ["[1]", "{", '"x"'])
def test_more_that_is_no_json_object_is_refused_before_the_first_step(stage: Stage, more: str) -> None:
    """The error says what `more` is, in a list as in its text."""
    stage.show(BUTTON)
    steps = [{"action": "click_element", "selector": "button"}, {"action": "scroll", "more": more}]
    for actions in (steps, text(steps)):
        refusal = refused(stage.call("execute_sequence", actions=actions), "invalid_argument")
        assert refusal == 'invalid_argument: \'more\' of a step must be a JSON object. For example {"do": "list"}.'
    assert stage.ok("get_text", selector="button")["text"] == "Go"
