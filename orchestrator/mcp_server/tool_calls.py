"""Calls the tools of an open orchestrator; whatever happens, the answer is a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog
from mcp.types import CallToolResult

from orchestrator.actions.base import Action, suggest_tools
from orchestrator.api import Orchestrator
from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.mcp_server.caller_facts import NO_FACTS, CallerFacts
from orchestrator.mcp_server.callers import make_mcp_caller
from orchestrator.mcp_server.confirmation import Question, SessionScope
from orchestrator.mcp_server.held_tools import HeldTools
from orchestrator.mcp_server.joining_sets import JoiningSets
from orchestrator.mcp_server.plain_schemas import unpack_steps
from orchestrator.mcp_server.rendering import Renderer
from orchestrator.mcp_server.tool_list import ToolEntry, check_tool_names, denied_tools, held_tools, read_entries
from orchestrator.mcp_server.tools import TOOLS, Tool, tools_by_name
from orchestrator.mcp_server.tracing import describing_call, set_call_error
from orchestrator.models.session import Caller


@dataclass
class CallNote:
    """A call for whoever watches the calls.

    Attributes:
        tool: The tool; empty if there is none of the name that was called.
        caller: The caller.
        http_session: The id of its session of the protocol, over HTTP.
        error: The code of its error; empty before its end, and without one.
    """

    tool: str
    caller: Caller
    http_session: str
    error: str = ""


Watch = Callable[[CallNote], AbstractContextManager[object]]
"""Enters a context for the time of a call."""


class ToolCalls:
    """The tools of one orchestrator, those of installed packages included.

    Args:
        orchestrator: The orchestrator, whose calls they are.
        watch: Watches each call.

    Attributes:
        joining: The sets that joined those that are listed.
    """

    def __init__(self, orchestrator: Orchestrator, watch: Watch = nullcontext) -> None:
        self._orchestrator = orchestrator
        self._watch = watch
        self._renderer = Renderer(orchestrator.redactor, orchestrator.settings.max_output)
        self._tools = tools_by_name(orchestrator.actions)
        self._log = structlog.get_logger(__name__)
        entries = self.entries()
        check_tool_names(orchestrator.settings, entries)
        denied = denied_tools(orchestrator.settings, entries)
        orchestrator.actions.deny(denied, "the setting deny_tools", setting="deny_tools")
        held = held_tools(orchestrator.settings, entries)
        orchestrator.actions.hold_back(held)
        by_session = [name for name in held if issubclass(self._tools[name].declared, Action)]
        self._held = HeldTools(held, by_session, orchestrator.redactor)
        orchestrator.actions.files.limit(orchestrator.settings)
        self._projects: Sequence[Path] = []
        self.joining = JoiningSets(orchestrator, entries)

    def use_projects(self, folders: Sequence[Path]) -> None:
        """Let callers name files in the folders that the client works in, in place of the working folder."""
        if folders != self._projects:
            self._projects = folders
            self._orchestrator.actions.files.limit(self._orchestrator.settings, folders)

    def entries(self) -> list[ToolEntry]:
        """Return every tool for the list; those of installed packages are the last, and in the set `default`."""
        return list_entries(self._tools)

    async def call_tool(self, name: str, arguments: Mapping[str, Any], facts: CallerFacts = NO_FACTS) -> CallToolResult:
        """Call a tool, for the caller of a request. Nothing is awaited before: calls keep their order of arrival."""
        facade = self.facade_for(facts)
        note = self._note(name, facade.caller, facts)
        with self._watch(note), describing_call(arguments):
            result = await self._call(facade, name, arguments)
            note.error = _error_code(result)
            set_call_error(note.error)
        return result

    async def _call(self, facade: Orchestrator, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        try:
            tool = self._find(name)
            outcome = await tool.call(facade, unpack_steps(arguments))
            return self._renderer.outcome(self.joining.complete(outcome, facade.caller), tool.narrowing)
        except OrchestratorError as error:
            return self._renderer.error(error)
        except Exception as error:  # noqa: BLE001 (a bug of ours, reported as such)
            self._log.exception("a tool broke", tool=name)
            message = f"Internal error in {name[:64]} ({type(error).__name__})."
            return self._renderer.error(OrchestratorError(message, hint="See the server's log."))

    def holds_back(self, name: str) -> bool:
        """Return True if a tool needs a person's consent.

        Raises:
            Denied: The tool is refused.
        """
        self._find(name)
        return name in self._held

    async def find_question(self, name: str, arguments: Mapping[str, Any], facts: CallerFacts) -> Question | None:
        """Return what to ask a person before a call; None if it needs nobody's consent.

        Raises:
            OrchestratorError: The call would not run.
        """
        held = self._held.find(name, self._find(name).declared, unpack_steps(arguments))
        if held is None or not held.tools:
            return held and Question(held.question)
        given = arguments.get("sessionId", arguments.get("session_id"))
        if given is not None and not isinstance(given, str):
            return Question(held.question)
        try:
            record = await self.facade_for(facts).registry.find(given)
        except OrchestratorError:  # such a call starts its session, or fails
            return Question(held.question)
        is_allowed = held.tools <= {*record.consents}
        return Question(held.question, SessionScope(record.id, record.created_at, held.tools), is_allowed=is_allowed)

    async def note_consent(self, scope: SessionScope) -> None:
        """Note that a person has allowed tools for a whole session.

        Raises:
            SessionNotFound: It was closed meanwhile.
        """
        await self._orchestrator.registry.note_consent(scope.session_id, scope.created_at, scope.tools)

    def refuse_call(self, name: str, error: OrchestratorError, facts: CallerFacts) -> CallToolResult:
        """Return the result of a call that was refused before it ran, and let it be watched as any other."""
        note = self._note(name, self.facade_for(facts).caller, facts)
        with self._watch(note):
            note.error = error.code
        return self.refuse(error)

    def refuse(self, error: OrchestratorError) -> CallToolResult:
        """Return what was refused, as the result of a tool."""
        return self._renderer.error(error)

    def facade_for(self, facts: CallerFacts) -> Orchestrator:
        """Return the orchestrator for the caller of a request."""
        connection, namespace = self._orchestrator.caller, self._orchestrator.settings.namespace
        return self._orchestrator.for_caller(make_mcp_caller(connection, namespace, *facts))

    def _note(self, name: str, caller: Caller, facts: CallerFacts) -> CallNote:
        return CallNote(name if name in self._tools else "", caller, facts.http_session)

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


def list_entries(tools: Mapping[str, Tool]) -> list[ToolEntry]:
    """Return every tool for the list; those of installed packages are the last, and in the set `default`."""
    added = [tool.entry for name, tool in tools.items() if name not in TOOLS]
    return [*read_entries(), *(replace(entry, by_default=True) for entry in added)]


def _error_code(result: CallToolResult) -> str:
    """Return the code of an error's result; empty for any other."""
    if not result.is_error:
        return ""
    data = result.structured_content or {}
    return str(data.get("error", {}).get("code", "error"))
