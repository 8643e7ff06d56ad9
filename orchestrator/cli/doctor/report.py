"""The doctor's report as text and as data; asks programs for their versions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.system import processes
from orchestrator.system.machine import LocalMachine

State = Literal["ok", "missing", "wrong", "note"]
_PATIENCE = 10.0
"""Seconds that a program may take to print its version."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, with a fix; `starts` is True if a session can start with what was found."""

    name: str
    state: State
    said: str
    mend: str = ""
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """The findings of one area."""

    name: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    sections: tuple[Section, ...]
    startable: bool

    def data(self) -> dict[str, Any]:
        """Return it as JSON data."""
        sections = {
            section.name: [
                {name: value for name, value in asdict(finding).items() if name != "starts"}
                for finding in section.findings
            ]
            for section in self.sections
        }
        return {"startable": self.startable, "sections": sections}

    def lines(self) -> list[str]:
        """Return it as lines of text."""
        lines = []
        for section in self.sections:
            lines.append(section.name)
            for finding in section.findings:
                lines.append(f"  {finding.state:8}{finding.name}: {finding.said}")
                lines += [f"          Fix: {finding.mend}"] if finding.mend else []
        verdict = "A browser session can start." if self.startable else "No browser session can start."
        return [*lines, verdict]


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """The output of a program, or the reason why there is none."""

    text: str
    problem: str = ""

    @property
    def version(self) -> str:
        """The first version in the output, or an empty string."""
        found = _VERSION.search(self.text)
        return found[0] if found else ""

    @property
    def major(self) -> str:
        """The major version, which browser and driver must share."""
        return self.version.partition(".")[0]


def run_program(machine: LocalMachine, program: Path, *arguments: str) -> ProgramAnswer:
    """Run a program that answers and ends, within a few seconds."""
    output = processes.run_program(program, *arguments, environ=machine.environ, timeout=_PATIENCE)
    if output.problem:
        return ProgramAnswer("", f"it {output.problem}")
    # Warnings of a wrapper script come on the other stream, and so does java's version.
    return ProgramAnswer(output.text if output.text.strip() else output.errors)


def version(machine: LocalMachine, program: Path) -> ProgramAnswer:
    """Return a program's version; that of a browser on Windows, which would open a window, is a folder's name."""
    if machine.system == "win32" and program.name in {"chrome.exe", "msedge.exe", "firefox.exe"}:
        names = sorted(path.name for path in program.parent.iterdir() if _VERSION.fullmatch(path.name))
        return ProgramAnswer(names[-1]) if names else ProgramAnswer("", "its version is unknown")
    return run_program(machine, program, "-version" if program.stem == "java" else "--version")


def versions(machine: LocalMachine, programs: Iterable[Path]) -> Mapping[Path, ProgramAnswer]:
    """Return the versions of these programs, which are asked at the same time."""
    unique = list(dict.fromkeys(programs))
    return dict(zip(unique, side_by_side([lambda path=path: version(machine, path) for path in unique]), strict=True))  # type: ignore[misc]


def side_by_side(work: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call these at the same time; returns their results in order."""
    with ThreadPoolExecutor(max(len(work), 1)) as threads:
        return list(threads.map(lambda call: call(), work))
