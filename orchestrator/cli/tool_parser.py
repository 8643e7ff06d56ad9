"""The arguments of a command: an argument parser made of the JSON schema of its tool."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.cli.argument_parser import ArgumentParser, parse_json, parse_object
from orchestrator.cli.tool_commands import SESSION_ID, Command, Schema

SWITCHES = ("json", "namespace")
"""The options of every command that are no arguments of its tool."""

_NUMBERS: dict[str, Callable[[str], Any]] = {"integer": int, "number": float}
_WORDS_OF_BOOLEANS = {"accept": ("accept", "dismiss")}
"""Positional parameters that are true or false, by the words that say so."""
_HEADED = "headless"
_METAVARS = {
    "navigationUrl": "URL",
    "sessionIds": "SESSION",
    "values": "VALUE",
    "paths": "PATH",
    "names": "NAME",
    "args": "ARG",
    SESSION_ID: "SESSION",
}
"""Names of values in help, where they differ from the parameter's name."""


def parse_words(command: Command, words: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse the words after a command; returns the tool's arguments, and the values of `SWITCHES`.

    Raises:
        InvalidArgument: They are wrong; the message says which.
    """
    given = vars(make_parser(command).parse_intermixed_args(list(words)))
    switches = {name: given.pop(f"_{name}") for name in SWITCHES if f"_{name}" in given}
    arguments = {name: _convert(command, name, value) for name, value in given.items() if value not in ([], None)}
    return {**command.preset, **arguments}, switches


def make_parser(command: Command) -> ArgumentParser:
    """Return the parser of a command's words."""
    parser = ArgumentParser(prog=f"orchestrator {command.word}", description=command.description)
    for name in command.positional:
        _add_positional(parser, name, command.properties[name], required=name in command.required)
    for name in command.options:
        _add_option(parser, name, command.properties[name], required=name in command.required)
    add_common_options(parser, with_session=SESSION_ID in command.properties)
    return parser


def add_common_options(parser: ArgumentParser, *, with_session: bool) -> None:
    """Add the options that every command has."""
    if with_session:
        text = "The session; default: ORCHESTRATOR_SESSION, else the current one."
        parser.add_argument("-s", "--session", dest=SESSION_ID, metavar="NAME", help=text)
    parser.add_argument("--json", dest="_json", action="store_true", default=False, help="Print the data, as JSON.")
    text = "The namespace; default: derived from the project folder."
    parser.add_argument("--namespace", dest="_namespace", metavar="NAME", help=text)


def option_of(name: str) -> str:
    """Return a parameter's name as an option."""
    return "--" + re.sub(r"(?<=[a-z0-9])([A-Z])", lambda letter: f"-{letter[1].lower()}", name)


def _add_positional(parser: ArgumentParser, name: str, schema: Schema, *, required: bool) -> None:
    shared: dict[str, Any] = {"help": _help(schema)}
    if name in _WORDS_OF_BOOLEANS:
        shared["choices"] = _WORDS_OF_BOOLEANS[name]
    else:
        shared |= _values(schema)
        shared.setdefault("metavar", _metavar(name))
    required = required and name != SESSION_ID
    if schema.get("type") == "array":
        shared["nargs"] = "+" if required else "*"
    elif not required:
        shared["nargs"] = "?"
        if shared.get("choices"):
            shared["default"] = None  # argparse would look for its own word for "none" among the choices
    parser.add_argument(name, **shared)


def _add_option(parser: ArgumentParser, name: str, schema: Schema, *, required: bool) -> None:
    option, text = option_of(name), _help(schema)
    if schema.get("type") == "boolean":
        parser.add_argument(option, dest=name, action=argparse.BooleanOptionalAction, help=text)
        if name == _HEADED:
            parser.add_argument("--headed", dest=name, action="store_false", help="Show the window.")
        return
    several = {"action": "append"} if schema.get("type") in {"array", "object"} else {}
    values = _values(schema)
    values.setdefault("metavar", _metavar(name))
    parser.add_argument(option, dest=name, required=required, help=text, **several, **values)


def _values(schema: Schema) -> dict[str, Any]:
    """Return the parser's words for the values of a schema: their type, or the choices."""
    item = schema.get("items", schema) if schema.get("type") == "array" else schema
    if "enum" in item:
        return {"choices": [*map(str, item["enum"])], "metavar": None}
    convert = _NUMBERS.get(str(item.get("type")))
    return {"type": convert} if convert else {}


def _metavar(name: str) -> str:
    return _METAVARS.get(name) or option_of(name).removeprefix("--").upper().replace("-", "_")


def _help(schema: Schema) -> str:
    text = str(schema.get("description", ""))
    if schema.get("type") == "object":
        text = f"{text} JSON, or name=value, repeatable.".strip()
    elif schema.get("type") == "array":
        text = f"{text} Repeatable.".strip()
    if schema.get("default") not in {None, False, ""}:
        text = f"{text} [default: {schema['default']}]".strip()
    return text.replace("%", "%%")


def _convert(command: Command, name: str, value: Any) -> Any:
    """Convert what the parser read to the tool's argument."""
    schema = command.properties.get(name, {})
    if name in _WORDS_OF_BOOLEANS and name in command.positional:
        return value == _WORDS_OF_BOOLEANS[name][0]
    if schema.get("type") == "object":
        return parse_object(f"orchestrator {command.word}", option_of(name), value)
    if schema.get("type") == "array" and isinstance(value, list):
        return _as_array(schema, value)
    return value


def _as_array(schema: Schema, words: list[Any]) -> Any:
    """Read an array: one JSON array, or its items; items of several types, and objects, are JSON where they can be."""
    if len(words) == 1 and isinstance(words[0], str) and words[0].startswith("["):
        return parse_json(words[0])
    is_text = schema.get("items", {}).get("type") in {"string", *_NUMBERS}
    return words if is_text else [parse_json(word) for word in words]
