"""What is more than one action: steps in one session, in several side by side, and comparisons of sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from typing import Any

import anyio.to_thread

from orchestrator.actions.scene import Scene
from orchestrator.activity import Doing
from orchestrator.compare import CompareSessions, Comparison, Seen, compared, look, side_by_side
from orchestrator.errors import InvalidArgument
from orchestrator.lockstep import Lockstep
from orchestrator.parallel import ExecuteParallel, Meeting, ParallelResult, gathered
from orchestrator.plug_ins import Actions
from orchestrator.runner import Runner, labelled
from orchestrator.sequence import Alone, ExecuteSequence, PlannedStep, SequenceResult, plan, run
from orchestrator.sessions import Book
from orchestrator.settings import Settings


class Together:
    """Runs it for one caller."""

    def __init__(self, book: Book, runner: Runner, actions: Actions, settings: Settings) -> None:
        self._book = book
        self._runner = runner
        self._actions = actions
        self._settings = settings

    async def sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs."""
        steps = plan(sequence.actions, self._actions)

        def work(scene: Scene) -> SequenceResult:
            result = run(scene, steps, sequence, Alone())
            return labelled(result, scene) if sequence.session_id is None else result

        doing = Doing("execute_sequence", {"steps": len(steps)})
        return await self._runner.run(sequence.session_id, doing, work)

    async def parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time; one that fails does not stop the others."""
        plans: dict[str, list[PlannedStep]] = {}
        for part in parallel.sequences:
            steps = plan(part.actions, self._actions)
            for given in part.ids:
                plans[await self._unused(given, plans, "has two sequences in one call")] = steps
        meeting = Lockstep([*plans]) if parallel.lockstep else Meeting(plans)

        def one(session_id: str) -> Callable[[], Any]:
            def work(scene: Scene) -> SequenceResult:
                return run(scene, plans[session_id], parallel, meeting.of(session_id))

            doing = Doing("execute_parallel", {"steps": len(plans[session_id])})
            return lambda: self._runner.run(session_id, doing, work)

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
        doing = Doing("compare_sessions", {"of": asked.of})

        def one(session_id: str) -> Awaitable[Seen]:
            return self._runner.run(session_id, doing, lambda scene: look(scene, asked))

        folder = self._settings.home / "screenshots" / self._settings.namespace
        return await anyio.to_thread.run_sync(compared, await side_by_side(chosen, one), asked, folder)

    async def _unused(self, given: str, taken: Container[str], why_not: str) -> str:
        chosen = await self._book.resolve(given)
        if chosen in taken:
            raise InvalidArgument(f"{chosen!r} {why_not}.", hint="Name each session once.")
        return chosen
