"""Every tool, made of its declaration: what clients are told about it, and how a call becomes one of the façade."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mcp.types as protocol
from pydantic import Field

from orchestrator.actions.base import AnyAction
from orchestrator.actions.catalogue import CATALOGUE, Catalogue
from orchestrator.actions.results import Outcome
from orchestrator.api import Orchestrator
from orchestrator.arguments import names_of, read
from orchestrator.mcp_server.schema import Schema, input_schema, output_schema, step_schema, told_once
from orchestrator.mcp_server.session_tool import TARGET, SessionTool
from orchestrator.mcp_server.session_tools import SESSION_TOOLS
from orchestrator.models import Wire
from orchestrator.sequence import SYNC

_SENTENCES = 2
_NARROWING = ("selector", "root", "query", "roles", "limit", "offset", "prefix")
"""Parameters that make a result smaller."""


class Addressed(Wire):
    """Which session a call is for."""

    session_id: str | None = Field(default=None, description=TARGET)


_SESSION_ID = names_of(Addressed)
_SPELLINGS = (*_SESSION_ID, *Addressed.model_fields)
_ADDRESS: Schema = input_schema(Addressed, {})["properties"]
_STEP_HINT = f'action names a tool, or "{SYNC}" with a name; parameters as of that tool, do for its own action.'
_STEP: Schema = step_schema(CATALOGUE.values()) | {"description": _STEP_HINT}


@dataclass(frozen=True)
class Tool:
    """One declaration as a tool."""

    declared: type[AnyAction | SessionTool]

    @property
    def name(self) -> str:
        """What clients call it."""
        return self.declared.verb

    @property
    def offered(self) -> bool:
        """Whether it can be done in this installation."""
        return issubclass(self.declared, SessionTool) or self.declared.offered()

    @cached_property
    def listed(self) -> protocol.Tool:
        """The tool as clients read it when it is the only one."""
        return protocol.Tool(
            name=self.name,
            title=self.declared.title,
            description=_sentences(self.declared),
            input_schema=self._input_schema(),
            output_schema=self._output_schema(),
            annotations=self._annotations(),
        )

    @cached_property
    def narrowing(self) -> list[str]:
        """The parameters that make its result smaller."""
        return [name for name in _NARROWING if name in self.listed.input_schema["properties"]]

    async def call(self, orchestrator: Orchestrator, arguments: Mapping[str, Any]) -> Outcome:
        """Read the arguments and do it. Nothing is awaited before the façade: calls keep their order of arrival.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        if issubclass(self.declared, SessionTool):
            return await read(self.declared, arguments).run(orchestrator)
        address = {name: value for name, value in arguments.items() if name in _SPELLINGS}
        fields = {name: value for name, value in arguments.items() if name not in _SPELLINGS}
        action = read(self.declared, fields, also=_SESSION_ID)
        return await orchestrator.perform(action, read(Addressed, address).session_id)

    def _input_schema(self) -> Schema:
        if issubclass(self.declared, SessionTool):
            return input_schema(self.declared, {}, _STEP)
        return input_schema(self.declared, _ADDRESS)

    def _output_schema(self) -> Schema | None:
        if not self.declared.structured:
            return None
        if not issubclass(self.declared, SessionTool):
            # What an action says beyond its own few words is that of a sequence, which says it in full.
            return output_schema(self.declared.result, 0)
        return output_schema(self.declared.result, 1, self.declared.nullable)

    def _annotations(self) -> protocol.ToolAnnotations:
        declared = self.declared
        return protocol.ToolAnnotations(
            read_only_hint=declared.reads,
            destructive_hint=declared.destructive,
            idempotent_hint=declared.idempotent,
            open_world_hint=declared.outside if issubclass(declared, SessionTool) else True,
        )


def _sentences(declared: type[Any]) -> str:
    """The first two sentences of a docstring."""
    text = " ".join((inspect.getdoc(declared) or "").split())
    return " ".join(re.split(r"(?<=[.!?]) (?=[A-Z])", text)[:_SENTENCES])


def _all(declarations: Iterable[type[AnyAction | SessionTool]]) -> dict[str, Tool]:
    return {declared.verb: Tool(declared) for declared in declarations}


Tools = Mapping[str, Tool]


def tools(actions: Catalogue) -> Tools:
    """Every tool by name, in the order in which they are listed, where there are these actions."""
    return {**TOOLS, **_all(action for verb, action in actions.items() if verb not in TOOLS)}


TOOLS: Tools = _all([*SESSION_TOOLS, *CATALOGUE.values()])
"""Those that ship with the project."""


def listing(sets: str, tools: Tools = TOOLS) -> list[protocol.Tool]:
    """The tools of these sets (setting `tools`) as clients read them; the others can be called all the same."""
    wanted = set(sets.split(","))
    shown = [one for one in tools.values() if one.offered and ("all" in wanted or one.declared.toolset in wanted)]
    schemas = told_once((tool.listed.input_schema for tool in shown), always=TARGET)
    pairs = zip(shown, schemas, strict=True)
    return [tool.listed.model_copy(update={"input_schema": schema}) for tool, schema in pairs]
