"""Projects of users of the plug-in, whose tests run in a pytest of their own."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.harness import Home
from tests.servers.site import Site
from tests.waiting import until

ROOT = Path(__file__).parents[2]
_numbers = itertools.count(1)


@dataclass(frozen=True)
class PytestRun:
    """A run of pytest that has ended: its exit code and its output."""

    code: int
    text: str

    def counts(self) -> dict[str, int]:
        """The numbers of the last line, such as `{"passed": 2}`."""
        return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", self.text.strip().splitlines()[-1])}

    def ways(self, user: str, kind: str = "browser") -> dict[str, str]:
        """The lines of the report by which a user's session of this type is taken over: here, anywhere, agent."""
        lines = self.text.splitlines()
        first = lines.index(f"{user} ({kind}):")
        said = (line.partition(":") for line in lines[first + 1 : first + 4])
        return {way.strip(): words.strip() for way, _, words in said}


class Project:
    """A folder with tests, and a home for the sessions of its runs.

    Attributes:
        folder: Its folder.
        home: The home.
        python: The Python that runs pytest.
    """

    def __init__(self, folder: Path, home: Home) -> None:
        self.folder = folder
        self.home = home
        self.python = Path(sys.executable)
        self.environment = {"ORCHESTRATOR_HOME": str(home.folder), "CI": "", "COLUMNS": "160"}
        self.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n")

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        (self.folder / name).write_text(text, "utf-8")

    def run(self, *words: str, patience: float = 100) -> PytestRun:
        """Run pytest in it, without a plug-in that each process would load for a second and not use."""
        done = subprocess.run(
            [
                str(self.python),
                "-m",
                "pytest",
                "-p",
                "no:hypothesispytest",
                "--basetemp",
                str(self.folder / ".tmp"),
                *words,
            ],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
        return PytestRun(done.returncode, done.stderr + done.stdout)  # whose last line is about all

    def paste(self, command: str) -> str:
        """Run a line of a report in a shell of another process; return what it prints."""
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env={**os.environ, **self.environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def close_kept(self, *commands: str) -> None:
        """End all sessions that a run kept, of which lines of its report name some."""
        for namespace in {shlex.split(command)[-1] for command in commands}:
            self.paste(f"orchestrator close-sessions --all --namespace {namespace}")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project of the test's own; every browser of its runs is gone at the end."""
    with opened_project(tmp_path) as project:
        yield project


@contextmanager
def opened_project(folder: Path) -> Iterator[Project]:
    """Open a project with a home of its own; at the end wait until every browser of its runs is gone."""
    # Beside the run's home, as a browser's socket must have a short path.
    place = Path(os.environ["ORCHESTRATOR_HOME"]).with_name(f"p{next(_numbers)}")
    place.mkdir()
    home = Home(place)
    yield Project(folder, home)
    until(home.is_clean, "the end of the browsers")


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site of this test's own."""
    with Site() as site:
        yield site


@pytest.fixture(scope="session")
def new_environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that installs the wheel with its extra `bdd`, and what else is named; it returns the Python."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")

    def install(*others: str) -> Path:
        venv = tmp_path_factory.mktemp("environment")
        _run(sys.executable, "-m", "venv", "--without-pip", venv)
        pip = [sys.executable, "-m", "pip", "--python", venv, "install", "--quiet", "--no-compile"]
        _run(*pip, f"{wheel}[bdd]", *others)
        return venv / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    return install


def _run(*command: object) -> None:
    """Run a command that must succeed."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
