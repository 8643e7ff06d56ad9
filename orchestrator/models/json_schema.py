"""Derives JSON schemas from pydantic models, small and plain enough for every MCP host.

Some hosts refuse `$ref`, others `anyOf` with null, lists of types, or arrays of anything: the schemas have none of
these. They have no limits either, which some hosts refuse, too: the error of a wrong value names its limit.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from orchestrator.models.arguments import names_of
from orchestrator.models.results import Outcome

Schema = dict[str, Any]

_KEPT = ("type", "enum", "description", "default", "anyOf", "items", "required")
_ANYTHING: Schema = {
    "anyOf": [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object", "additionalProperties": True},
    ]
}
"""The schema of any JSON value, for places where a type must be named."""
_STEP_PARAMETERS = {
    "action": "string",
    "selector": "string",
    "value": "string",
    "timeout": "integer",
    "do": "string",
    "name": "string",
    "optional": "boolean",
}
"""Parameters that the schema of a step declares, with their types; it allows any other."""
_STEP_BRIEFLY: Schema = {
    "type": "object",
    "additionalProperties": True,
    "description": "A step as in execute_sequence.",
}


def input_schema(model: type[BaseModel], more: Mapping[str, Schema], steps: Schema | None = None) -> Schema:
    """Return the schema of a tool's arguments.

    Args:
        model: The model whose fields are the arguments.
        more: The schemas of further arguments, which the model does not read.
        steps: The schema of the items of arrays named `actions`.
    """
    lean = _lean(*_generated(model, "validation"))
    properties = {name: lean["properties"][name] for name in names_of(model)} | dict(more)
    if steps is not None:
        _put_steps(properties, steps)
    required = [name for name in properties if name in lean.get("required", ())]
    # No additionalProperties: false, which would cost as many characters in all tools as a further tool needs.
    schema: Schema = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})


def output_schema(
    model: type[Outcome], levels: int, nullable: Iterable[str] = (), described: Container[str] | None = None
) -> Schema:
    """Return the schema of a tool's structured content, without the fields that every result can have.

    No property is required: some clients check the content of an error against the schema, too, and would report a
    broken schema instead of the error.

    Args:
        model: The tool's result.
        levels: The depth to which nested objects are described; the docs describe the rest.
        nullable: Properties that are present even when they are null.
        described: The properties to describe; None for all.
    """
    lean = _without(_lean(*_generated(model, "serialization")), ("required", "default", "description"))
    own = [name for name in names_of(model) if name in lean["properties"] and name not in names_of(Outcome)]
    shown = [name for name in own if described is None or name in described]
    properties = {name: _shallow(lean["properties"][name], levels) for name in shown}
    for name in nullable:
        properties[name].pop("type", None)
    return {"type": "object", "properties": properties}


def step_schema(description: str) -> Schema:
    """Return the schema of a step: it declares the most frequent parameters, and allows any other."""
    properties = {name: {"type": type_} for name, type_ in _STEP_PARAMETERS.items()}
    step = {"type": "object", "properties": properties, "required": ["action"], "additionalProperties": True}
    return step | {"description": description}


def _generated(model: type[BaseModel], mode: Any) -> tuple[Schema, Schema]:
    schema = model.model_json_schema(by_alias=True, mode=mode)
    return schema, schema.get("$defs", {})


def _lean(node: Schema, definitions: Schema) -> Schema:
    """Return the schema with references resolved, reduced to the keywords that clients need."""
    node = _single(node, definitions)
    if "const" in node:
        node = {**node, "enum": [node["const"]]}
    lean: Schema = {key: value for key, value in node.items() if key in _KEPT}
    if lean.get("default", ...) in (None, False, [], {}):
        del lean["default"]
    if "anyOf" in lean:
        lean["anyOf"] = [_lean(choice, definitions) for choice in lean["anyOf"]]
    if lean.get("type") == "array":
        lean["items"] = _lean(lean.get("items", {}), definitions) or _ANYTHING
    if lean.get("type") == "object":
        lean |= _parts(node, definitions)
    return lean


def _single(node: Schema, definitions: Schema) -> Schema:
    """Resolve a reference, and a choice between a type and null."""
    beside = {key: value for key, value in node.items() if key not in {"$ref", "anyOf"}}
    if "$ref" in node:
        # The docstring of a class is for readers of the code; callers get the parameter's description.
        referred = definitions[node["$ref"].rpartition("/")[2]]
        named = {key: value for key, value in referred.items() if key != "description"}
        return _single({**named, **beside}, definitions)
    choices = [choice for choice in node.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return _single({**choices[0], **beside}, definitions)
    return {**beside, "anyOf": choices} if choices else node


def _parts(node: Schema, definitions: Schema) -> Schema:
    """Return the keywords for the content of an object."""
    if "properties" in node:
        return {"properties": {name: _lean(value, definitions) for name, value in node["properties"].items()}}
    rest = node.get("additionalProperties", True)
    return {"additionalProperties": _lean(rest, definitions) or True if isinstance(rest, dict) else True}


def _shallow(node: Schema, levels: int) -> Schema:
    """Return the schema with nested objects described to this depth; deeper ones allow anything."""
    if "items" in node:
        return {**node, "items": _shallow(node["items"], levels)}
    if "properties" not in node:
        return node
    if not levels:
        return {"type": "object", "additionalProperties": True}
    return {**node, "properties": {name: _shallow(value, levels - 1) for name, value in node["properties"].items()}}


def _without(node: Any, keys: Iterable[str]) -> Any:
    """Return the schema without these keywords, at any depth; properties of the same names stay."""
    if isinstance(node, list):
        return [_without(item, keys) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _without(value, keys) for key, value in node.items() if key not in keys and key != "properties"}
    if "properties" in node:
        kept["properties"] = {name: _without(value, keys) for name, value in node["properties"].items()}
    return kept


def _put_steps(properties: Schema, steps: Schema) -> None:
    for name, schema in properties.items():
        if name == "actions":
            schema["items"] = steps
        elif schema.get("type") == "array" and "properties" in schema["items"]:
            # execute_sequence describes steps in full, once: the list must be small.
            _put_steps(schema["items"]["properties"], _STEP_BRIEFLY)
