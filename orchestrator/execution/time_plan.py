"""Plans which steps of a call are timed, and from which others."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.actions.waits import Expect
from orchestrator.errors import InvalidArgument
from orchestrator.execution.sequence import PlannedStep, errors_of_step
from orchestrator.execution.timing import Moments, StepKey, StepTiming, WatchedStep
from orchestrator.models.identifiers import split_claim


@dataclass(frozen=True)
class PlacedStep:
    """A planned step, and the session that it is for, if the call names it."""

    key: StepKey
    session_id: str | None
    step: PlannedStep

    def answers_to(self, name: str) -> bool:
        """True if `name` is that of the step, alone or after its session's."""
        if not self.step.label or name == self.step.label:
            return name == self.step.label
        sessions = {self.session_id, split_claim(self.session_id)[0]} if self.session_id else set()
        return any(name == f"{session}/{self.step.label}" for session in sessions)


class TimePlan:
    """The timed steps of a call.

    Attributes:
        moments: The moments of its steps, as they come to be known.
        watched: The expectations that are timed, by their keys.
    """

    def __init__(self, steps: Sequence[PlacedStep]) -> None:
        """Find for each expectation with `within` the step that it is timed from.

        Raises:
            InvalidArgument: There is none or several of that name, or it comes later in the same list.
        """
        call = secrets.token_hex(4)
        self.watched: dict[StepKey, WatchedStep] = {}
        for place, one in enumerate(steps):
            within, expect = one.step.within, one.step.action
            if within is not None and isinstance(expect, Expect):
                with errors_of_step(one.key[1]):
                    of = _find(within.of, one.key, steps)
                self.watched[one.key] = WatchedStep(f"{call}-{place}", one.key[1], of, within, expect)
        watchers: dict[StepKey, set[str]] = {}
        for key, watched in self.watched.items():
            watchers.setdefault(watched.of, set()).add(key[0])
        self.moments = Moments({of: frozenset(sessions) for of, sessions in watchers.items()})

    def make_timing(self, session: str, indexes: Iterable[int]) -> StepTiming:
        """Return the timing of these steps of a session's list."""
        here = {*indexes}
        watched = {index: one for (owner, index), one in self.watched.items() if owner == session and index in here}
        marked = {of[1] for of in (one.of for one in self.watched.values()) if of[0] == session and of[1] in here}
        return StepTiming(session, self.moments, watched, frozenset(marked))

    def timed_from(self, indexes: Iterable[int]) -> list[WatchedStep]:
        """Return the expectations that are timed from these steps of the only list."""
        here = {*indexes}
        return [one for one in self.watched.values() if one.of[1] in here]


def _find(name: str, expecting: StepKey, steps: Sequence[PlacedStep]) -> StepKey:
    """Return the key of the step of this name, from which an expectation is timed."""
    found = [one.key for one in steps if one.answers_to(name)]
    if len(found) > 1:
        raise InvalidArgument(f"within: several steps are named {name!r}.", hint='Write "SESSION/NAME".')
    if not found:
        raise InvalidArgument(f"within: no step is named {name!r}.", hint='Give one "name".')
    if found[0][0] == expecting[0] and found[0][1] >= expecting[1]:
        raise InvalidArgument(f"within: step {name!r} does not come before it.", hint="Put it before the expect.")
    return found[0]
