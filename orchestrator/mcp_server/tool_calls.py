"""Calls the tools of an open orchestrator; whatever happens, the answer is a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog
from mcp.types import CallToolResult

from orchestrator.actions.base import suggest_tools
from orchestrator.api import Orchestrator
from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.mcp_server.callers import Meta, make_mcp_caller
from orchestrator.mcp_server.joining_sets import JoiningSets
from orchestrator.mcp_server.plain_schemas import unpack_steps
from orchestrator.mcp_server.rendering import Renderer
from orchestrator.mcp_server.tool_list import ToolEntry, check_tool_names, denied_tools, read_entries
from orchestrator.mcp_server.tools import TOOLS, Tool, tools_by_name


class ToolCalls:
    """The tools of one orchestrator, those of installed packages included.

    Attributes:
        joining: The sets that joined those that are listed.
    """

    def __init__(self, orchestrator: Orchestrator) -> None:
        self._orchestrator = orchestrator
        self._renderer = Renderer(orchestrator.redactor, orchestrator.settings.max_output)
        self._tools = tools_by_name(orchestrator.actions)
        self._log = structlog.get_logger(__name__)
        entries = self.entries()
        check_tool_names(orchestrator.settings, entries)
        orchestrator.actions.deny(denied_tools(orchestrator.settings, entries))
        self.joining = JoiningSets(orchestrator, entries)

    def entries(self) -> list[ToolEntry]:
        """Return every tool for the list; those of installed packages are the last, and in the set `default`."""
        added = [tool.entry for name, tool in self._tools.items() if name not in TOOLS]
        return [*read_entries(), *(replace(entry, by_default=True) for entry in added)]

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], meta: Meta | None = None, client: str = ""
    ) -> CallToolResult:
        """Call a tool. Nothing is awaited before the façade: calls keep their order of arrival.

        `meta` is the call's `_meta`, `client` the name of the program that sent it.
        """
        try:
            tool = self._find(name)
            facade = self._as_caller(meta or {}, client)
            outcome = await tool.call(facade, unpack_steps(arguments))
            return self._renderer.outcome(self.joining.complete(outcome, facade.caller), tool.narrowing)
        except OrchestratorError as error:
            return self._renderer.error(error)
        except Exception as error:  # noqa: BLE001 (a bug of ours, reported as such)
            self._log.exception("a tool broke", tool=name)
            message = f"Internal error in {name[:64]} ({type(error).__name__})."
            return self._renderer.error(OrchestratorError(message, hint="See the server's log."))

    def _find(self, name: str) -> Tool:
        """Return a tool that may be called.

        Raises:
            Denied: The tool is refused.
            InvalidArgument: There is no such tool.
        """
        if name not in self._tools:
            hint = f"{suggest_tools(name, self._tools)} describe_actions lists all."
            raise InvalidArgument(f"There is no tool {name[:64]!r}.", hint=hint)
        self._orchestrator.actions.check_allowed(name)
        return self._tools[name]

    def _as_caller(self, meta: Meta, client: str) -> Orchestrator:
        connection, namespace = self._orchestrator.caller, self._orchestrator.settings.namespace
        return self._orchestrator.for_caller(make_mcp_caller(connection, namespace, meta, client))
