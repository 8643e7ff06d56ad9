"""Orders the steps of several sequences by a seed, to find races between users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from orchestrator.automation.scene import Scene
from orchestrator.errors import OrchestratorError, TimedOut
from orchestrator.execution.parallel import SyncPointMember, SyncPoints, list_sync_points
from orchestrator.execution.sequence import SYNC, FinishedStep, PlannedStep
from orchestrator.execution.timing import StepKey
from orchestrator.system.deadline import Deadline


def order_steps(
    plans: Mapping[str, Sequence[PlannedStep]], after: Mapping[StepKey, StepKey], seed: int
) -> list[StepKey]:
    """Choose one order of the steps of all sequences, the same for the same seed.

    Each sequence keeps its own order, nobody passes a `sync` before the others are there, and a step comes after that
    which it is timed from (`after`). All orders that this allows between two barriers are about as likely.
    """
    random, order, done = Random(seed), list[StepKey](), set[StepKey]()  # noqa: S311 — chance, not secrecy
    place = dict.fromkeys(plans, 0)
    points = {session: list_sync_points(steps) for session, steps in plans.items()}
    while True:
        _pass_syncs(plans, place, points)
        ready = [
            session
            for session, steps in plans.items()
            if place[session] < len(steps)
            and steps[place[session]].action is not None
            and ((key := after.get((session, place[session]))) is None or key in done)
        ]
        if not ready:
            return order
        left = [_until_barrier(plans[session], place[session]) for session in ready]
        [chosen] = random.choices(ready, left)
        order.append((chosen, place[chosen]))
        done.add(order[-1])
        place[chosen] += 1


def _until_barrier(steps: Sequence[PlannedStep], place: int) -> int:
    """Count the steps from a place to the next `sync`, or to the end."""
    return next((index for index in range(place, len(steps)) if steps[index].action is None), len(steps)) - place


def _pass_syncs(
    plans: Mapping[str, Sequence[PlannedStep]],
    place: dict[str, int],
    points: Mapping[str, Mapping[int, tuple[str, int]]],
) -> None:
    """Take past their `sync` all sequences that have met there."""
    while True:
        at = {session: points[session].get(place[session]) for session in plans}
        met = [
            point
            for point in {point for point in at.values() if point is not None}
            if all(at[session] == point for session in plans if point in points[session].values())
        ]
        if not met:
            return
        for session, point in at.items():
            if point in met:
                place[session] += 1


class Interleaving(SyncPoints):
    """Lets the steps of several sequences run one at a time, in a given order."""

    def __init__(self, plans: Mapping[str, list[PlannedStep]], order: Sequence[StepKey]) -> None:
        super().__init__(plans)
        self.order = order
        self._next = 0

    def make_member(self, session_id: str) -> InterleavedMember:
        """Make one sequence's side of it."""
        return InterleavedMember(self, session_id)

    def mark_ended(self, session_id: str, error: OrchestratorError | None = None) -> None:
        """Note that a session's sequence has ended: the rest of its steps is left out."""
        super().mark_ended(session_id, error)
        with self._changed:
            self._skip_ended()

    def wait_turn(self, step: StepKey, scene: Scene, deadline: Deadline) -> None:
        """Wait until it is this step's turn.

        Raises:
            TimedOut: It did not come in time.
        """
        with self._changed:
            while self._current != step:
                if not deadline.seconds_left:
                    raise TimedOut("interleave: the steps before this one took too long.", hint="Raise timeout.")
                scene.wait_for_change(self._changed, deadline)

    def end_turn(self, step: StepKey) -> None:
        """Let the next step begin after this one."""
        with self._changed:
            if self._current == step:
                self._next += 1
                self._skip_ended()

    @property
    def _current(self) -> StepKey | None:
        return self.order[self._next] if self._next < len(self.order) else None

    def _skip_ended(self) -> None:
        while (current := self._current) is not None and current[0] in self._ended:
            self._next += 1
        self._changed.notify_all()


class InterleavedMember(SyncPointMember):
    """A sequence's side of an interleaving."""

    def __init__(self, interleaving: Interleaving, session_id: str) -> None:
        super().__init__(interleaving, session_id)
        self._interleaving = interleaving

    def before_step(self, index: int, scene: Scene, deadline: Deadline) -> None:
        """Wait for the turn of the step."""
        self._interleaving.wait_turn((self._session_id, index), scene, deadline)

    def after_step(self, step: FinishedStep, scene: Scene, settle: object, deadline: Deadline) -> bool:
        """End the turn of the step."""
        del scene, settle, deadline
        if step.verb != SYNC:
            self._interleaving.end_turn((self._session_id, step.index))
        return True
