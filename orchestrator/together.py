"""The façade's part that runs several steps in one call, or looks at several sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import Any

import anyio.to_thread

from orchestrator.actions.scene import Scene
from orchestrator.compare import CompareSessions, Comparison, Seen, compared, look, side_by_side
from orchestrator.errors import InvalidArgument
from orchestrator.lockstep import Lockstep
from orchestrator.parallel import ExecuteParallel, Meeting, ParallelResult, gathered
from orchestrator.plug_ins import Actions
from orchestrator.python_api import PythonApi
from orchestrator.runner import Runner, labelled
from orchestrator.sequence import Alone, ExecuteSequence, PlannedStep, SequenceResult, plan, run
from orchestrator.sessions import Book


class Together(PythonApi):
    """Sequences in one session, in several at once, and the comparison of what sessions show."""

    actions: Actions
    _book: Book
    _runner: Runner

    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs."""
        steps = plan(sequence.actions, self.actions)

        def work(scene: Scene) -> SequenceResult:
            result = run(scene, _served(steps, scene), sequence, Alone())
            return labelled(result, scene) if sequence.session_id is None else result

        return await self._runner.run(sequence.session_id, work)

    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time; one that fails does not stop the others."""
        plans: dict[str, list[PlannedStep]] = {}
        for part in parallel.sequences:
            steps = plan(part.actions, self.actions)
            for given in part.ids:
                plans[await self._unused(given, plans, "has two sequences in one call")] = steps
        meeting = Lockstep([*plans]) if parallel.lockstep else Meeting(plans)

        def one(session_id: str) -> Callable[[], Any]:
            def work(scene: Scene) -> SequenceResult:
                return run(scene, _served(plans[session_id], scene), parallel, meeting.of(session_id))

            return lambda: self._runner.run(session_id, work)

        return await gathered({session_id: one(session_id) for session_id in plans}, meeting)

    async def compare(self, asked: CompareSessions) -> Comparison:
        """Look at all sessions at the same time, and say how the others differ from the first one.

        Raises:
            InvalidArgument: A session is named twice.
            OrchestratorError: One of the sessions could not be looked at; it is named.
        """
        chosen: list[str] = []
        for given in asked.session_ids:
            chosen.append(await self._unused(given, chosen, "is compared with itself"))

        def one(session_id: str) -> Awaitable[Seen]:
            return self._runner.run(session_id, lambda scene: look(scene, asked))

        folder = self.settings.home / "screenshots" / self.settings.namespace
        return await anyio.to_thread.run_sync(compared, await side_by_side(chosen, one), asked, folder)

    async def _unused(self, given: str, taken: Container[str], why_not: str) -> str:
        chosen = await self._book.resolve(given)
        if chosen in taken:
            raise InvalidArgument(f"{chosen!r} {why_not}.", hint="Name each session once.")
        return chosen


def _served(steps: list[PlannedStep], scene: Scene) -> list[PlannedStep]:
    for step in steps:
        if step.action is not None:
            step.action.check(scene.record, planned=True)
    return steps
