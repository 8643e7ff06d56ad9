"""Runs the tests that decide whether a change is taken, and those that failed once more, alone.

Usage: `python -m tests.decide` runs the tier required here, and its smoke tests on WebKitGTK and a Grid. With arguments
of pytest it makes one run of those instead. Exit code 0: every test passed, at least when tried again.

One to five failed tests are tried again, each run's in one process. Nothing else is: no crash, no file that does not
import, no leftovers where every test passed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.outcome import Outcome

MOST_TRIED_AGAIN = 5
LAST_LINES = 40
"""Lines of a failure that are repeated at the end."""

ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
"""Exit statuses of a run that came to its end."""

SIDE_BY_SIDE = ("--numprocesses", "2", "--dist", "loadfile", "--no-loadscope-reorder")
DECIDING = (
    ("--tier", "required", *SIDE_BY_SIDE),
    ("tests/e2e", "-m", "smoke and core", "--on", "webkitgtk"),
    ("tests/e2e", "-m", "smoke and core", "--on", "grid"),
)


@dataclass
class Run:
    """A run of pytest that has ended.

    Attributes:
        arguments: Arguments of pytest.
        status: Its exit status.
        outcome: What it wrote; None if it ended before it did.
        unstable: Its failed tests that passed when tried again.
    """

    arguments: Sequence[str]
    status: int
    outcome: Outcome | None
    unstable: set[str] = field(default_factory=set)

    @property
    def failed(self) -> dict[str, str]:
        """The tests that failed, each with its first failure."""
        return self.outcome.failed if self.outcome else {}

    @property
    def place(self) -> Sequence[str]:
        """The argument `--on`, if it was given."""
        if "--on" not in self.arguments:
            return ()
        at = self.arguments.index("--on")
        return self.arguments[at : at + 2]

    def flaws(self) -> Iterator[str]:
        """Yield what no second try excuses."""
        if self.status not in ENDED:
            yield f"FAILED: pytest {' '.join(self.arguments)} ended with exit status {self.status}"
        elif self.outcome is None:
            yield f"FAILED: pytest {' '.join(self.arguments)} ended before it wrote its outcome"
        elif self.status == pytest.ExitCode.TESTS_FAILED and not (self.failed or self.outcome.leaks):
            yield f"FAILED: pytest {' '.join(self.arguments)} failed without a failed test"
        if self.outcome:
            for file, error in self.outcome.uncollected.items():
                yield f"ERROR {file} cannot be collected\n{_end_of(error)}"
            yield from (f"left behind where every test passed: {leak}" for leak in self.outcome.leaks)


def main(arguments: Sequence[str]) -> int:
    """Make the deciding runs, or the one with these arguments; return the exit code."""
    return make_runs([arguments] if arguments else DECIDING)


def make_runs(wanted: Iterable[Sequence[str]]) -> int:
    """Make runs with these arguments of pytest, try again what failed, say what came of it; return the exit code."""
    runs: list[Run] = []
    for arguments in wanted:
        runs.append(run(arguments))
        if runs[-1].status not in ENDED:
            break
    flaws = [flaw for one in runs for flaw in one.flaws()]
    number = sum(len(one.failed) for one in runs)
    if not flaws and 0 < number <= MOST_TRIED_AGAIN:
        print(f"== {number} failed and are tried again, alone", flush=True)
        for one in (one for one in runs if one.failed):
            one.unstable = try_again(one)
    print("== outcome")
    for line in [*flaws, *report(runs)]:
        print(line)
    return int(bool(flaws) or any(one.failed.keys() - one.unstable for one in runs))


def run(arguments: Sequence[str]) -> Run:
    """Run pytest; what it prints goes to the terminal."""
    with tempfile.TemporaryDirectory(prefix="outcome-") as folder:
        file = Path(folder) / "outcome.json"
        command = [sys.executable, "-m", "pytest", *arguments, "--outcome", str(file)]
        with subprocess.Popen(command) as process:
            try:
                status = process.wait()
            except KeyboardInterrupt:  # pytest gets it, too, and ends its tests
                status = process.wait()
        return Run(arguments, status, Outcome.read(file))


def try_again(first: Run) -> set[str]:
    """Run the failed tests of a run in one process; return them if they are exactly what passes, else none."""
    tests = set(first.failed)
    second = run(["--numprocesses", "0", *first.place, *sorted(tests)])
    passed = second.outcome is not None and set(second.outcome.passed) == tests
    return tests if passed and second.status == pytest.ExitCode.OK else set()


def report(runs: Iterable[Run]) -> Iterator[str]:
    """Yield what was unstable and what failed, each with the end of its first failure, and what was left behind."""
    for one in runs:
        where = f" ({' '.join(one.place)})" if one.place else ""
        for test, failure in one.failed.items():
            yield f"{'unstable:' if test in one.unstable else 'FAILED'} {test}{where}\n{_end_of(failure)}"
        for leak in one.outcome.excused_leaks if one.outcome else ():
            yield f"left behind where a test failed: {leak}"


def _end_of(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines()[-LAST_LINES:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
