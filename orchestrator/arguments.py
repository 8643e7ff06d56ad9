"""Reads what a caller wrote into a model: forgiving about spelling and types, exact about what is wrong."""

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
"""What the families of pydantic's error types ask for, as the caller of a tool would say it."""

_MOST = 5
"""So many complaints are enough at a time."""
_LONGEST_NAME = 64


def read(model: type[ModelT], arguments: Mapping[str, Any], *, also: Iterable[str] = ()) -> ModelT:
    """Validate what a caller wrote.

    Names may be camelCase or snake_case. Numbers and booleans may be sent as strings, arrays and objects as JSON
    strings, and None stands for an argument that was left out.

    Args:
        model: What is wanted.
        arguments: What was written.
        also: Names that are valid in this place and read by somebody else; they are offered like the model's own.

    Raises:
        InvalidArgument: It names each argument that is wrong and says why. No value is ever repeated: one of them may
            be a password.
    """
    try:
        return model.model_validate(_fields(model, arguments))
    except ValidationError as error:
        raise _refusal(model, error, also) from None


def names_of(model: type[BaseModel]) -> list[str]:
    """The names of a model's arguments as a caller writes them: its own first, then those it has in common."""
    homes = {name: place for place, home in reversed([*enumerate(model.__mro__)]) for name in _declared(home)}
    ordered = sorted(model.model_fields.items(), key=lambda item: homes[item[0]])
    return [_wire_name(name, field) for name, field in ordered]


def _declared(home: type) -> Iterable[str]:
    return inspect.get_annotations(home)


def _wire_name(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _fields(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under their wire names, each brought nearer to its type; unknown ones stay as they are."""
    known = {spelled: name for name, f in model.model_fields.items() for spelled in (name, _wire_name(name, f))}
    found: dict[str, Any] = {}
    for spelled, value in arguments.items():
        field = model.model_fields[known[spelled]] if spelled in known else None
        if field is None:
            found[spelled] = value
        elif value is not None:
            name = _wire_name(known[spelled], field)
            if name in found:
                raise InvalidArgument(f"Argument {name!r} is given twice.", hint="Write it once, in camelCase.")
            found[name] = _nearer(field.annotation, value)
    return found


def _nearer(annotation: Any, value: Any) -> Any:
    """The value as the annotation wants it, where there is no doubt; else as it was."""
    kinds = _alternatives(annotation)
    if Any in kinds:
        return value
    texts = [kind for kind in kinds if _takes_text(kind)]
    if isinstance(value, str):
        return value if texts else _unpacked(kinds, value)
    if texts == kinds and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _inside(kinds, value)


def _unpacked(kinds: list[Any], text: str) -> Any:
    """An array or object that was sent as a JSON string."""
    if not any(_holds(kind, list | dict) for kind in kinds):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return _inside(kinds, value) if any(_holds(kind, type(value)) for kind in kinds) else text


def _inside(kinds: list[Any], value: Any) -> Any:
    """An array or object with each of its parts brought nearer, too."""
    for kind in kinds:
        if not _holds(kind, type(value)):
            continue
        if _is_model(kind):
            return _fields(kind, value)
        inner = [one for one in get_args(kind) if one is not ...]
        if inner and isinstance(value, list):
            return [_nearer(inner[0], item) for item in value]
        if inner and isinstance(value, dict):
            return {key: _nearer(inner[-1], item) for key, item in value.items()}
    return value


def _alternatives(annotation: Any) -> list[Any]:
    """What may stand here, None apart."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for one in get_args(annotation) for kind in _alternatives(one)]
    return [] if annotation in (None, type(None)) else [annotation]


def _takes_text(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return any(isinstance(literal, str) for literal in get_args(kind))
    return isinstance(kind, type) and (issubclass(kind, str | Enum) or kind is bytes)


def _holds(kind: Any, wanted: Any) -> bool:
    """Whether an annotation is that of an array, or that of an object."""
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
    """One sentence about one argument."""
    where, kind = _path(problem["loc"]), str(problem["type"])
    if kind == "extra_forbidden":
        return f"Unknown argument {where!r}."
    if kind == "missing":
        return f"Argument {where!r} is missing."
    said = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
    if not where:
        return f"{said}." if said.split()[0] in names_of(model) else f"{said[:1].upper()}{said[1:]}."
    family = kind.partition("_")[0]
    if kind.endswith(("_type", "_parsing", "_from_float")) and family in _WORDS:
        return f"Argument {where!r} must be {_WORDS[family]}."
    if said.startswith("Input should "):
        return f"Argument {where!r} must {said.removeprefix('Input should ')}."
    return f"Argument {where!r}: {said}."


def _path(places: Iterable[Any]) -> str:
    """`actions[2].selector`, as one would write it."""
    path = ""
    for place in places:
        name = str(place)[:_LONGEST_NAME]
        path += f"[{place}]" if isinstance(place, int) else f".{name}" if path else name
    return path


def _names_at(model: type[BaseModel], problems: Iterable[Any], also: Iterable[str]) -> list[str] | None:
    """The names that are valid where the first unknown or missing one was met; None when names are all right."""
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
            found = {_wire_name(name, field): field for name, field in annotation.model_fields.items()}.get(place)
            annotation = next(iter(_alternatives(found.annotation)), None) if found else None
        if not get_args(annotation) and not _is_model(annotation):
            return None
    return annotation if _is_model(annotation) else None


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _offer(unknown: Iterable[str], names: list[str]) -> str:
    near = [found for name in unknown for found in get_close_matches(name, names, n=1)]
    asked = f"Did you mean {' and '.join(repr(name) for name in dict.fromkeys(near))}? " if near else ""
    return f"{asked}Valid: {', '.join(names)}." if names else "It takes no arguments."
