"""The workflow files for GitHub: valid by their schema, honest about not having been run, with commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.cli.doctor.check.target import choose_target
from tests.project.test_completeness import options

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OF_A_TARGET = ("--platform", "--browser", "--options", "--capabilities")

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def jobs(file: Path) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    found: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))["jobs"]
    return found


def runs(file: Path) -> Iterator[list[str]]:
    """Yield the words of each command of ours in a workflow, once for each browser of its matrix."""
    for job in jobs(file).values():
        matrix = job.get("strategy", {}).get("matrix", {})
        browsers = [*matrix.get("browser", [""]), *(one["browser"] for one in matrix.get("include", []))]
        for step in job["steps"]:
            script = f"{step.get('run', '')}\n{step.get('with', {}).get('script', '')}"
            for line in script.splitlines():
                for browser in browsers if line.startswith(("orchestrator ", "python -m pytest ")) else ():
                    yield shlex.split(line.replace("${{ matrix.browser }}", browser))


def test_every_workflow_is_valid_by_its_schema() -> None:
    """GitHub would read each file: its keys, their types and places are those of a workflow."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, FILES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {file.name for file in FILES} == {"browsers.yml", "phones.yml"}


@each_file
def test_a_workflow_says_that_it_was_not_run(file: Path) -> None:
    """The first words of the file are for people who would take it as proof."""
    assert file.read_text("utf-8").startswith("# Not run: ")


def test_the_workflows_cover_every_browser_on_every_system() -> None:
    """Ubuntu, macOS and Windows with Chrome, Edge and Firefox; Safari; an emulator and a simulator."""
    matrix = jobs(ROOT / ".github" / "workflows" / "browsers.yml")["browser"]["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["browser"] == ["chrome", "edge", "firefox"]
    assert matrix["include"] == [{"os": "macos-latest", "browser": "safari"}]
    assert [*jobs(ROOT / ".github" / "workflows" / "phones.yml")] == ["android", "ios"]


@each_file
def test_a_workflow_installs_before_it_runs_a_self_test(file: Path) -> None:
    """Every job installs the package and runs the doctor's self-test."""
    for job in jobs(file).values():
        text = yaml.safe_dump(job["steps"])
        assert 0 < text.index("python -m pip install") < text.index("orchestrator doctor --check")


@each_file
def test_the_commands_of_a_workflow_exist(file: Path) -> None:
    """The options are those of the command, and what they name can be tested."""
    found = list(runs(file))
    assert found
    for words in found:
        if words[0] != "orchestrator":
            continue
        given = {word for word in words if re.match("--[a-z]", word)}
        assert given <= options(words[1]), words
        if "--check" in words:
            pairs = dict(pairwise(words))
            plain = {name[2:]: pairs[name] for name in OF_A_TARGET[:2] if name in pairs}
            listed = {name[2:]: [pairs[name]] for name in OF_A_TARGET[2:] if name in pairs}
            assert choose_target(pairs["--check"], **plain, **listed).provider in {"local", "appium"}  # type: ignore[arg-type]
