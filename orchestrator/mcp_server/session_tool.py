"""What a tool is that works on sessions as a whole, and not as an action in one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from orchestrator.actions.results import Outcome
from orchestrator.api import Orchestrator
from orchestrator.models import Wire
from orchestrator.settings import ToolSet

TARGET = "Target session. If omitted, the current session."


class SessionTool(Wire, ABC):
    """A tool that is no action: it works on sessions as a whole.

    The docstring of a subclass is its description, its fields are its parameters, `run` is what it does.
    """

    verb: ClassVar[str]
    title: ClassVar[str]
    reads: ClassVar[bool] = False
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    outside: ClassVar[bool] = False
    """It reaches what lies outside this machine, such as web sites."""
    result: ClassVar[type[Outcome]]
    structured: ClassVar[bool] = True
    toolset: ClassVar[ToolSet] = "sessions"
    """With which others it is listed."""
    nullable: ClassVar[tuple[str, ...]] = ()
    """Properties of the result that are there even when they are null."""

    @abstractmethod
    async def run(self, orchestrator: Orchestrator) -> Outcome:
        """Do it; nothing may be awaited before the call of the façade, or calls would change places.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
