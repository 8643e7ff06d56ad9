"""The tool that describes other tools, listed or not."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.models.results import Outcome
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.session_tools.descriptions import ActionDescriptions


class DescribeActions(SessionTool):
    """Tell what tools and actions do, with parameters, listed or not. Without names or query: all."""

    verb: ClassVar[str] = "describe_actions"
    title: ClassVar[str] = "Describe actions"
    by_default: ClassVar[bool] = True
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ActionDescriptions

    names: list[str] = Field(default_factory=list)
    query: str | None = Field(default=None, description="Words to find.")

    async def run(self, backend: ToolBackend) -> ActionDescriptions:
        """Describe them."""
        return await backend.describe_actions(self.names, self.query)
