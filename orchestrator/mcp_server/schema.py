"""Makes lean JSON schemas of pydantic models: small, and plain enough for every host that reads them.

Hosts differ in what they refuse: `$ref`, `anyOf` with null, lists of types, arrays of anything. None of it is left.
Limits are not in the schemas either: some hosts refuse them, and the error of a wrong value says them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from orchestrator.actions.results import Outcome
from orchestrator.arguments import names_of

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
"""What stands for "any JSON value" where a type must be named."""
_COMMON = 4
"""So many actions have a parameter that is declared in a step."""
_STEP_BRIEFLY: Schema = {
    "type": "object",
    "additionalProperties": True,
    "description": "A step as in execute_sequence.",
}


def input_schema(model: type[BaseModel], more: Mapping[str, Schema], steps: Schema | None = None) -> Schema:
    """The schema of a tool's arguments.

    Args:
        model: Its fields are the arguments.
        more: Further arguments, which somebody else reads.
        steps: What the items of arrays named `actions` look like.
    """
    lean = _lean(*_generated(model, "validation"))
    properties = {name: lean["properties"][name] for name in names_of(model)} | dict(more)
    if steps is not None:
        _put_steps(properties, steps)
    required = [name for name in properties if name in lean.get("required", ())]
    # That others are refused is not said for each tool again: it costs what a further tool needs.
    schema: Schema = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})


def output_schema(model: type[Outcome], levels: int, nullable: Iterable[str] = ()) -> Schema:
    """The schema of a tool's structured content: what this tool says. What every result may say besides is let through.

    Objects are told so many `levels` deep: a model reads them as they come, and their docs say the rest.

    Nothing is required in it: some clients check the content of an error against it, too, and would show their users
    a broken rule instead of the error. `nullable` names properties that are there even when they are null.
    """
    lean = _without(_lean(*_generated(model, "serialization")), ("required", "default", "description"))
    own = [name for name in names_of(model) if name in lean["properties"] and name not in names_of(Outcome)]
    properties = {name: _shallow(lean["properties"][name], levels) for name in own}
    for name in nullable:
        properties[name].pop("type", None)
    return {"type": "object", "properties": properties}


def step_schema(actions: Iterable[type[BaseModel]]) -> Schema:
    """The one shape of a step: the parameters that many actions have are declared, the others are let through."""
    seen: dict[str, list[Schema]] = {}
    for action in actions:
        for name, schema in input_schema(action, {})["properties"].items():
            seen.setdefault(name, []).append(_briefly(schema))
    seen["do"] = seen.pop("action", [])
    common = {
        name: found[0] for name, found in seen.items() if len(found) >= _COMMON and all(s == found[0] for s in found)
    }
    properties = {"action": {"type": "string"}, **common, "optional": {"type": "boolean"}}
    return {"type": "object", "properties": properties, "required": ["action"], "additionalProperties": True}


def told_once(schemas: Iterable[Schema], always: str) -> Iterator[Schema]:
    """The schemas of tools that are listed together: what several may be given is told in full by the first of them.

    The others have its name and type: models read them one after the other, and the error of a wrong value names the
    valid ones. What a tool needs, and the description `always`, is told by each. What holds without an argument is for
    the docs.
    """
    told: list[tuple[str, Schema]] = []
    for schema in schemas:
        properties: Schema = {}
        for name, declared in schema["properties"].items():
            full = {key: value for key, value in declared.items() if key != "default"}
            each = full.get("description") == always or name in schema.get("required", ())
            properties[name] = _briefly(full) if (name, full) in told and not each else full
            told.append((name, full))
        yield {**schema, "properties": properties}


def _briefly(schema: Schema) -> Schema:
    """Its type alone."""
    return {key: value for key, value in schema.items() if key not in {"description", "default", "enum"}}


def _generated(model: type[BaseModel], mode: Any) -> tuple[Schema, Schema]:
    schema = model.model_json_schema(by_alias=True, mode=mode)
    return schema, schema.get("$defs", {})


def _lean(node: Schema, definitions: Schema) -> Schema:
    """A schema with references written out, and without what nobody needs."""
    node = _single(node, definitions)
    if "const" in node:
        node = {**node, "enum": [node["const"]]}
    lean: Schema = {key: value for key, value in node.items() if key in _KEPT}
    if lean.get("default", ...) in (None, False, [], {}):
        del lean["default"]
    if "anyOf" in lean:
        lean["anyOf"] = [_lean(one, definitions) for one in lean["anyOf"]]
    if lean.get("type") == "array":
        lean["items"] = _lean(lean.get("items", {}), definitions) or _ANYTHING
    if lean.get("type") == "object":
        lean |= _parts(node, definitions)
    return lean


def _single(node: Schema, definitions: Schema) -> Schema:
    """The node itself, where it is only a reference, or a choice between something and null."""
    beside = {key: value for key, value in node.items() if key not in {"$ref", "anyOf"}}
    if "$ref" in node:
        # A class's own words are for who reads the code; the parameter's, or its name, are for who calls.
        referred = definitions[node["$ref"].rpartition("/")[2]]
        named = {key: value for key, value in referred.items() if key != "description"}
        return _single({**named, **beside}, definitions)
    choices = [one for one in node.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) == 1:
        return _single({**choices[0], **beside}, definitions)
    return {**beside, "anyOf": choices} if choices else node


def _parts(node: Schema, definitions: Schema) -> Schema:
    """What an object consists of."""
    if "properties" in node:
        return {"properties": {name: _lean(one, definitions) for name, one in node["properties"].items()}}
    rest = node.get("additionalProperties", True)
    return {"additionalProperties": _lean(rest, definitions) or True if isinstance(rest, dict) else True}


def _shallow(node: Schema, levels: int) -> Schema:
    """The schema with objects only so many levels deep; what is in those below is let through."""
    if "items" in node:
        return {**node, "items": _shallow(node["items"], levels)}
    if "properties" not in node:
        return node
    if not levels:
        return {"type": "object", "additionalProperties": True}
    return {**node, "properties": {name: _shallow(one, levels - 1) for name, one in node["properties"].items()}}


def _without(node: Any, keys: Iterable[str]) -> Any:
    """The schema without these keywords, at any depth; properties of the same names stay."""
    if isinstance(node, list):
        return [_without(one, keys) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _without(value, keys) for key, value in node.items() if key not in keys and key != "properties"}
    if "properties" in node:
        kept["properties"] = {name: _without(one, keys) for name, one in node["properties"].items()}
    return kept


def _put_steps(properties: Schema, steps: Schema) -> None:
    for name, schema in properties.items():
        if name == "actions":
            schema["items"] = steps
        elif schema.get("type") == "array" and "properties" in schema["items"]:
            # Told in full once, by the tool for one session: what models read before their first call must be little.
            _put_steps(schema["items"]["properties"], _STEP_BRIEFLY)
