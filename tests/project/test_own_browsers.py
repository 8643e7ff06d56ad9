"""The suites in a browser that somebody has: `pytest tests/e2e --on chrome`, `--on edge`, `--on safari`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.system.machine import LocalMachine

pytestmark = [
    pytest.mark.full,
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script"),
]

ROOT = Path(__file__).parents[2]
TESTS = [
    "tests/e2e/seeing/test_seeing.py::test_every_element_in_the_outline_has_a_stable_ref_of_its_own",
    "tests/e2e/providers/test_browsers.py",
]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a run of its own."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    env = {**os.environ, "PYTEST_ADDOPTS": "", **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=200)


def test_tests_on_a_stage_run_in_the_browser_and_others_are_deselected(tmp_path: Path) -> None:
    """The stage's browser is the named one; tests that would start another are not counted."""
    chromium = LocalMachine.this().browser("chrome")
    marked = tmp_path / "was-started"
    program = tmp_path / "google-chrome"
    program.write_text(f'#!/bin/sh\ntouch "{marked}"\nexec "{chromium}" "$@"\n', "utf-8")
    program.chmod(0o700)
    done = run("--on", "chrome", *TESTS, ORCHESTRATOR_CHROME_BINARY=str(program))
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout, done.stdout
    assert "deselected" in done.stdout
    assert marked.exists()


@pytest.mark.skipif(sys.platform == "darwin", reason="Safari is here")
def test_a_run_in_a_browser_that_is_not_here_ends_with_the_reason() -> None:
    """Nothing is skipped as if it had been tried: the run ends, exit code 1."""
    done = run("--on", "safari", *TESTS)
    assert done.returncode == 1, done.stdout
    assert "Safari is not on this machine: orchestrator doctor --check safari" in done.stdout
