"""Runs sequences, parallel sequences and comparisons, for the caller that asks."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import anyio.to_thread

from orchestrator.actions.base import Catalogue
from orchestrator.actions.plugins import InstalledActions
from orchestrator.errors import InvalidArgument
from orchestrator.execution.compare import CaptureTask, CompareSessions, Comparison, capture_all, compare_captures
from orchestrator.execution.parallel import ExecuteParallel, ParallelPart, ParallelResult
from orchestrator.execution.parallel_run import (
    ParallelCaller,
    ParallelSessions,
    ReservedT,
    name_start_tool,
    parse_start,
    release_all,
    reserve_all,
)
from orchestrator.execution.rounds import RoundPlanner, Rounds
from orchestrator.execution.runner import Runner
from orchestrator.execution.sequence import (
    ExecuteSequence,
    NoBarrier,
    SequenceResult,
    SequenceTask,
    Step,
    errors_of_step,
    plan,
)
from orchestrator.execution.session_steps import (
    SessionSequence,
    SessionSteps,
    names_sessions,
    plan_parts,
    read_verb,
)
from orchestrator.execution.time_plan import PlacedStep, TimePlan
from orchestrator.models.session import Caller
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.settings import Settings


class Coordinator:
    """Runs them by handing tasks to the runner."""

    def __init__(
        self, *, registry: SessionRegistry, runner: Runner, actions: InstalledActions, settings: Settings
    ) -> None:
        self._registry = registry
        self._runner = runner
        self._actions = actions
        self._settings = settings

    async def run_sequence(self, caller: Caller, sequence: ExecuteSequence, tools: SessionSteps) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs.

        If some are tools for sessions, or name a session, they run in turns of their own, and the sequence needs no
        session.
        """
        uses_tools = not tools.verbs.isdisjoint(_verbs(sequence.actions, self._actions, tools))
        if uses_tools or names_sessions(sequence):
            parts = plan_parts(sequence, self._actions, tools)
            progress = SessionSequence(caller, sequence, runner=self._runner, registry=self._registry)
            return await progress.run(parts)
        steps = plan(sequence.actions, self._actions)
        placed = [PlacedStep(("", index), sequence.session_id, step) for index, step in enumerate(steps)]
        timing = TimePlan(placed).make_timing("", range(len(steps)))
        return await self._runner.run(
            caller, sequence.session_id, SequenceTask(steps, sequence, NoBarrier(), timing=timing)
        )

    async def run_parallel(
        self, caller: Caller, parallel: ExecuteParallel, tools: SessionSteps, sessions: ParallelSessions[ReservedT]
    ) -> ParallelResult:
        """Run one sequence a session at the same time; one that fails does not stop the others.

        Everything is checked, and the ids of sessions to start are reserved, before anything runs.
        """
        parts = [*enumerate(parallel.sequences)]
        for _, part in parts:
            self._check_part(part, tools)
        requests = {index: parse_start(index, part.start) for index, part in parts if part.start is not None}
        ids = await self._resolve_parts(parallel.sequences)
        planner = RoundPlanner(parallel, self._actions)
        reserved = await reserve_all(sessions, requests)
        for index, one in reserved.items():
            ids[index] = [one.record.id]
        try:
            first = planner.plan(ids, 1)
        except BaseException:
            await release_all(reserved.values())
            raise
        closing = {
            session_id: given
            for index, part in parts
            if part.close
            for session_id, given in zip(ids[index], part.ids or ids[index], strict=True)
        }
        rounds = Rounds(ParallelCaller(caller, self._runner, sessions), parallel, closing=closing)
        starting = {one.record.id: one for one in reserved.values()}
        return await rounds.run(first, lambda number: planner.plan(ids, number), starting)

    def _check_part(self, part: ParallelPart, tools: SessionSteps) -> None:
        """Check what the steps of a sequence do, and that its start and its close are not denied."""
        if part.start is not None:
            self._actions.check_allowed(name_start_tool(part.start))
        if part.close:
            self._actions.check_allowed("close_session")
        for index, verb in enumerate(_verbs(part.actions, self._actions, tools)):
            if verb in tools.verbs:
                raise InvalidArgument(
                    f"Step {index}: {verb} cannot be a step of execute_parallel.",
                    hint="A sequence has start and close for that; execute_sequence takes any tool. Nothing was run.",
                )

    async def compare(self, caller: Caller, request: CompareSessions) -> Comparison:
        """Capture all sessions at the same time, and compare the others with the first one.

        Raises:
            InvalidArgument: A session is named twice.
            OrchestratorError: One of the sessions could not be captured; it is named.
        """
        session_ids: list[str] = []
        for given in request.session_ids:
            session_ids.append(await self._resolve_once(given, session_ids, "is compared with itself"))
        captures = await capture_all(self._runner, caller, session_ids, CaptureTask(request.of, request.ignore))
        folder = self._settings.home / "screenshots" / self._settings.namespace
        return await anyio.to_thread.run_sync(compare_captures, captures, request, folder)

    async def _resolve_parts(self, parts: Sequence[ParallelPart]) -> list[list[str]]:
        """Resolve the open sessions of each sequence, none of which may be in two."""
        taken: list[str] = []
        resolved: list[list[str]] = []
        for part in parts:
            resolved.append([])
            for given in part.ids:
                taken.append(await self._resolve_once(given, taken, "has two sequences in one call"))
                resolved[-1].append(taken[-1])
        return resolved

    async def _resolve_once(self, given: str, taken: Container[str], why_not: str) -> str:
        session_id = await self._registry.resolve(given)
        if session_id in taken:
            raise InvalidArgument(f"{session_id!r} {why_not}.", hint="Name each session once.")
        return session_id


def _verbs(steps: list[Step], actions: Catalogue, tools: SessionSteps) -> Iterator[str]:
    """Yield what each step does.

    Raises:
        InvalidArgument: A step is neither an action nor a tool for sessions.
    """
    for index, step in enumerate(steps):
        with errors_of_step(index):
            yield read_verb(step, actions, tools.verbs)
