"""The tools for sessions as steps of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.errors import InvalidArgument
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.results import Outcome
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.session_tools.catalogue import SESSION_TOOLS
from orchestrator.system.file_access import FileAccess

_TOOLS = {tool.verb: tool for tool in SESSION_TOOLS}


class ToolSteps:
    """The tools for sessions, as the steps of a caller's sequences (`execution.session_steps.SessionSteps`)."""

    verbs = frozenset(_TOOLS)

    def __init__(self, backend: ToolBackend, files: FileAccess) -> None:
        self._backend = backend
        self._files = files

    def parse(self, verb: str, fields: Mapping[str, Any]) -> ToolStep:
        """Check a step.

        Raises:
            Denied: A file or page that it names is refused.
            InvalidArgument: The tool runs steps itself, or its parameters are wrong.
        """
        tool = _TOOLS[verb]
        if not tool.is_step:
            raise InvalidArgument(
                f"{verb} cannot be a step: it runs steps itself.",
                hint="Put its actions into this list, or call it by itself.",
            )
        return ToolStep(self._files.check(parse_arguments(tool, fields)), self._backend)


@dataclass(frozen=True)
class ToolStep:
    """A call of such a tool in a sequence (`execution.session_steps.SessionStep`)."""

    tool: SessionTool
    backend: ToolBackend

    @property
    def verb(self) -> str:
        """The tool's name."""
        return self.tool.verb

    @property
    def destructive(self) -> bool:
        """True if it ends sessions."""
        return self.tool.destructive

    async def run(self, of_sequence: str | None, acting: str | None, claims: Mapping[str, str]) -> Outcome:
        """Run it; without a session id of its own it is for the session of the sequence."""
        return await self.tool.in_sequence(of_sequence, acting).under_claims(claims).run(self.backend)
