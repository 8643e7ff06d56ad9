"""The result of a self-test: a row for each action, as text and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from orchestrator.cli.log import table

State = Literal["ok", "failed", "left out", "not run"]
_HEAD = ("ACTION", "MS", "RESULT")


@dataclass(frozen=True, slots=True)
class CheckRow:
    """An action of a self-test.

    Attributes:
        action: The tools that were called.
        state: `left out` is what cannot be tested there, `not run` what an earlier failure prevented.
        said: What was found, or the reason.
        ms: How long it took; None if it was not run.
        hint: What to do next.
        code: The code of the error.
    """

    action: str
    state: State
    said: str = ""
    ms: int | None = None
    hint: str = ""
    code: str = ""

    def cells(self) -> tuple[str, str, str]:
        """Return the row as text."""
        text = " ".join(filter(None, (self.said, self.hint)))
        result = f"{self.state}: {text}" if text else self.state
        return self.action, "" if self.ms is None else str(self.ms), " ".join(result.split())

    def data(self) -> dict[str, Any]:
        """Return the row as JSON data, without what is empty."""
        return {name: value for name, value in asdict(self).items() if value not in {None, ""}}


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A self-test.

    Attributes:
        name: The browser or provider that was tested.
        about: Facts for whoever reads it: versions, the platform, the date.
        rows: Its actions, in order.
        seconds: How long it took.
    """

    name: str
    about: Mapping[str, str]
    rows: tuple[CheckRow, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """True if no action failed, and none was prevented."""
        return all(row.state in {"ok", "left out"} for row in self.rows)

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        rows = [row.data() for row in self.rows]
        return {"check": self.name, "passed": self.passed, **self.about, "seconds": self.seconds, "actions": rows}

    def lines(self) -> list[str]:
        """Return it as lines of text."""
        about = [f"{name}: {value}" for name, value in self.about.items()]
        rows = table([_HEAD, *(row.cells() for row in self.rows)])
        counts = [
            f"{count} {state}"
            for state in ("ok", "failed", "left out", "not run")
            if (count := sum(row.state == state for row in self.rows))
        ]
        return [
            *about,
            "",
            rows,
            "",
            f"{'Passed' if self.passed else 'Failed'} in {self.seconds} s: {', '.join(counts)}.",
        ]
