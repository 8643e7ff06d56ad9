"""Lockstep: one list of steps in several sessions, until one shows something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import chain

from pydantic import Field

from orchestrator.automation.scene import Scene
from orchestrator.errors import OrchestratorError, TimedOut
from orchestrator.execution.compare import Difference, ElementListing, comparable, difference
from orchestrator.execution.sequence import FinishedStep, NoBarrier
from orchestrator.models.session import Wire
from orchestrator.system.deadline import Deadline

_LATE = "Look at that session's own result, or raise timeout."


class Divergence(Wire):
    """The first step after which not all sessions showed the same, by role and name.

    `base` is one of those that agree, `odd` are the others: most of the sessions agree, or those with the first one.
    """

    index: int
    action: str
    base: str
    odd: list[str]
    differences: list[Difference] = Field(default_factory=list)
    errors: dict[str, str] = Field(default_factory=dict, description="Why the step failed, where only it did.")

    def lines(self) -> list[str]:
        """The step, the sessions, and their differences."""
        odd = ", ".join(self.odd)
        told = [f"Diverged after step {self.index} ({self.action}): {odd} from {self.base}."]
        told += [f"{name}: the step failed: {error}" for name, error in self.errors.items()]
        return [*told, *chain.from_iterable(one.lines(self.base) for one in self.differences)]

    def page_lines(self) -> list[str]:
        """The lines that differ."""
        return [*chain.from_iterable(one.page_lines(self.base) for one in self.differences)]


_Shown = ElementListing | OrchestratorError
"""The elements that a session shows after a step, or the error for which it shows none."""


class Lockstep:
    """Makes the sessions of one call wait for each other after each step, and compares them."""

    def __init__(self, session_ids: Sequence[str]) -> None:
        self.divergence: Divergence | None = None
        self._session_ids = list(session_ids)
        self._changed = threading.Condition()
        self._ended: dict[str, OrchestratorError | None] = {}
        self._shown: dict[int, dict[str, _Shown]] = {}

    def make_member(self, session_id: str) -> LockstepMember:
        """Make one sequence's side of it."""
        return LockstepMember(self, session_id)

    def mark_ended(self, session_id: str, error: OrchestratorError | None = None) -> None:
        """Note that a session's sequence has ended, with `error` if it never began or its session was lost."""
        with self._changed:
            self._ended[session_id] = error
            self._changed.notify_all()

    def wait_and_compare(
        self, session_id: str, step: FinishedStep, shown: _Shown, scene: Scene, deadline: Deadline
    ) -> bool:
        """Wait until all sessions have done the step; False if they differ or it failed in all of them.

        Raises:
            TimedOut: Some have not done it in time.
        """
        with self._changed:
            here = self._shown.setdefault(step.index, {})
            here[session_id] = shown
            self._changed.notify_all()
            while missing := [one for one in self._session_ids if one not in here]:
                for one in missing:
                    if error := self._ended.get(one):
                        here[one] = error
                if self._ended.keys() & set(missing) - here.keys() or not deadline.seconds_left:
                    who = ", ".join(missing)
                    raise TimedOut(f"Lockstep: {who} did not come to the end of step {step.index}.", hint=_LATE)
                scene.wait_for_change(self._changed, deadline)
            self.divergence = self.divergence or _diverged(step, {one: here[one] for one in self._session_ids})
            return self.divergence is None and not isinstance(shown, OrchestratorError)


class LockstepMember(NoBarrier):
    """A session's side of a lockstep, which makes `sync` steps needless."""

    def __init__(self, lockstep: Lockstep, session_id: str) -> None:
        self._lockstep = lockstep
        self._session_id = session_id

    def after_step(self, step: FinishedStep, scene: Scene, settle: Callable[[], object], deadline: Deadline) -> bool:
        """Wait until the page has settled, then for the others; False if the sessions differ."""
        shown: _Shown
        if step.error is None:
            settle()
            shown = ElementListing.read_scene(scene)
        else:
            shown = step.error
        return self._lockstep.wait_and_compare(self._session_id, step, shown, scene, deadline)


def _diverged(step: FinishedStep, shown: dict[str, _Shown]) -> Divergence | None:
    """The differences of the sessions after a step, in the order in which they were named."""
    failed = {name: one for name, one in shown.items() if isinstance(one, OrchestratorError)}
    if len(failed) == len(shown):
        return None
    listed = {name: one for name, one in shown.items() if isinstance(one, ElementListing)}
    found = comparable(listed)
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, rows in found.items():
        groups.setdefault(rows, []).append(name)
    # The first of the largest ones: a dict keeps the order in which the sessions were named.
    agreed = max(groups.values(), key=len)
    base = agreed[0]
    odd = [name for name in shown if name not in agreed]
    if not odd:
        return None
    differences = [
        difference(name, found[base], found[name], clean=(listed[base].clean, listed[name].clean))
        for name in odd
        if name in found
    ]
    return Divergence(
        index=step.index,
        action=step.verb,
        base=base,
        odd=odd,
        differences=[one for one in differences if one],
        errors={name: f"{one.code}: {one}" for name, one in failed.items()},
    )
