"""The tools that run several steps, or look at several sessions, in one call."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.actions.results import Outcome
from orchestrator.api import Orchestrator
from orchestrator.compare import CompareSessions, Comparison
from orchestrator.mcp_server.session_tool import TARGET, SessionTool
from orchestrator.parallel import ExecuteParallel, ParallelResult
from orchestrator.sequence import ExecuteSequence, SequenceResult
from orchestrator.settings import ToolSet


class SequenceTool(SessionTool, ExecuteSequence):
    """Run several steps in one call: fill in a form, click, wait.

    Stops at the first failure, waits until the page has settled, and answers with what changed.
    """

    verb: ClassVar[str] = "execute_sequence"
    title: ClassVar[str] = "Run steps in order"
    toolset: ClassVar[ToolSet] = "core"
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SequenceResult
    nullable: ClassVar[tuple[str, ...]] = ("stateChange",)

    session_id: str | None = Field(default=None, description=TARGET)

    async def run(self, orchestrator: Orchestrator) -> SequenceResult:
        """Run them."""
        return await orchestrator.run_sequence(self)


class ParallelTool(SessionTool, ExecuteParallel):
    """Run a sequence in each session at the same time, such as two users who chat.

    The step {action: "sync", name} makes all that have it wait for each other.
    """

    verb: ClassVar[str] = "execute_parallel"
    title: ClassVar[str] = "Run sequences side by side"
    toolset: ClassVar[ToolSet] = "core"
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ParallelResult

    async def run(self, orchestrator: Orchestrator) -> ParallelResult:
        """Run them."""
        return await orchestrator.run_parallel(self)


class CompareTool(SessionTool, CompareSessions):
    """Compare what sessions show (diff): text, elements or screenshots."""

    verb: ClassVar[str] = "compare_sessions"
    title: ClassVar[str] = "Compare sessions"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Comparison

    async def run(self, orchestrator: Orchestrator) -> Comparison:
        """Compare them."""
        return await orchestrator.compare(self)
