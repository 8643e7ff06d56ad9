"""The tools for sequences, parallel sequences and comparing sessions."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.execution.compare import CompareSessions, Comparison
from orchestrator.execution.parallel import ExecuteParallel, ParallelResult
from orchestrator.execution.sequence import ExecuteSequence, SequenceResult
from orchestrator.models.identifiers import TARGET
from orchestrator.models.results import Outcome
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.settings import ToolSet


class SequenceTool(SessionTool, ExecuteSequence):
    """Run several steps in one call: fill in a form, click, wait.

    Stops at the first failure; answers with what changed.
    """

    verb: ClassVar[str] = "execute_sequence"
    title: ClassVar[str] = "Run steps in order"
    toolset: ClassVar[ToolSet] = "core"
    always_loaded: ClassVar[bool] = True
    long_result: ClassVar[bool] = True
    open_world: ClassVar[bool] = True
    is_step: ClassVar[bool] = False
    result: ClassVar[type[Outcome]] = SequenceResult
    nullable: ClassVar[tuple[str, ...]] = ("stateChange",)

    session_id: str | None = Field(default=None, description=TARGET)

    async def run(self, backend: ToolBackend) -> SequenceResult:
        """Run the steps."""
        return await backend.run_sequence(self)


class ParallelTool(SessionTool, ExecuteParallel):
    """Run a sequence in each session at the same time: two users who chat.

    The step {action: "sync", name} makes them wait for each other.
    """

    verb: ClassVar[str] = "execute_parallel"
    title: ClassVar[str] = "Run sequences side by side"
    toolset: ClassVar[ToolSet] = "core"
    long_result: ClassVar[bool] = True
    open_world: ClassVar[bool] = True
    is_step: ClassVar[bool] = False
    result: ClassVar[type[Outcome]] = ParallelResult

    async def run(self, backend: ToolBackend) -> ParallelResult:
        """Run the sequences."""
        return await backend.run_parallel(self)


class CompareTool(SessionTool, CompareSessions):
    """Compare what sessions show (diff): text, elements or screenshots."""

    verb: ClassVar[str] = "compare_sessions"
    title: ClassVar[str] = "Compare sessions"
    by_default: ClassVar[bool] = True
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Comparison

    async def run(self, backend: ToolBackend) -> Comparison:
        """Compare the sessions."""
        return await backend.compare(self)
