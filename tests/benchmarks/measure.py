"""Measurement and report: alternating samples of both ways, medians, ratios, goals."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil

OursT = TypeVar("OursT")
ClassicT = TypeVar("ClassicT")


def elapsed(work: Callable[[], object]) -> float:
    """Return the milliseconds that a piece of work takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def in_turns(
    rounds: int, ours: Callable[[], OursT], classic: Callable[[], ClassicT], *, warm_up: int = 2
) -> tuple[list[OursT], list[ClassicT]]:
    """Return alternating samples of both (A B A B), so that drift affects both; the first ones are dropped."""
    pairs = [(ours(), classic()) for _ in range(warm_up + rounds)][warm_up:]
    return [mine for mine, _ in pairs], [theirs for _, theirs in pairs]


def pss(processes: list[psutil.Process]) -> float:
    """Return the processes' proportional set size in MB (Linux only); one that has just ended counts as 0."""
    kilobytes = 0
    for process in processes:
        with suppress(OSError):
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii")
            kilobytes += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return kilobytes / 1024


@dataclass(frozen=True)
class Figure:
    """A row of the table.

    The goal is a maximum of the ratio of the medians, or of the median itself without classic samples.
    """

    name: str
    ours: Sequence[float]
    classic: Sequence[float] = ()
    goal: float | None = None
    unit: str = "ms"

    @property
    def median(self) -> float:
        """The median of our samples."""
        return statistics.median(self.ours)

    @property
    def ratio(self) -> float | None:
        """Our median divided by that of the classic way."""
        return self.median / statistics.median(self.classic) if self.classic else None

    @property
    def met(self) -> bool | None:
        """True if the goal is reached, None without a goal."""
        judged = self.median if self.ratio is None else self.ratio
        return None if self.goal is None else judged <= self.goal

    def cells(self) -> list[str]:
        """The row's cells."""
        goal = "" if self.goal is None else f"≤ {self.goal:g}" + ("" if self.classic else f" {self.unit}")
        return [
            self.name,
            f"{self.median:.1f} {self.unit}",
            f"{statistics.median(self.classic):.1f} {self.unit}" if self.classic else "",
            "" if self.ratio is None else f"{self.ratio:.2f}",
            goal,
            "" if self.met is None else "met" if self.met else "MISSED",
            str(len(self.ours)),
        ]

    def data(self) -> dict[str, Any]:
        """The row as JSON data, with every sample."""
        return {
            "name": self.name,
            "unit": self.unit,
            "ours": {"median": self.median, "samples": list(self.ours)},
            "classic": {"median": statistics.median(self.classic), "samples": list(self.classic)}
            if self.classic
            else None,
            "ratio": self.ratio,
            "goal": self.goal,
            "met": self.met,
        }


HEAD = ["figure", "ours", "classic", "ratio", "goal", "", "samples"]


def table(figures: Iterable[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = [HEAD, *(figure.cells() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [f"| {' | '.join(_aligned(row, widths))} |" for row in rows]
    rule = f"|{'|'.join('-' * (width + 1) + ('-' if column == 0 else ':') for column, width in enumerate(widths))}|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = zip(row, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
