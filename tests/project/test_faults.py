"""What decides does decide: faults planted one at a time in a copy of the project, each noticed by a required test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import FAULTS, ROOT, Fault
from tests.outcome import Outcome
from tests.servers.wheel import copy_checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project."""
    return copy_checkout(tmp_path_factory.mktemp("faults") / "checkout")


@pytest.fixture
def planted(checkout: Path, request: pytest.FixtureRequest) -> Iterator[Fault]:
    """A fault, which is in the copy during the test."""
    fault: Fault = request.param
    file = checkout / fault.file
    sound = file.read_text("utf-8")
    file.write_text(sound.replace(fault.right, fault.wrong), "utf-8")
    yield fault
    file.write_text(sound, "utf-8")


def run(checkout: Path, *tests: str) -> Outcome:
    """Run tests of the tier required in the copy; what they start runs its code, too."""
    packages = os.pathsep.join([str(checkout), str(checkout / "providers")])
    outcome = checkout / "outcome.json"
    outcome.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *tests, "--tier", "required", "--outcome", str(outcome)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": packages},
        capture_output=True,
        text=True,
        check=False,
    )
    found = Outcome.read(outcome)
    assert found is not None, done.stdout + done.stderr
    return found


@pytest.mark.full
@pytest.mark.timeout(600)
def test_without_a_fault_the_tests_pass(checkout: Path) -> None:
    """Otherwise they would show nothing."""
    tests = [fault.noticed_by for fault in FAULTS]
    assert sorted(run(checkout, *tests).passed) == sorted(tests)


@pytest.mark.full
@pytest.mark.parametrize("planted", FAULTS, indirect=True, ids=lambda fault: fault.what)
def test_a_required_test_fails_because_of_a_planted_fault(planted: Fault, checkout: Path) -> None:
    """Run alone; the other tests of its file are not needed to notice it."""
    outcome = run(checkout, planted.noticed_by)
    assert list(outcome.failed) == [planted.noticed_by]


def test_every_fault_can_be_planted() -> None:
    """The text that it changes occurs once."""
    texts = {fault: (ROOT / fault.file).read_text("utf-8") for fault in FAULTS}
    assert [fault.what for fault, text in texts.items() if text.count(fault.right) != 1] == []


def test_the_tests_that_notice_faults_are_required() -> None:
    """They exist, and their tier is the one that decides."""
    tests = [fault.noticed_by for fault in FAULTS]
    command = [sys.executable, "-m", "pytest", "--collect-only", "--tier", "required", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert sorted(line for line in done.stdout.splitlines() if "::" in line) == sorted(tests), done.stdout


def test_the_table_of_faults_lists_each_with_its_test() -> None:
    """The rows of tests/README.md are the faults, in their order."""
    text = (ROOT / "tests" / "README.md").read_text("utf-8")
    rows = [f"| {fault.what} | `{fault.noticed_by.removeprefix('tests/')}` |" for fault in FAULTS]
    assert [line for line in text.splitlines() if ".py::" in line] == rows
