"""The list of tools: small, plain, and the same for every host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import mcp.types as protocol
import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.errors import InvalidArgument
from orchestrator.mcp_server.server import INSTRUCTIONS
from orchestrator.mcp_server.tool_list import list_tools, read_entries
from orchestrator.mcp_server.tools import TOOLS, Tool
from orchestrator.session_tools.catalogue import SESSION_TOOLS
from orchestrator.settings import Settings

INPUT_BUDGETS = {"default": 16 * 1024, "all": 32 * 1024, "core": 11 * 1024}
OUTPUT_BUDGET = 17 * 1024
READERS = re.compile(
    r"get_.*|list_.*|wait_for|expect|compare_sessions|take_screenshot|print_page|audit_page|describe_actions"
)


def compact(value: Any) -> str:
    """Return JSON as sent over the wire."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema inside a schema."""
    yield path, schema
    inner = {
        **{f"{path}.{name}": one for name, one in schema.get("properties", {}).items()},
        **{f"{path}|{place}": one for place, one in enumerate(schema.get("anyOf", []))},
        **{f"{path}[]": one for one in [schema.get("items")] if one is not None},
        **{f"{path}{{}}": one for one in [schema.get("additionalProperties")] if isinstance(one, dict)},
    }
    for name, one in inner.items():
        yield from nodes(one, name)


def listing(tools: str, **settings: Any) -> list[protocol.Tool]:
    """Return the tools that a server with these settings lists."""
    return list_tools(Settings(tools=tools, **settings), read_entries())


def schemas(tool: Tool) -> list[dict[str, Any]]:
    """Return a tool's schemas."""
    return [one for one in (tool.mcp_tool.input_schema, tool.mcp_tool.output_schema) if one is not None]


def test_the_tool_list_is_complete_and_in_order() -> None:
    """Session tools first, then the actions, exactly those implemented."""
    assert list(TOOLS) == [*(tool.verb for tool in SESSION_TOOLS), *CATALOGUE]


DEFAULT = """
start_browser start_app_session start_session list_sessions set_current_session close_session close_all_sessions
execute_sequence execute_parallel compare_sessions describe_actions navigate get_visible_elements get_text
take_screenshot click_element hover scroll set_value press_keys upload_files wait_for expect execute_script
handle_dialog tabs
"""


@pytest.mark.parametrize("tools", INPUT_BUDGETS)
def test_names_descriptions_and_input_schemas_fit_their_size_budget(tools: str) -> None:
    """They count together, since every connecting model pays for them."""
    shown = [
        {"name": one.name, "description": one.description, "inputSchema": one.input_schema} for one in listing(tools)
    ]
    assert len(compact(shown).encode()) <= INPUT_BUDGETS[tools]


def test_the_default_list_has_26_tools_and_the_core_14_of_them() -> None:
    """What is listed unless the setting `tools` says otherwise; all others can be called without being listed."""
    default = [one.name for one in list_tools(Settings(), read_entries())]
    core = [one.name for one in listing("core")]
    assert default == DEFAULT.split()
    assert len(default) == 26
    assert set(core) < set(default)
    assert "expect" in core
    assert len(core) == 14


def test_sets_and_single_tools_are_listed_together() -> None:
    """A set and the names of single tools, with spaces or without, in the order of the whole list."""
    assert [one.name for one in listing("script, cookies ,har")] == ["execute_script", "run_script", "cookies", "har"]


def test_denied_tools_are_not_listed() -> None:
    """A denied set and a denied tool are missing from the list, whichever setting lists them."""
    names = {one.name for one in listing("all", deny_tools="script,tabs")}
    assert {one.name for one in listing("all")} - names == {"execute_script", "run_script", "tabs"}


@pytest.mark.parametrize(("setting", "value"), [("tools", "core,mobil"), ("deny_tools", "scripts")])
def test_an_unknown_set_or_tool_is_refused_with_the_nearest(setting: str, value: str) -> None:
    """A misspelled name must not deny nothing, and list nothing."""
    with pytest.raises(InvalidArgument, match=rf"Setting '{setting}': there is no set or tool .* Did you mean "):
        list_tools(Settings.load({setting: value}), read_entries())


def test_output_schemas_can_be_left_out() -> None:
    """With `output_schemas` off no tool has one."""
    assert not any(one.output_schema for one in listing("all", output_schemas=False))
    assert any(one.output_schema for one in listing("all"))


@pytest.mark.parametrize(("form", "client"), [("plain", ""), ("auto", "gemini-cli-mcp-client"), ("auto", "Zed")])
def test_plain_schemas_have_no_free_objects(form: str, client: str) -> None:
    """Every object has properties, nothing has additionalProperties, every tool has a parameter."""
    for tool in list_tools(Settings.load({"tools": "all", "schemas": form}), read_entries(), client=client):
        assert tool.output_schema is None
        assert tool.input_schema["properties"], tool.name
        for path, node in nodes(tool.input_schema):
            assert "additionalProperties" not in node, (tool.name, path)
            assert node.get("type") != "object" or node["properties"], (tool.name, path)


def test_schemas_are_full_for_other_clients_and_where_the_setting_says_so() -> None:
    """Only clients that are known to need plain schemas get them, and only with `auto`."""
    for form, client in (("auto", "claude-code"), ("auto", ""), ("full", "gemini-cli-mcp-client")):
        tools = list_tools(Settings.load({"tools": "all", "schemas": form}), read_entries(), client=client)
        assert all(one.output_schema for one in tools if one.name != "take_screenshot")


@pytest.mark.parametrize("sets", ["all", "core", "browser"])
def test_each_listed_tool_describes_all_its_parameters(sets: str) -> None:  # W35
    """A parameter has its words and values in each tool, whatever else is listed; its default stands in the docs."""
    for tool in listing(sets):
        declared = TOOLS[tool.name].mcp_tool.input_schema["properties"]
        assert tool.input_schema["properties"] == {
            name: {key: value for key, value in one.items() if key != "default"} for name, one in declared.items()
        }


@pytest.mark.parametrize("tools", ["default", "core", "all"])
def test_each_tool_says_how_its_selector_is_written(tools: str) -> None:
    """The grammar stands in one line of at most 120 characters, in each tool that takes a selector."""
    told = [one.input_schema["properties"].get("selector", {}).get("description") for one in listing(tools)]
    grammars = {text for text in told if text is not None}
    assert len(grammars) == 1
    [grammar] = grammars
    assert len(grammar) <= 120
    assert all(form in grammar for form in ("e12", "CSS", "//xpath", "~id", "text=", "label=", "testid=", "role="))


def test_get_visible_elements_is_found_by_the_words_of_other_drivers() -> None:
    """Hosts that search for tools find it as a snapshot, the accessibility tree or the screen."""
    [tool] = [one for one in listing("core") if one.name == "get_visible_elements"]
    assert all(word in (tool.description or "") for word in ("snapshot", "accessibility tree", "screen"))


def test_every_tool_is_in_a_set() -> None:
    """All tool sets together list the same tools as the set all."""
    assert listing("core,browser,sessions,agents,mobile,network,script") == listing("all")


def test_output_schemas_fit_their_size_budget() -> None:
    """Output schemas are read by programs, but paid for by models as well."""
    shown = [tool.mcp_tool.output_schema for tool in TOOLS.values() if tool.mcp_tool.output_schema]
    assert sum(len(compact(one).encode()) for one in shown) <= OUTPUT_BUDGET


def test_clients_that_load_tools_on_demand_are_told_the_four_to_load_at_once() -> None:
    """Start, open, look, act: with these four a model can begin, and sequences reach every further action."""
    loaded = [one.name for one in listing("all") if (one.meta or {}).get("anthropic/alwaysLoad")]
    assert loaded == ["start_browser", "execute_sequence", "navigate", "get_visible_elements"]


def test_clients_that_put_long_results_into_files_are_asked_for_them_whole() -> None:
    """Results that are read whole carry the highest limit that a client knows: `max_output` cuts before it."""
    room = {one.name: (one.meta or {}).get("anthropic/maxResultSizeChars") for one in listing("all")}
    looking = {"get_visible_elements", "get_text", "get_page_source", "audit_page"}
    reading = looking | {"get_console", "get_network", "execute_script"}
    assert {name for name, size in room.items() if size} == reading | {"execute_sequence", "execute_parallel"}
    assert set(room.values()) == {None, 500_000}


def test_server_instructions_are_short_enough_for_hosts() -> None:
    """Instructions have at most 2,000 characters, since hosts cut them at 2,048."""
    assert len(INSTRUCTIONS) <= 2000


def test_tool_schemas_avoid_titles_references_and_nulls(subtests: pytest.Subtests) -> None:
    """Schemas have no titles, references, nulls or lists of types; arrays and objects are typed."""
    for name, tool in TOOLS.items():
        with subtests.test(name):
            for schema in schemas(tool):
                check_plain(schema)


def check_plain(schema: dict[str, Any]) -> None:
    """Assert that a schema, and every schema inside it, uses only what each host understands."""
    for path, node in nodes(schema):
        assert not {"title", "$ref", "$defs", "allOf", "oneOf", "const", "format", "discriminator"} & set(node), path
        assert node.get("default", "") is not None, path
        assert isinstance(node.get("type", ""), str), path
        assert node.get("type") != "null", path
        if node.get("type") == "array":
            items = node["items"]
            assert "type" in items or all("type" in one for one in items["anyOf"]), path
        if node.get("type") == "object":
            assert "properties" in node or "additionalProperties" in node, path


def test_every_tool_argument_is_typed_and_session_id_comes_last(subtests: pytest.Subtests) -> None:
    """Every argument has a type, and the session comes last; the errors, not the schemas, refuse unknown ones."""
    for name, tool in TOOLS.items():
        schema = tool.mcp_tool.input_schema
        with subtests.test(name):
            assert schema["type"] == "object"
            assert all("type" in one or "anyOf" in one for one in schema["properties"].values())
            assert set(schema.get("required", [])) <= set(schema["properties"])
            if name in CATALOGUE:
                assert list(schema["properties"])[-1] == "sessionId"
                said = schema["properties"]["sessionId"]["description"]
                assert said == "Target session. If omitted, the current session."


def test_output_schemas_accept_error_results(subtests: pytest.Subtests) -> None:
    """Some clients check an error's content against the schema: nothing may be required or forbidden."""
    found = {name: tool.mcp_tool.output_schema for name, tool in TOOLS.items()}
    assert [name for name, schema in found.items() if schema is None] == ["take_screenshot"]
    for name, schema in found.items():
        with subtests.test(name):
            assert schema is None or schema["type"] == "object"
            for path, node in nodes(schema or {}):
                assert "required" not in node, path
                assert node.get("additionalProperties") is not False, path


def test_every_tool_has_a_title_a_short_description_and_annotations(subtests: pytest.Subtests) -> None:
    """A title, at most two sentences, and honest annotations."""
    for name, tool in TOOLS.items():
        with subtests.test(name):
            check_listing(tool)


def check_listing(tool: Tool) -> None:
    """Assert what clients show of a tool."""
    listed = tool.mcp_tool
    assert listed.title
    assert listed.description
    assert len(re.findall(r"[.!?](?= |$)", listed.description)) in {1, 2}
    hints = listed.annotations
    assert hints is not None
    assert hints.read_only_hint is bool(READERS.fullmatch(tool.name))
    assert None not in {hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint}
    assert not (hints.read_only_hint and hints.destructive_hint)


def test_the_description_of_set_value_has_the_words_people_search_by() -> None:
    """A model that searches for typing finds set_value."""
    told = TOOLS["set_value"].mcp_tool.description or ""
    assert all(word in told.lower() for word in ("fill", "type", "input"))


def test_the_schema_of_a_step_names_common_parameters_and_allows_others() -> None:
    """A step has the action, the common parameters, and any other parameter of the tool with that name."""
    step = TOOLS["execute_sequence"].mcp_tool.input_schema["properties"]["actions"]["items"]
    parts = TOOLS["execute_parallel"].mcp_tool.input_schema["properties"]["sequences"]["items"]
    briefly = parts["properties"]["actions"]["items"]
    assert briefly["additionalProperties"] is True
    assert briefly["description"] == "A step as in execute_sequence."
    assert step["required"] == ["action"]
    assert step["additionalProperties"] is True
    assert {"action", "selector", "value", "timeout", "optional"} <= set(step["properties"])


def test_output_properties_that_may_be_null_have_no_type() -> None:
    """`stateChange` and `currentSession` are present even when they are null."""
    sequence, listing = TOOLS["execute_sequence"].mcp_tool, TOOLS["list_sessions"].mcp_tool
    assert sequence.output_schema is not None
    assert listing.output_schema is not None
    assert "type" not in sequence.output_schema["properties"]["stateChange"]
    assert "type" not in listing.output_schema["properties"]["currentSession"]
