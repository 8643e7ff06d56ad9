"""A plug-in of pytest that writes the outcome of a run to a file, for tests/decide.py."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Outcome:
    """The outcome of a run of pytest.

    Attributes:
        passed: The ids of the tests that passed.
        failed: The ids of the tests that failed, each with what its first failure says, and a line for each failure.
        uncollected: Files that could not be collected, each with the error.
        leaks: Leftovers of processes in which every test passed.
        excused_leaks: Leftovers of processes in which a test failed.
    """

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    uncollected: dict[str, str] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    excused_leaks: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Outcome | None:
        """Return what a run wrote; None if it ended before it did."""
        return cls(**json.loads(file.read_text("utf-8"))) if file.exists() else None


class OutcomeRecorder:
    """Records the outcome of this run; the controller of pytest-xdist hears of the tests of all its workers."""

    def __init__(self) -> None:
        self.outcome = Outcome()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that does not import."""
        if report.failed:
            self.outcome.uncollected[report.nodeid] = report.longreprtext

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a step of a test: it passed if its call passed, and failed if any step of it did."""
        if report.failed:
            before = self.outcome.failed.get(report.nodeid, report.longreprtext)
            self.outcome.failed[report.nodeid] = f"{before}\n{_line(report)}"
        elif report.passed and report.when == "call":
            self.outcome.passed.append(report.nodeid)

    def add_leaks(self, leaks: list[str], *, failed: bool) -> None:
        """Add the leftovers of a process; they may be those of a test that `failed` in it."""
        (self.outcome.excused_leaks if failed else self.outcome.leaks).extend(leaks)

    def all_leaks(self) -> list[str]:
        """Return all leftovers."""
        return self.outcome.leaks + self.outcome.excused_leaks

    def write(self, file: Path) -> None:
        """Write the outcome."""
        content: dict[str, Any] = asdict(self.outcome)
        content["passed"] = [test for test in self.outcome.passed if test not in self.outcome.failed]
        file.write_text(json.dumps(content), "utf-8")


def _line(report: pytest.TestReport) -> str:
    """Return one line on a failure: the name of the test, and of the subtest, and what was raised."""
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message.splitlines()[0] if crash else report.longreprtext.splitlines()[-1]
    return f"{report.head_line}: {said}"
