"""Descriptions of tools and actions with their parameters, by name or by words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, Field

from orchestrator.actions.base import Action, Catalogue, suggest_tools
from orchestrator.errors import InvalidArgument
from orchestrator.models.json_schema import Schema, input_schema
from orchestrator.models.results import Outcome
from orchestrator.models.session import Wire
from orchestrator.session_tools.parameter_meanings import meaning


class Declared(Protocol):
    """An action, or a tool for sessions: a model whose fields are the parameters."""

    verb: ClassVar[str]


Declarations = Mapping[str, type[Declared]]

_SENTENCES = 2
_MOST = 10
"""Descriptions that a search answers at most."""
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


class ActionDescription(Wire):
    """A tool or action; `parameters` is missing where all are listed."""

    name: str
    kind: Literal["action", "tool"]
    description: str
    sessions: list[str] = Field(default_factory=list)
    parameters: Schema | None = None

    def lines(self) -> list[str]:
        """Return the name with what it does, then a line for each parameter."""
        where = f" In {', '.join(self.sessions)} sessions." if self.sessions and self.parameters is not None else ""
        lines = [f"{self.name}: {self.description}{where}"]
        if self.parameters is None:
            return lines
        required = self.parameters.get("required", ())
        for name, schema in self.parameters["properties"].items():
            lines.append(f"  {name} ({_type(schema)}{', required' if name in required else ''}){_told(schema)}")
        return lines


class ActionDescriptions(Outcome):
    """The tools and actions that were asked for."""

    actions: list[ActionDescription]

    def lines(self) -> list[str]:
        """Return the descriptions, one after the other."""
        return [line for action in self.actions for line in action.lines()] or ["No action has these words."]


def sentences(declared: type[Any]) -> str:
    """Return the first two sentences of a docstring: the description of a tool."""
    text = " ".join((inspect.getdoc(declared) or "").split())
    return " ".join(re.split(r"(?<=[.!?]) (?=[A-Z])", text)[:_SENTENCES])


def describe(
    declared: Declarations, actions: Catalogue, names: Sequence[str] = (), query: str | None = None
) -> ActionDescriptions:
    """Describe the tools of these names, else those that have the words of a query, else all without parameters.

    Args:
        declared: All tools and actions by name.
        actions: The catalogue, which says what is denied.
        names: Names of tools and actions.
        query: Words of their names, descriptions and parameters.

    Raises:
        Denied: A name is that of a tool that is refused.
        InvalidArgument: There is no tool of a name.
    """
    for name in names:
        actions.check_allowed(name)
        if name not in declared:
            raise InvalidArgument(f"There is no tool or action {name[:64]!r}.", hint=suggest_tools(name, declared))
    if names:
        return ActionDescriptions(actions=[_description(declared[name]) for name in dict.fromkeys(names)])
    allowed = [_description(one) for name, one in declared.items() if not actions.is_denied(name)]
    if query:
        return _search(allowed, query)
    shown = [one.model_copy(update={"parameters": None}) for one in allowed]
    return ActionDescriptions(actions=shown, next="Their parameters: describe_actions with names.")


def _search(descriptions: Sequence[ActionDescription], query: str) -> ActionDescriptions:
    """Return those that have most words of a query, the one with the words nearest to its name first."""
    words = [word for word in _NOT_A_NAME.split(query.lower()) if word]
    ranks = [_rank(description, words) for description in descriptions]
    most = max((count for count, _ in ranks), default=0)
    best = [(distance, one) for (count, distance), one in zip(ranks, descriptions, strict=True) if count == most > 0]
    best.sort(key=lambda pair: pair[0])
    rest = f"{len(best) - _MOST} more have these words: add words, or use names." if len(best) > _MOST else None
    return ActionDescriptions(actions=[one for _, one in best[:_MOST]], next=rest)


def _rank(description: ActionDescription, words: Sequence[str]) -> tuple[int, int]:
    """Return the number of words that were found, and how far from the name most of them stand."""
    places = [description.name, description.description.lower(), str(description.parameters).lower()]
    nearest = [next((place for place, text in enumerate(places) if word in text), None) for word in words]
    return len(words) - nearest.count(None), sum(place for place in nearest if place is not None)


def _description(declared: type[Any]) -> ActionDescription:
    is_action = issubclass(declared, Action)
    return ActionDescription(
        name=declared.verb,
        kind="action" if is_action else "tool",
        description=sentences(declared),
        sessions=sorted(declared.types) if is_action else [],
        parameters=_parameters(declared.verb, declared),
    )


def _parameters(verb: str, declared: type[BaseModel]) -> Schema:
    """Return the schema of the parameters, each with its meaning."""
    schema = input_schema(declared, {})
    for name, parameter in schema["properties"].items():
        told = _LINK.sub(r"\1", meaning(verb, name, parameter.get("description")))
        if told:
            parameter["description"] = told
    return schema


def _type(schema: Schema) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    if "properties" in schema:
        return "{" + ", ".join(schema["properties"]) + "}"
    return str(schema.get("type", "any"))


def _told(schema: Schema) -> str:
    default = f" Default: {str(schema['default']).lower()}." if "default" in schema else ""
    words = f"{schema.get('description', '')}{default}".strip()
    return f": {words}" if words else ""
