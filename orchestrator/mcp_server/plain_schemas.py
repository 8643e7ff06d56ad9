"""Plain schemas for hosts that refuse free objects: what is free is sent as JSON text.

Google's API for Gemini refuses `additionalProperties` and objects without properties; APIs with strict schemas accept
no object whose properties are not all declared. Hosts that pass schemas on as they are fail with all tools at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.errors import InvalidArgument

Schema = dict[str, Any]

PLAIN_CLIENTS = ("gemini", "antigravity", "zed", "5ire", "promptfoo")
"""Beginnings of the names of clients that need plain schemas."""
MORE = "more"
"""The property of a step for the parameters that its schema does not declare."""
_MORE = "Its other parameters, as a JSON object."


def needs_plain_schemas(client: str) -> bool:
    """Return True for a client, by the name that it introduced itself with, that refuses free objects."""
    return client.lower().startswith(PLAIN_CLIENTS)


def plain_schema(schema: Schema) -> Schema:
    """Return the schema without free objects and without `additionalProperties`."""
    if _is_free(schema) or _is_free(schema.get("items", {})):
        kind = "array" if schema.get("type") == "array" else "object" if schema.get("type") == "object" else "value"
        told = " ".join(filter(None, (schema.get("description"), f"A JSON {kind}, as text.")))
        return {"type": "string", "description": told}
    plain = {key: value for key, value in schema.items() if key != "additionalProperties"}
    if "items" in plain:
        plain["items"] = plain_schema(plain["items"])
    if "properties" in plain:
        plain["properties"] = {name: plain_schema(value) for name, value in plain["properties"].items()}
        if "additionalProperties" in schema:
            plain["properties"][MORE] = {"type": "string", "description": _MORE}
    return plain


def _is_free(schema: Schema) -> bool:
    """Return True for an object without declared properties, or a choice that has one."""
    if any(_is_free(choice) for choice in schema.get("anyOf", ())):
        return True
    return schema.get("type") == "object" and not schema.get("properties")


def unpack_steps(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments whose steps have the parameters of their `more` as their own.

    Raises:
        InvalidArgument: `more` is not a JSON object.
    """
    unpacked = dict(arguments)
    for name in ("actions", "sequences"):
        items = _read_json(unpacked.get(name))
        if isinstance(items, list):
            unpacked[name] = [_unpacked(_read_json(item)) for item in items]
    return unpacked


def _unpacked(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    if "action" not in item:
        return unpack_steps(item)
    if MORE not in item:
        return item
    more = _read_json(item[MORE] or "{}")
    if not isinstance(more, dict):
        raise InvalidArgument(f"{MORE!r} of a step must be a JSON object.", hint='For example {"do": "list"}.')
    return {**more, **{name: value for name, value in item.items() if name != MORE}}


def _read_json(value: Any) -> Any:
    """Return the value of JSON text; anything else as it is: the tool's model reports it."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
