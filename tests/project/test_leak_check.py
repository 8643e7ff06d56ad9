"""The check for leaks at the end of every run, tested by a run that leaks and one that does not."""

from __future__ import annotations

import signal
import sys

import psutil
import pytest

from tests.servers.small_suite import SmallSuite
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.slow]

LEAKING = """
import os, subprocess, sys, tempfile
from pathlib import Path

def test_leaks():
    profile = Path(tempfile.gettempdir(), "profile-of-a-browser")
    profile.mkdir()
    command = [sys.executable, "-c", "import time; time.sleep(60)  # the sleeper"]
    env = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT")}
    sleepers = [subprocess.Popen(command), subprocess.Popen(command, env=env, start_new_session=True)]
    Path(__file__).with_name("pids").write_text(" ".join(str(sleeper.pid) for sleeper in sleepers))
"""

INTERRUPTED = f"""{LEAKING}
    import time
    Path(__file__).with_name("begun").touch()
    time.sleep(60)
"""

TIDY = """
import subprocess, sys, tempfile

def test_tidies_up(tmp_path):
    with tempfile.TemporaryDirectory():
        subprocess.run([sys.executable, "-c", ""], check=True)
"""


def sleeps(pid: int) -> bool:
    """Return True if the process itself runs, not another one with its pid."""
    try:
        return "# the sleeper" in " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_test_run_fails_when_processes_or_folders_are_left_behind(
    suite: SmallSuite, options: tuple[str, ...]
) -> None:
    """Processes and a profile folder that outlive their run fail it, are listed, and are ended."""
    suite.write(test_it=LEAKING)
    code, output = suite.run("pytest", *options)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in output
    pids = (suite.folder / "pids").read_text("utf-8").split()
    assert len(pids) == 2
    for pid in pids:
        assert f"process {pid}: " in output
        assert not sleeps(int(pid))
    assert "# the sleeper" in output
    assert "profile-of-a-browser" in output
    assert not list(suite.temporary.iterdir())


def test_a_test_run_passes_when_nothing_is_left_behind(suite: SmallSuite) -> None:
    """Processes and folders that a test removes itself are no leak."""
    suite.write(test_it=TIDY)
    code, output = suite.run("pytest")

    assert code == pytest.ExitCode.OK, output
    assert "left behind" not in output


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("name", "options"),
    [("SIGINT", ("-n", "2")), ("SIGTERM", ("-n", "2")), ("SIGKILL", ("-n", "2")), ("SIGTERM", ())],
    ids=["SIGINT, two workers", "SIGTERM, two workers", "SIGKILL, two workers", "SIGTERM, one process"],
)
def test_a_run_that_is_interrupted_or_killed_leaves_nothing(
    suite: SmallSuite, name: str, options: tuple[str, ...]
) -> None:
    """Whatever ends the process that was started, the processes and folders of its workers' tests are gone soon."""
    suite.write(test_it=INTERRUPTED)
    with suite.begin("pytest", *options) as begun:
        until((suite.folder / "begun").exists, "the test")
        pids = [int(pid) for pid in (suite.folder / "pids").read_text("utf-8").split()]
        assert all(map(sleeps, pids))
        begun.send_signal(signal.Signals[name])
        begun.communicate(timeout=110)
    until(lambda: not any(map(sleeps, pids)), "the end of the processes")
    until(lambda: not list(suite.temporary.iterdir()), "the end of the folders")
