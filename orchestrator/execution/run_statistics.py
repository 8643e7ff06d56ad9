"""Statistics of repeated runs, and the number of a run in its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from pydantic import Field

from orchestrator.errors import OrchestratorError
from orchestrator.execution.parallel import ParallelResult
from orchestrator.execution.sequence import SequenceResult, Step
from orchestrator.execution.timing import StepKey
from orchestrator.models.session import Wire

RUN = "{{run}}"
"""Stands in a step for the number of the run, from 1 on."""
_MEDIAN, _HIGH = 0.5, 0.95


class Spread(Wire):
    """Times of several runs in milliseconds: the least, the median, the 95th percentile, the most."""

    min: float
    p50: float
    p95: float
    max: float

    @classmethod
    def of(cls, times: Sequence[float]) -> Spread:
        """Return the spread of at least one time; percentiles are times that occurred (nearest rank)."""
        ordered = sorted(times)
        median, high = (ordered[ceil(share * len(ordered)) - 1] for share in (_MEDIAN, _HIGH))
        return cls(min=ordered[0], p50=median, p95=high, max=ordered[-1])

    def line(self) -> str:
        """The spread as text."""
        return f"{self.min:.0f} … {self.p50:.0f} (median) … {self.p95:.0f} (95 %) … {self.max:.0f} ms"


class Runs(Wire):
    """The statistics of several runs.

    Attributes:
        count: How many ran, with the one that failed.
        late: How many of them failed only since something came too late.
        seed: The seed of the order that failed, or of the last one.
        order: That order, as `session index`.
        duration_ms: Of each run.
        latency_ms: By `session index after step`.
    """

    count: int
    late: int = 0
    seed: int | None = None
    order: list[str] | None = None
    duration_ms: Spread
    latency_ms: dict[str, Spread] = Field(default_factory=dict)

    def again(self) -> str:
        """The hint that runs the last order again."""
        order = ", ".join(self.order or ())
        return f'Order: {order}. Again: interleave {{"seed": {self.seed}, "tries": 1}}.'

    def lines(self) -> list[str]:
        """The runs as text."""
        late = f", {self.late} of them too late" if self.late else ""
        lines = [f"{self.count} runs{late}: {self.duration_ms.line()}."]
        lines += [self.again()] if self.seed is not None else []
        lines += [f"Latency of {name}: {spread.line()}." for name, spread in self.latency_ms.items()]
        return lines


class RunLog:
    """Collects the times of runs."""

    def __init__(self) -> None:
        self._durations: list[float] = []
        self._latencies: dict[str, list[float]] = {}
        self._late = 0

    def note(self, result: ParallelResult) -> bool:
        """Note a run; False if it failed, and that not only since something came too late."""
        self._durations.append(result.wall_ms)
        for session, one in result.sequences.items():
            for latency in (one.latencies or ()) if isinstance(one, SequenceResult) else ():
                name = f"{session} {latency.index} after {latency.of}"
                self._latencies.setdefault(name, []).append(latency.latency_ms)
        failures = [*result.failures()]
        self._late += bool(failures)
        return all(map(_is_late, failures))

    def summary(self, seed: int | None, order: Iterable[StepKey]) -> Runs:
        """Summarise the runs; `seed` and `order` are those of the last one."""
        return Runs(
            count=len(self._durations),
            late=self._late,
            seed=seed,
            order=[f"{session} {index}" for session, index in order] or None,
            duration_ms=Spread.of(self._durations),
            latency_ms={name: Spread.of(times) for name, times in self._latencies.items()},
        )


def _is_late(error: OrchestratorError) -> bool:
    actual = error.details.get("actual")
    return isinstance(actual, Mapping) and "latencyMs" in actual


def number_steps(steps: Sequence[Step], run: int) -> list[Step]:
    """Return the steps of a run, with its number in place of `{{run}}`."""
    return [_number(step, run) for step in steps]


def _number(value: Any, run: int) -> Any:
    if isinstance(value, str):
        return value.replace(RUN, str(run))
    if isinstance(value, list):
        return [_number(item, run) for item in value]
    if isinstance(value, Mapping):
        return {name: _number(item, run) for name, item in value.items()}
    return value
