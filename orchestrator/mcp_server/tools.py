"""The MCP tools, derived from declarations: schemas, and the way of a call to the façade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import mcp.types as protocol
from pydantic import Field

from orchestrator.actions.base import AnyAction, Catalogue
from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.api import Orchestrator
from orchestrator.execution.sequence import SYNC
from orchestrator.mcp_server.tool_list import ToolEntry
from orchestrator.models.arguments import names_of, parse_arguments
from orchestrator.models.identifiers import TARGET
from orchestrator.models.json_schema import Schema, input_schema, output_schema, step_schema
from orchestrator.models.results import Outcome
from orchestrator.models.session import Wire
from orchestrator.session_tools.base import SessionTool
from orchestrator.session_tools.catalogue import SESSION_TOOLS
from orchestrator.session_tools.descriptions import sentences

_CLIENT_ROOM = 500_000
"""Characters of a result that clients are asked to take whole: the most that one allows; `max_output` cuts first."""
_NARROWING = ("selector", "root", "query", "roles", "limit", "offset", "prefix")
"""Parameters that make a result smaller."""


class SessionTarget(Wire):
    """The session that a call is for."""

    session_id: str | None = Field(default=None, description=TARGET)


_SESSION_ID = names_of(SessionTarget)
_SPELLINGS = (*_SESSION_ID, *SessionTarget.model_fields)
_STEP_HINT = f'action names any tool, or "{SYNC}" with a name; parameters as of that tool, do for its own action.'


@dataclass(frozen=True)
class Tool:
    """A declaration as a tool."""

    declared: type[AnyAction | SessionTool]

    @property
    def name(self) -> str:
        """The name that clients call it by."""
        return self.declared.verb

    @property
    def entry(self) -> ToolEntry:
        """Its entry in the list of tools."""
        requires = () if issubclass(self.declared, SessionTool) else self.declared.requires
        by_default = self.declared.by_default or self.declared.toolset == "core"
        return ToolEntry(self.mcp_tool, self.declared.toolset, by_default, requires, self.declared.__module__)

    @cached_property
    def mcp_tool(self) -> protocol.Tool:
        """The tool as clients read it when it is listed alone."""
        return protocol.Tool(
            name=self.name,
            title=self.declared.title,
            description=sentences(self.declared),
            input_schema=self._input_schema(),
            output_schema=self._output_schema(),
            annotations=self._annotations(),
            **self._meta(),
        )

    @cached_property
    def narrowing(self) -> list[str]:
        """The parameters that make its result smaller."""
        return [name for name in _NARROWING if name in names_of(self.declared)]

    async def call(self, orchestrator: Orchestrator, arguments: Mapping[str, Any]) -> Outcome:
        """Parse the arguments and call the façade. Nothing is awaited before: calls keep their order of arrival.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        files = orchestrator.actions.files
        if issubclass(self.declared, SessionTool):
            return await files.check(parse_arguments(self.declared, arguments)).run(orchestrator)
        address = {name: value for name, value in arguments.items() if name in _SPELLINGS}
        fields = {name: value for name, value in arguments.items() if name not in _SPELLINGS}
        action = files.check(parse_arguments(self.declared, fields, also=_SESSION_ID))
        return await orchestrator.perform(action, parse_arguments(SessionTarget, address).session_id)

    def _input_schema(self) -> Schema:
        if issubclass(self.declared, SessionTool):
            return input_schema(self.declared, {}, _step_schema())
        return input_schema(self.declared, _target_schema())

    def _output_schema(self) -> Schema | None:
        if not self.declared.structured:
            return None
        if not issubclass(self.declared, SessionTool):
            # Nested objects of an action's result are described in full by execute_sequence.
            return output_schema(self.declared.result, 0)
        return output_schema(self.declared.result, 1, self.declared.nullable, self.declared.described)

    def _meta(self) -> dict[str, Any]:
        """Return its `_meta` for clients that load tools on demand, or that put long results into a file."""
        meta: dict[str, Any] = {}
        if self.declared.always_loaded:
            meta["anthropic/alwaysLoad"] = True
        if self.declared.long_result:
            meta["anthropic/maxResultSizeChars"] = _CLIENT_ROOM
        return {"_meta": meta} if meta else {}

    def _annotations(self) -> protocol.ToolAnnotations:
        declared = self.declared
        return protocol.ToolAnnotations(
            read_only_hint=declared.reads,
            destructive_hint=declared.destructive,
            idempotent_hint=declared.idempotent,
            open_world_hint=declared.open_world if issubclass(declared, SessionTool) else True,
        )


@cache
def _target_schema() -> Schema:
    properties: Schema = input_schema(SessionTarget, {})["properties"]
    return properties


@cache
def _step_schema() -> Schema:
    return step_schema(_STEP_HINT)


def _all(declarations: Iterable[type[AnyAction | SessionTool]]) -> dict[str, Tool]:
    return {declared.verb: Tool(declared) for declared in declarations}


Tools = Mapping[str, Tool]


def tools_by_name(actions: Catalogue) -> Tools:
    """Return the tools for these actions and those for sessions by name, in the order in which they are listed."""
    return {**TOOLS, **_all(action for verb, action in actions.items() if verb not in TOOLS)}


TOOLS: Tools = _all([*SESSION_TOOLS, *CATALOGUE.values()])
"""The tools that ship with the project."""
