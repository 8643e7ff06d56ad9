"""What a model reads before its first call: small, plain, and the same for every host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.mcp_server.app import INSTRUCTIONS
from orchestrator.mcp_server.tools import TOOLS, Tool, listing

INPUT_BUDGET = 24 * 1024
CORE_BUDGET = 10 * 1024
OUTPUT_BUDGET = 16 * 1024
READERS = re.compile(r"get_.*|list_.*|wait_for|expect|compare_sessions|take_screenshot")

each_tool = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


def compact(value: Any) -> str:
    """JSON as it goes over the wire."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema."""
    yield path, schema
    inner = {
        **{f"{path}.{name}": one for name, one in schema.get("properties", {}).items()},
        **{f"{path}|{place}": one for place, one in enumerate(schema.get("anyOf", []))},
        **{f"{path}[]": one for one in [schema.get("items")] if one is not None},
        **{f"{path}{{}}": one for one in [schema.get("additionalProperties")] if isinstance(one, dict)},
    }
    for name, one in inner.items():
        yield from nodes(one, name)


def schemas(tool: Tool) -> list[dict[str, Any]]:
    """A tool's schemas."""
    return [one for one in (tool.listed.input_schema, tool.listed.output_schema) if one is not None]


def test_the_tools_are_these() -> None:
    """Session tools first, then the actions; a tool appears when its feature is built, never before."""
    assert list(TOOLS) == [
        "start_browser",
        "start_app_session",
        "start_session",
        "attach_session",
        "list_sessions",
        "list_devices",
        "upload_app",
        "list_apps",
        "set_current_session",
        "close_session",
        "close_sessions",
        "close_all_sessions",
        "execute_sequence",
        "execute_parallel",
        "compare_sessions",
        *CATALOGUE,
    ]


def test_input_side_is_within_its_budget() -> None:
    """Names, descriptions and input schemas together are paid for by every model that connects."""
    shown = [
        {"name": one.name, "description": one.description, "inputSchema": one.input_schema} for one in listing("all")
    ]
    assert len(compact(shown).encode()) <= INPUT_BUDGET


def test_the_core_is_within_its_budget() -> None:
    """A client with little room lists the core alone."""
    listed = listing("core")
    shown = [{"name": one.name, "description": one.description, "inputSchema": one.input_schema} for one in listed]
    assert len(compact(shown).encode()) <= CORE_BUDGET
    names = {one.name for one in listed}
    assert {"start_browser", "navigate", "get_visible_elements", "click_element", "set_value", "wait_for"} <= names


@pytest.mark.parametrize("sets", ["all", "core", "browser"])
def test_what_tools_have_in_common_is_told_once(sets: str) -> None:
    """The first of the listed tools says it in full; what a tool needs, and which session it means, each says.

    No default is told: who leaves an argument out need not know it.
    """
    listed = {one.name: one.input_schema for one in listing(sets)}
    first, *others = [one["properties"]["observe"] for one in listed.values() if "observe" in one["properties"]]
    assert first == {"type": "string", "enum": ["none", "change", "outline"]}
    assert others == [{"type": "string"}] * len(others)
    for name, schema in listed.items():
        full = TOOLS[name].listed.input_schema
        each = [*full.get("required", ()), *(["sessionId"] if name in CATALOGUE else [])]
        assert list(schema["properties"]) == list(full["properties"])
        assert all(schema["properties"][one] == full["properties"][one] for one in each)
        assert not any("default" in one for one in schema["properties"].values())


def test_every_tool_is_in_a_set() -> None:
    """All sets together list what is listed when nothing is said."""
    assert listing("core,browser,sessions,mobile,script") == listing("all")


def test_output_schemas_are_within_their_budget() -> None:
    """They are read by programs, and paid for by models all the same."""
    shown = [tool.listed.output_schema for tool in TOOLS.values() if tool.listed.output_schema]
    assert sum(len(compact(one).encode()) for one in shown) <= OUTPUT_BUDGET


def test_instructions_fit() -> None:
    """Hosts cut them at 2,048 characters."""
    assert len(INSTRUCTIONS) <= 2000


@each_tool
def test_schemas_are_plain(tool: Tool) -> None:
    """No titles, references, nulls, lists of types; arrays have typed items, objects properties."""
    for schema in schemas(tool):
        for path, node in nodes(schema):
            assert not {"title", "$ref", "$defs", "allOf", "oneOf", "const", "format", "discriminator"} & set(node), (
                path
            )
            assert node.get("default", "") is not None, path
            assert isinstance(node.get("type", ""), str), path
            assert node.get("type") != "null", path
            if node.get("type") == "array":
                items = node["items"]
                assert "type" in items or all("type" in one for one in items["anyOf"]), path
            if node.get("type") == "object":
                assert "properties" in node or "additionalProperties" in node, path


@each_tool
def test_inputs_are_typed(tool: Tool) -> None:
    """Every argument has a type, and the session comes last; that unknown ones are refused is said by their error."""
    schema = tool.listed.input_schema
    assert schema["type"] == "object"
    assert all("type" in one or "anyOf" in one for one in schema["properties"].values())
    assert set(schema.get("required", [])) <= set(schema["properties"])
    if tool.name in CATALOGUE:
        assert list(schema["properties"])[-1] == "sessionId"
        assert schema["properties"]["sessionId"]["description"] == ("Target session. If omitted, the current session.")


@each_tool
def test_outputs_let_errors_through(tool: Tool) -> None:
    """Some clients check an error's content against the schema: nothing may be required or forbidden."""
    schema = tool.listed.output_schema
    if tool.name == "take_screenshot":
        assert schema is None
        return
    assert schema is not None
    assert schema["type"] == "object"
    for path, node in nodes(schema):
        assert "required" not in node, path
        assert node.get("additionalProperties") is not False, path


@each_tool
def test_tools_are_described(tool: Tool) -> None:
    """A title, at most two sentences, and honest annotations."""
    listed = tool.listed
    assert listed.title
    assert listed.description
    assert len(re.findall(r"[.!?](?= |$)", listed.description)) in {1, 2}
    hints = listed.annotations
    assert hints is not None
    assert hints.read_only_hint is bool(READERS.fullmatch(tool.name))
    assert None not in {hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint}
    assert not (hints.read_only_hint and hints.destructive_hint)


def test_descriptions_hold_the_words_people_search_by() -> None:
    """A model that wants to type finds set_value."""
    told = TOOLS["set_value"].listed.description or ""
    assert all(word in told.lower() for word in ("fill", "type", "input"))


def test_a_step_is_one_shape() -> None:
    """The action, the common parameters, and everything else as of the tool of that name."""
    step = TOOLS["execute_sequence"].listed.input_schema["properties"]["actions"]["items"]
    parts = TOOLS["execute_parallel"].listed.input_schema["properties"]["sequences"]["items"]
    briefly = parts["properties"]["actions"]["items"]
    assert briefly["additionalProperties"] is True
    assert briefly["description"] == "A step as in execute_sequence."
    assert step["required"] == ["action"]
    assert step["additionalProperties"] is True
    assert {"action", "selector", "value", "timeout", "optional"} <= set(step["properties"])


def test_what_may_be_null_has_no_type() -> None:
    """`stateChange` and `currentSession` are there even when they are null."""
    sequence, listing = TOOLS["execute_sequence"].listed, TOOLS["list_sessions"].listed
    assert sequence.output_schema is not None
    assert listing.output_schema is not None
    assert "type" not in sequence.output_schema["properties"]["stateChange"]
    assert "type" not in listing.output_schema["properties"]["currentSession"]
