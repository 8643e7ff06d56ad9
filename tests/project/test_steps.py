"""What `.ci/run` hands its commands to: limits, what is shown of a command that hangs, and what stands at the end."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.servers.small_suite import SmallSuite
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and groups of processes are POSIX")

STEPS = Path(__file__).parents[2] / ".ci" / "steps.py"
HANGS = """
import time
from pathlib import Path

def test_hangs():
    Path(__file__).with_name("begun").touch()
    time.sleep(1000)
"""


@pytest.fixture(scope="module")
def steps() -> ModuleType:
    """The program as a module."""
    spec = importlib.util.spec_from_file_location("steps", STEPS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*words: str) -> tuple[int, list[str]]:
    """Run commands, each after its limit; return the exit code and the lines of the output."""
    done = subprocess.run(
        [sys.executable, str(STEPS), "100", *words],
        env={**os.environ, "STEP_GRACE": "0.1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_commands_that_pass_end_with_passed() -> None:
    """Each says its seconds; what says where its outcome begins has that repeated at the end."""
    code, lines = run("50", "echo one", "50", "printf 'two\\n== outcome\\nunstable: x\\n'")
    assert code == 0
    assert lines[0:2] == ["== echo one", "one"]
    assert re.fullmatch(r"== echo one: passed, \d+ s", lines[2])
    assert lines[-2:] == ["unstable: x", "== passed"]


def test_a_failed_command_is_told_at_the_end_with_its_last_lines_and_later_ones_run() -> None:
    """Its last 40 lines stand behind the output of all."""
    code, lines = run("50", "true", "50", "sh -c 'seq 50; exit 3'", "50", "echo three")
    assert code == 1
    assert lines.index("three") < lines.index("== the end of sh -c 'seq 50; exit 3'")
    assert lines[-42:] == [
        "== the end of sh -c 'seq 50; exit 3'",
        *map(str, range(11, 51)),
        "== failed: sh -c 'seq 50; exit 3'",
    ]


def test_nothing_follows_a_failed_first_command() -> None:
    """What could not be installed cannot be tested; the reason stands at the end."""
    code, lines = run("50", "sh -c 'echo no network; exit 2'", "50", "echo two")
    assert code == 1
    assert "two" not in lines
    assert lines[-2:] == ["no network", "== failed: sh -c 'echo no network; exit 2'"]


def test_a_command_that_hangs_is_shown_and_ended_with_what_it_started() -> None:
    """At its limit the processes are listed; what ignores SIGINT is killed, and what it started, too."""
    code, lines = run("50", "true", "1", "sh -c 'trap \"\" INT; sleep 4321 & echo $!; wait'")
    assert code == 1
    assert any(line.endswith("not ended after 1 s") for line in lines)
    assert any("sleep 4321" in line for line in lines[lines.index("== the processes") :])
    child = next(line for line in lines if line.isdigit())
    until(lambda: not _runs(int(child)), "the end of what the command started")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_test_processes_that_hang_print_their_stacks(
    suite: SmallSuite, steps: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process that runs the test shows where it stands, though its output is captured."""
    suite.write(test_it=HANGS)
    with suite.begin("pytest", "-n", "1") as begun:
        until((suite.folder / "begun").exists, "the test")
        steps.show_stacks(begun.pid)
        begun.send_signal(signal.SIGINT)
        output, _ = begun.communicate(timeout=60)
    assert "in test_hangs" in output
    assert f"== the stacks of process {begun.pid}" in capsys.readouterr().out


def _runs(pid: int) -> bool:
    """Return True unless the process is gone or waits for init to reap it."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text("utf-8")
