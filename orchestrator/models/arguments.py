"""Parses arguments into a model: lenient about spelling, exact about errors."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from orchestrator.errors import InvalidArgument, OrchestratorError

ModelT = TypeVar("ModelT", bound=BaseModel)

_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "list": "an array",
    "tuple": "an array",
    "dict": "an object",
    "model": "an object",
}
"""Expected types by the family of pydantic's error type, in words for a tool's caller."""

_SYNONYMS = {
    "selector": ("element", "locator", "css", "xpath", "query", "id"),
    "sessionId": ("name", "session", "sessionName", "alias", "id"),
    "as": ("name", "newSessionId", "newName", "newId", "to"),
    "sessionIds": ("names", "sessions", "ids"),
    "url": ("href", "link", "uri", "address", "location", "navigationUrl", "page", "target"),
    "navigationUrl": ("url", "href", "link", "uri", "address", "location", "page"),
    "value": ("content", "input", "data"),
    "values": ("value", "option", "options", "text", "label"),
    "keys": ("key", "press", "shortcut", "combination"),
    "script": ("code", "expression", "function", "js", "javascript"),
    "actions": ("steps", "commands", "sequence"),
    "sequences": ("actions", "steps", "sessions"),
    "paths": ("path", "file", "files", "filePath"),
    "path": ("file", "filename", "filePath"),
    "tab": ("index", "handle", "page", "window"),
    "timeout": ("timeoutMs", "ms", "seconds", "wait"),
    "count": ("clickCount", "double", "doubleClick", "clicks"),
    "text": ("contains", "containsText", "contents"),
    "containsText": ("contains", "substring"),
    "not": ("negate", "invert"),
    "browser": ("browserName", "type"),
    "device": ("deviceName", "emulate"),
    "direction": ("dir", "to"),
    "pixels": ("amount", "distance", "px"),
    "accept": ("ok", "confirm", "dismiss"),
    "of": ("by", "what", "compare"),
    "names": ("name", "actions", "tools"),
}
"""Parameters with the names that models guess for them, where letters alone would not lead there."""
_MOST = 5
"""Problems that one error reports at most."""
_LONGEST_NAME = 64


def parse_arguments(model: type[ModelT], arguments: Mapping[str, Any], *, also: Iterable[str] = ()) -> ModelT:
    """Validate a caller's arguments.

    Names may be camelCase or snake_case. Numbers and booleans may be sent as strings, arrays and objects as JSON
    strings; None means that the argument was omitted.

    Args:
        model: The model to make.
        arguments: The arguments as the caller wrote them.
        also: Further valid names, which the caller of this function reads; errors offer them like the model's own.

    Raises:
        InvalidArgument: Names each wrong argument and the reason. No value is repeated, since it may be a password.
    """
    try:
        return model.model_validate(_fields(model, arguments))
    except ValidationError as error:
        raise _refusal(model, error, also) from None


def names_of(model: type[BaseModel]) -> list[str]:
    """Return the wire names of a model's arguments: its own first, then the inherited ones."""
    depths = {name: depth for depth, base in reversed([*enumerate(model.__mro__)]) for name in _declared(base)}
    ordered = sorted(model.model_fields.items(), key=lambda item: depths[item[0]])
    return [_wire_name(name, field) for name, field in ordered]


def _declared(class_: type) -> Iterable[str]:
    return inspect.get_annotations(class_)


def _wire_name(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _fields(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments under their wire names, each converted to its type; unknown ones stay as they are."""
    known = {spelled: name for name, f in model.model_fields.items() for spelled in (name, _wire_name(name, f))}
    fields: dict[str, Any] = {}
    for spelled, value in arguments.items():
        field = model.model_fields[known[spelled]] if spelled in known else None
        if field is None:
            fields[spelled] = value
        elif value is not None:
            name = _wire_name(known[spelled], field)
            if name in fields:
                raise InvalidArgument(f"Argument {name!r} is given twice.", hint="Write it once, in camelCase.")
            fields[name] = _converted(field.annotation, value)
    return fields


def _converted(annotation: Any, value: Any) -> Any:
    """Convert a value to the annotation's type if there is only one way to read it; else return it unchanged."""
    kinds = _alternatives(annotation)
    if Any in kinds:
        return value
    texts = [kind for kind in kinds if _takes_text(kind)]
    if isinstance(value, str):
        return value if texts else _from_json(kinds, value)
    if texts == kinds and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _with_converted_items(kinds, value)


def _from_json(kinds: list[Any], text: str) -> Any:
    """Read an array or object that was sent as a JSON string."""
    if not any(_holds(kind, list | dict) for kind in kinds):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return _with_converted_items(kinds, value) if any(_holds(kind, type(value)) for kind in kinds) else text


def _with_converted_items(kinds: list[Any], value: Any) -> Any:
    """Convert the items of an array or object."""
    for kind in kinds:
        if not _holds(kind, type(value)):
            continue
        if _is_model(kind):
            return _fields(kind, value)
        inner = [argument for argument in get_args(kind) if argument is not ...]
        if inner and isinstance(value, list):
            return [_converted(inner[0], item) for item in value]
        if inner and isinstance(value, dict):
            return {key: _converted(inner[-1], item) for key, item in value.items()}
    return value


def _alternatives(annotation: Any) -> list[Any]:
    """List the types that an annotation allows, without None."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for member in get_args(annotation) for kind in _alternatives(member)]
    return [] if annotation in (None, type(None)) else [annotation]


def _takes_text(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return any(isinstance(literal, str) for literal in get_args(kind))
    return isinstance(kind, type) and (issubclass(kind, str | Enum) or kind is bytes)


def _holds(kind: Any, wanted: Any) -> bool:
    """Return True if an annotation is that of the wanted containers: `list` for arrays, `dict` for objects."""
    plain = get_origin(kind) or kind
    if not isinstance(plain, type):
        return False
    family = dict if issubclass(plain, dict | BaseModel | Mapping) else list
    is_container = issubclass(plain, dict | BaseModel | Mapping | list | tuple | set | frozenset)
    return is_container and issubclass(family, wanted)


def _refusal(model: type[BaseModel], error: ValidationError, also: Iterable[str]) -> OrchestratorError:
    problems = error.errors(include_input=False, include_url=False)
    for problem in problems:
        cause = problem.get("ctx", {}).get("error")
        if isinstance(cause, OrchestratorError):
            return cause
    message = " ".join(dict.fromkeys(_complaint(model, problem) for problem in problems[:_MOST]))
    names = _names_at(model, problems, also)
    unknown = [str(problem["loc"][-1]) for problem in problems if problem["type"] == "extra_forbidden"]
    return InvalidArgument(message, hint=_offer(unknown, names) if names is not None else "")


def _complaint(model: type[BaseModel], problem: Any) -> str:
    """Describe one problem in one sentence."""
    where, kind = _path(problem["loc"]), str(problem["type"])
    if kind == "extra_forbidden":
        return f"Unknown argument {where!r}."
    if kind == "missing":
        return f"Argument {where!r} is missing."
    message = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
    if not where:
        starts_with_name = message.split()[0] in names_of(model)
        return f"{message}." if starts_with_name else f"{message[:1].upper()}{message[1:]}."
    family = kind.partition("_")[0]
    if kind.endswith(("_type", "_parsing", "_from_float")) and family in _WORDS:
        return f"Argument {where!r} must be {_WORDS[family]}."
    if message.startswith("Input should "):
        return f"Argument {where!r} must {message.removeprefix('Input should ')}."
    return f"Argument {where!r}: {message}."


def _path(places: Iterable[Any]) -> str:
    """Write a path of names and indexes as `actions[2].selector`."""
    path = ""
    for place in places:
        name = str(place)[:_LONGEST_NAME]
        path += f"[{place}]" if isinstance(place, int) else f".{name}" if path else name
    return path


def _names_at(model: type[BaseModel], problems: Iterable[Any], also: Iterable[str]) -> list[str] | None:
    """Return the names that are valid at the first unknown or missing one; None if no name is wrong."""
    for problem in problems:
        if problem["type"] in {"extra_forbidden", "missing"}:
            *outer, _ = problem["loc"]
            inner = _model_at(model, outer)
            return [*names_of(inner), *(() if outer else also)] if inner else None
    return None


def _model_at(model: type[BaseModel], places: Iterable[Any]) -> type[BaseModel] | None:
    annotation: Any = model
    for place in places:
        if isinstance(place, int):
            annotation = next(iter(get_args(annotation)), None)
        else:
            field = {_wire_name(name, field): field for name, field in annotation.model_fields.items()}.get(place)
            annotation = next(iter(_alternatives(field.annotation)), None) if field else None
        if not get_args(annotation) and not _is_model(annotation):
            return None
    return annotation if _is_model(annotation) else None


def _meant(name: str, names: Iterable[str]) -> list[str]:
    """Return the first of these names that is meant by another one, if any."""
    return [known for known in names if name in _SYNONYMS.get(known, ())][:1]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _offer(unknown: Iterable[str], names: list[str]) -> str:
    near = [match for name in unknown for match in (_meant(name, names) or get_close_matches(name, names, n=1))]
    guess = f"Did you mean {' and '.join(repr(name) for name in dict.fromkeys(near))}? " if near else ""
    return f"{guess}Valid: {', '.join(names)}." if names else "It takes no arguments."
