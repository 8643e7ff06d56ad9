"""The meeting points of sequences that run side by side, and what came of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from pydantic import ConfigDict, Field, model_validator

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import OrchestratorError, TimedOut
from orchestrator.lockstep import Divergence, Lockstep
from orchestrator.models import Wire
from orchestrator.sequence import Alone, Options, PlannedStep, SequenceResult, Step, error_data

_GLANCE = 0.25
"""Seconds between looks at whether a waiting sequence was cancelled."""
_LEAST = 2
"""Sessions that can differ."""


class Part(Wire):
    """For one session or several."""

    session_id: str | None = None
    session_ids: list[str] = Field(default_factory=list)
    actions: list[Step] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _one_of_both(self) -> Part:
        if bool(self.session_id) == bool(self.session_ids):
            raise ValueError("give either sessionId or sessionIds")
        return self

    @property
    def ids(self) -> list[str]:
        """The sessions that it runs on."""
        return [self.session_id] if self.session_id else self.session_ids


class ExecuteParallel(Options):
    """Run one sequence a session, side by side; {action: sync, name} makes them wait for each other."""

    sequences: list[Part] = Field(min_length=1, max_length=50)
    lockstep: bool = Field(default=False, description="One list on all, step by step.")

    @model_validator(mode="after")
    def _one_list(self) -> ExecuteParallel:
        if self.lockstep and (len(self.sequences) > 1 or len(self.sequences[0].ids) < _LEAST):
            raise ValueError("lockstep takes one sequence with at least two sessionIds")
        return self


class ParallelResult(Outcome):
    """What came of each session's sequence."""

    results: dict[str, dict[str, Any]]
    divergence: Divergence | None = None
    wall_ms: int
    sequences: dict[str, SequenceResult | OrchestratorError] = Field(exclude=True, repr=False)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def failure(self) -> OrchestratorError | None:
        """An error only if all sequences failed: then the first one's."""
        errors = [one if isinstance(one, OrchestratorError) else one.failure() for one in self.sequences.values()]
        return errors[0] if all(errors) else None

    def lines(self) -> list[str]:
        """Each session's result under its name."""
        lines = [f"{len(self.sequences)} sequences in {self.wall_ms} ms."]
        lines += self.divergence.lines() if self.divergence else []
        for session_id, one in self.sequences.items():
            said = [f"{one.code}: {one}"] if isinstance(one, OrchestratorError) else one.render().splitlines()
            lines += [f"{session_id}:", *(f"  {line}" for line in said)]
        return lines


def result_data(one: SequenceResult | OrchestratorError) -> dict[str, Any]:
    """A sequence's result as data; one that never began has completed nothing."""
    if isinstance(one, OrchestratorError):
        return {"completed": one.details.get("completed", 0), "stateChange": None, "error": error_data(one)}
    error = one.failure()
    return {**one.data(), **({"error": error_data(error)} if error else {})}


class Meeting:
    """The barriers of one call. A sequence that ended can be waited for no longer."""

    def __init__(self, plans: dict[str, list[PlannedStep]]) -> None:
        self._turned = threading.Condition()
        self._arrived: dict[tuple[str, int], set[str]] = {}
        self._ended: set[str] = set()
        self._expected: dict[tuple[str, int], set[str]] = {}
        for session_id, steps in plans.items():
            for point in _meetings(steps):
                self._expected.setdefault(point, set()).add(session_id)

    def of(self, session_id: str) -> Participant:
        """One session's side of it."""
        return Participant(self, session_id)

    def end(self, session_id: str, error: OrchestratorError | None = None) -> None:  # noqa: ARG002 (as Lockstep.end)
        """This session's sequence is over, whether it met everybody or not."""
        with self._turned:
            self._ended.add(session_id)
            self._turned.notify_all()

    def arrive(self, session_id: str, point: tuple[str, int], scene: Scene, deadline: Deadline) -> None:
        """Wait at a point until everybody who has it is there."""
        with self._turned:
            here = self._arrived.setdefault(point, set())
            here.add(session_id)
            self._turned.notify_all()
            while missing := self._expected[point] - here:
                gone = missing & self._ended
                if gone or not deadline.left:
                    raise _never_met(point[0], gone or missing, ended=bool(gone))
                scene.check()
                self._turned.wait(min(_GLANCE, deadline.left))


class Participant(Alone):
    """One sequence's side of a meeting; the same name may be met at several times."""

    def __init__(self, meeting: Meeting, session_id: str) -> None:
        self._meeting = meeting
        self._session_id = session_id
        self._met: dict[str, int] = {}

    def arrive(self, name: str, scene: Scene, deadline: Deadline) -> None:
        """Wait until all sequences that have this step are there."""
        nth = self._met[name] = self._met.get(name, 0) + 1
        self._meeting.arrive(self._session_id, (name, nth), scene, deadline)


def _meetings(steps: list[PlannedStep]) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    found = []
    for step in steps:
        if step.action is None:
            seen[step.name] = seen.get(step.name, 0) + 1
            found.append((step.name, seen[step.name]))
    return found


def _never_met(name: str, missing: set[str], *, ended: bool) -> TimedOut:
    who = ", ".join(sorted(missing))
    why = "ended before it got there" if ended else "did not get there in time"
    return TimedOut(f"sync {name!r}: {who} {why}.", hint="Look at that session's own result.", missing=sorted(missing))


async def gathered(
    work: Mapping[str, Callable[[], Awaitable[SequenceResult]]], meeting: Meeting | Lockstep
) -> ParallelResult:
    """Run them all at once; each one's result, or the error for which it has none."""
    started = time.monotonic()
    found: dict[str, SequenceResult | OrchestratorError] = {}

    async def one(session_id: str) -> None:
        try:
            found[session_id] = await work[session_id]()
        except OrchestratorError as error:
            found[session_id] = error
        finally:
            ended = found.get(session_id)
            meeting.end(session_id, ended if isinstance(ended, OrchestratorError) else None)

    async with anyio.create_task_group() as group:
        for session_id in work:
            group.start_soon(one, session_id)
    ordered = {session_id: found[session_id] for session_id in work}
    return ParallelResult(
        results={session_id: result_data(one) for session_id, one in ordered.items()},
        divergence=meeting.divergence if isinstance(meeting, Lockstep) else None,
        wall_ms=round((time.monotonic() - started) * 1000),
        sequences=ordered,
    )
