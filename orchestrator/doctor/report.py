"""What the doctor found, as text and as data, and where programs are asked for their versions side by side."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.machine import Machine

State = Literal["ok", "missing", "wrong", "note"]
_PATIENCE = 10.0
"""Seconds that one program may take to tell its version."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it stands, and what mends it; `starts` says that a session can start by it."""

    name: str
    state: State
    said: str
    mend: str = ""
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """What belongs together."""

    name: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All of it."""

    sections: tuple[Section, ...]
    startable: bool

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        sections = {
            section.name: [
                {name: value for name, value in asdict(one).items() if name != "starts"} for one in section.findings
            ]
            for section in self.sections
        }
        return {"startable": self.startable, "sections": sections}

    def lines(self) -> list[str]:
        """As text."""
        lines = []
        for section in self.sections:
            lines.append(section.name)
            for one in section.findings:
                lines.append(f"  {one.state:8}{one.name}: {one.said}")
                lines += [f"          To mend it: {one.mend}"] if one.mend else []
        verdict = "A browser session can start." if self.startable else "No browser session can start."
        return [*lines, verdict]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a program said when it was asked."""

    text: str
    problem: str = ""

    @property
    def version(self) -> str:
        """The first version in it; empty when there is none."""
        found = _VERSION.search(self.text)
        return found[0] if found else ""

    @property
    def major(self) -> str:
        """The part of the version that browser and driver have in common."""
        return self.version.partition(".")[0]


def ask(machine: Machine, program: Path, *arguments: str) -> Asked:
    """Run a program that answers and ends; one that does not is told, never waited for."""
    try:
        done = subprocess.run(
            [str(program), *arguments],
            env=dict(machine.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Asked("", f"it did not answer within {_PATIENCE:g} s")
    except OSError as error:
        return Asked("", f"it cannot be run ({error.strerror})")
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[:200]
        return Asked("", f"it ended with {done.returncode}{': ' if said else ''}{said}")
    # What a wrapper script complains of comes on the other stream, and java answers there.
    return Asked(done.stdout if done.stdout.strip() else done.stderr)


def version(machine: Machine, program: Path) -> Asked:
    """A program's version. Browsers of Windows would open a window: theirs is the name of a folder beside them."""
    if machine.system == "win32" and program.name in {"chrome.exe", "msedge.exe", "firefox.exe"}:
        names = sorted(one.name for one in program.parent.iterdir() if _VERSION.fullmatch(one.name))
        return Asked(names[-1]) if names else Asked("", "its version is not known")
    return ask(machine, program, "-version" if program.stem == "java" else "--version")


def versions(machine: Machine, programs: Iterable[Path]) -> Mapping[Path, Asked]:
    """The versions of these programs, asked for side by side."""
    unique = list(dict.fromkeys(programs))
    return dict(zip(unique, side_by_side([lambda one=one: version(machine, one) for one in unique]), strict=True))  # type: ignore[misc]


def side_by_side(work: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do these at the same time; their results in order."""
    with ThreadPoolExecutor(max(len(work), 1)) as threads:
        return list(threads.map(lambda one: one(), work))
