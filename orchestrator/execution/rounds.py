"""Runs of parallel sequences: once, repeated, or in orders of their steps that seeds choose."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Generic

import anyio

from orchestrator.actions.base import Catalogue
from orchestrator.execution.interleave import Interleaving, order_steps
from orchestrator.execution.lockstep import Lockstep
from orchestrator.execution.parallel import BarrierGroup, ExecuteParallel, ParallelResult, SyncPoints
from orchestrator.execution.parallel_run import ParallelCaller, ParallelRun, ReservedT, Round, close_if_open
from orchestrator.execution.run_statistics import RunLog, number_steps
from orchestrator.execution.sequence import PlannedStep, SequenceTask, plan
from orchestrator.execution.time_plan import PlacedStep, TimePlan
from orchestrator.execution.timing import StepKey

_SEEDS = 1_000_000
"""Random seeds are below it: short enough to be typed."""


class RoundPlanner:
    """Plans the runs of a call."""

    def __init__(self, parallel: ExecuteParallel, actions: Catalogue) -> None:
        self._parallel = parallel
        self._actions = actions
        given = parallel.interleave
        self._seed = (secrets.randbelow(_SEEDS) if given.seed is None else given.seed) if given else None

    def plan(self, ids: Sequence[Sequence[str]], number: int) -> Round:
        """Plan a run, from 1 on, in these sessions of each part.

        Raises:
            InvalidArgument: A step is unknown or wrong; it is named by its index, and nothing is run.
        """
        parallel, plans = self._parallel, dict[str, list[PlannedStep]]()
        for part, session_ids in zip(parallel.sequences, ids, strict=True):
            is_numbered = parallel.repeat > 1 or parallel.interleave is not None
            steps = plan(number_steps(part.actions, number) if is_numbered else part.actions, self._actions)
            plans |= dict.fromkeys(session_ids, steps)
        times = TimePlan(
            [
                PlacedStep((session_id, index), session_id, step)
                for session_id, steps in plans.items()
                for index, step in enumerate(steps)
            ]
        )
        seed = None if self._seed is None else self._seed + number - 1
        order = [] if seed is None else order_steps(plans, {key: one.of for key, one in times.watched.items()}, seed)
        group = self._make_group(plans, order, is_ordered=seed is not None)
        tasks = {
            session_id: SequenceTask(
                steps,
                parallel,
                group.make_member(session_id),
                verb="execute_parallel",
                timing=times.make_timing(session_id, range(len(steps))),
            )
            for session_id, steps in plans.items()
        }
        return Round(tasks, group, times.moments, seed, order)

    def _make_group(
        self, plans: Mapping[str, list[PlannedStep]], order: Sequence[StepKey], *, is_ordered: bool
    ) -> BarrierGroup:
        if is_ordered:
            return Interleaving(plans, order)
        return Lockstep([*plans]) if self._parallel.lockstep else SyncPoints(plans)


class Rounds(Generic[ReservedT]):
    """The runs of a call, one after the other, until one fails.

    Args:
        caller: The caller, and what runs its sequences.
        parallel: The call.
        closing: The sessions to close at the end, with the names by which the caller knows them.
    """

    def __init__(
        self,
        caller: ParallelCaller[ReservedT],
        parallel: ExecuteParallel,
        *,
        closing: Mapping[str, str],
    ) -> None:
        self._caller = caller
        self._parallel = parallel
        self._closing = closing

    async def run(
        self, first: Round, make_round: Callable[[int], Round], starting: Mapping[str, ReservedT]
    ) -> ParallelResult:
        """Run all rounds, the later ones as they are made; sessions that are `starting` are launched for the first."""
        given = self._parallel.interleave
        count = given.tries if given else self._parallel.repeat
        if count == 1 and given is None:
            return await self._run_one(first, starting, self._closing)
        warnings: list[str] = []
        try:
            result = await self._run_all(first, make_round, starting, count)
        finally:
            with anyio.CancelScope(shield=True):
                for name in self._closing.values():
                    warnings += (await close_if_open(self._caller.sessions, name))[1]
        return result.model_copy(update={"warnings": [*result.warnings, *warnings]})

    async def _run_all(
        self, first: Round, make_round: Callable[[int], Round], starting: Mapping[str, ReservedT], count: int
    ) -> ParallelResult:
        log, warnings, events, number = RunLog(), list[str](), list[str](), 0
        while True:
            number += 1
            one = first if number == 1 else make_round(number)
            result = await self._run_one(one, starting if number == 1 else {}, {})
            warnings += result.warnings
            events += result.events
            if not log.note(result) or number == count:
                break
        runs = log.summary(one.seed, one.order)
        if one.seed is not None:
            for error in result.failures():
                error.hint = f"{runs.again()} {error.hint}".strip()
        return result.model_copy(
            update={
                "runs": runs.model_dump(by_alias=True, exclude_none=True),
                "told": runs.lines(),
                "warnings": [*dict.fromkeys(warnings)],
                "events": events,
            }
        )

    async def _run_one(
        self, one: Round, starting: Mapping[str, ReservedT], closing: Mapping[str, str]
    ) -> ParallelResult:
        return await ParallelRun(self._caller, one, reserved=starting, closing=closing).run()
