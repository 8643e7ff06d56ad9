"""Parallel sequences, and the `sync` steps at which they wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pydantic import ConfigDict, Field, model_validator

from orchestrator.automation.scene import Scene
from orchestrator.errors import OrchestratorError, TimedOut
from orchestrator.execution.lockstep import Divergence
from orchestrator.execution.sequence import (
    NoBarrier,
    PlannedStep,
    SequenceOptions,
    SequenceResult,
    Step,
    StepBarrier,
    error_data,
)
from orchestrator.models.results import Outcome, Quote, quote_lines
from orchestrator.models.session import Wire
from orchestrator.system.deadline import Deadline

_START = "Instead of sessionId: as start_browser, or with platform or provider as other starts."
_LOCKSTEP_LEAST = 2
"""Sessions that lockstep needs at least."""


class ParallelPart(Wire):
    """The steps of one session, of several that run the same list, or of one that is started for them."""

    session_id: str | None = None
    session_ids: list[str] = Field(default_factory=list)
    start: dict[str, Any] | None = Field(default=None, description=_START)
    close: bool = Field(default=False, description="Close it at the end.")
    actions: list[Step] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _one_of_three(self) -> ParallelPart:
        if [bool(self.session_id), bool(self.session_ids), self.start is not None].count(True) != 1:
            raise ValueError("give either sessionId, sessionIds or start")
        return self

    @property
    def ids(self) -> list[str]:
        """The open sessions in which it runs."""
        return [self.session_id] if self.session_id else self.session_ids


class Interleave(Wire):
    """Orders of the steps to try: each of a seed of its own, from `seed` on; without one, from a random seed on."""

    seed: int | None = Field(default=None, ge=0, le=2**53)
    tries: int = Field(default=10, ge=1, le=1_000)


class ExecuteParallel(SequenceOptions):
    """Run one sequence a session, side by side; {action: sync, name} makes them wait for each other."""

    sequences: list[ParallelPart] = Field(min_length=1, max_length=50)
    lockstep: bool = Field(default=False, description="One list on all, step by step.")
    repeat: int = Field(default=1, ge=1, le=1_000)
    interleave: Interleave | None = None

    @model_validator(mode="after")
    def _one_list(self) -> ExecuteParallel:
        if self.lockstep and (len(self.sequences) > 1 or len(self.sequences[0].ids) < _LOCKSTEP_LEAST):
            raise ValueError("lockstep takes one sequence with at least two sessionIds")
        if [self.lockstep, self.repeat > 1, self.interleave is not None].count(True) > 1:
            raise ValueError("give only one of lockstep, repeat and interleave")
        return self


class ParallelResult(Outcome):
    """The results of all sessions' sequences; of the last run, if there were several: `runs` sums them up."""

    results: dict[str, dict[str, Any]]
    divergence: Divergence | None = None
    wall_ms: int
    runs: dict[str, Any] | None = None
    told: list[str] = Field(default_factory=list, exclude=True, repr=False)
    sequences: dict[str, SequenceResult | OrchestratorError] = Field(exclude=True, repr=False)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def failures(self) -> list[OrchestratorError]:
        """The errors of the sequences that failed."""
        errors = [one if isinstance(one, OrchestratorError) else one.failure() for one in self.sequences.values()]
        return [error for error in errors if error is not None]

    def failure(self) -> OrchestratorError | None:
        """An error only if all sequences failed, or one in the order of a seed: then the first one's."""
        errors = self.failures()
        if not errors or (len(errors) < len(self.sequences) and not self._is_ordered):
            return None
        return errors[0]

    @property
    def _is_ordered(self) -> bool:
        return self.runs is not None and "seed" in self.runs

    def lines(self) -> list[str]:
        """Each session's result under its name."""
        lines = [f"{len(self.sequences)} sequences in {self.wall_ms} ms."]
        lines += [*self.told, *(self.divergence.lines() if self.divergence else ())]
        for session_id, one in self.sequences.items():
            said = [f"{one.code}: {one}"] if isinstance(one, OrchestratorError) else one.own_lines()
            said += ["Closed."] if self.results[session_id].get("closed") else []
            lines += [f"{session_id}:", *(f"  {line}" for line in said)]
        return lines

    def quotes(self) -> list[Quote]:
        """Return what differs between the sessions, and what each of their pages wrote."""
        quotes = quote_lines(self.divergence.page_lines()) if self.divergence else []
        for session_id, one in self.sequences.items():
            for quote in one.quotes() if isinstance(one, SequenceResult) else ():
                heading = f"{session_id}, {quote.heading}" if quote.heading else f"{session_id}:"
                quotes.append(replace(quote, heading=heading))
        return quotes


def result_data(one: SequenceResult | OrchestratorError) -> dict[str, Any]:
    """Make the data of a sequence's result, or of the error for which it never ran to an end."""
    if isinstance(one, OrchestratorError):
        return {"completed": one.details.get("completed", 0), "stateChange": None, "error": error_data(one)}
    error = one.failure()
    return {**one.data(), **({"error": error_data(error)} if error else {})}


class BarrierGroup(Protocol):
    """The points at which the sequences of one call wait for each other.

    Attributes:
        divergence: The first step after which not all sessions showed the same; None where they are not compared.
    """

    divergence: Divergence | None

    def make_member(self, session_id: str) -> StepBarrier:
        """Make one sequence's side of it."""
        ...

    def mark_ended(self, session_id: str, error: OrchestratorError | None = None) -> None:
        """Note that a session's sequence has ended, with `error` if it never began or its session was lost."""
        ...


class SyncPoints:
    """The `sync` steps of one call. Sequences that wait for an ended one fail."""

    divergence: Divergence | None = None

    def __init__(self, plans: Mapping[str, list[PlannedStep]]) -> None:
        self._changed = threading.Condition()
        self._arrived: dict[tuple[str, int], set[str]] = {}
        self._ended: set[str] = set()
        self._expected: dict[tuple[str, int], set[str]] = {}
        for session_id, steps in plans.items():
            for point in list_sync_points(steps).values():
                self._expected.setdefault(point, set()).add(session_id)

    def make_member(self, session_id: str) -> SyncPointMember:
        """Make one sequence's side of it."""
        return SyncPointMember(self, session_id)

    def mark_ended(self, session_id: str, error: OrchestratorError | None = None) -> None:  # noqa: ARG002 (the protocol's)
        """Note that a session's sequence has ended."""
        with self._changed:
            self._ended.add(session_id)
            self._changed.notify_all()

    def wait_at(self, session_id: str, point: tuple[str, int], scene: Scene, deadline: Deadline) -> None:
        """Wait at a point until all sequences that have it are there.

        Raises:
            TimedOut: Some did not come in time, or ended before.
        """
        with self._changed:
            here = self._arrived.setdefault(point, set())
            here.add(session_id)
            self._changed.notify_all()
            while missing := self._expected[point] - here:
                ended = missing & self._ended
                if ended or not deadline.seconds_left:
                    raise _never_met(point[0], ended or missing, ended=bool(ended))
                scene.wait_for_change(self._changed, deadline)


class SyncPointMember(NoBarrier):
    """A sequence's side of the `sync` steps; the nth step of a name meets the nth of the others."""

    def __init__(self, points: SyncPoints, session_id: str) -> None:
        self._points = points
        self._session_id = session_id
        self._times_met: dict[str, int] = {}

    def wait_for_others(self, name: str, scene: Scene, deadline: Deadline) -> None:
        """Wait until all sequences that have this step are there."""
        nth = self._times_met[name] = self._times_met.get(name, 0) + 1
        self._points.wait_at(self._session_id, (name, nth), scene, deadline)


def list_sync_points(steps: Sequence[PlannedStep]) -> dict[int, tuple[str, int]]:
    """List the `sync` steps of a sequence by their indexes, each with its name and which one of that name it is."""
    times: dict[str, int] = {}
    points = {}
    for index, step in enumerate(steps):
        if step.action is None:
            times[step.name] = times.get(step.name, 0) + 1
            points[index] = step.name, times[step.name]
    return points


def _never_met(name: str, missing: set[str], *, ended: bool) -> TimedOut:
    who = ", ".join(sorted(missing))
    why = "ended before it got there" if ended else "did not get there in time"
    return TimedOut(f"sync {name!r}: {who} {why}.", hint="Look at that session's own result.", missing=sorted(missing))
