"""The check for leaks at the end of every run, tested by a run that leaks and one that does not."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import until

pytestmark = pytest.mark.slow

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with our conftest, for a run inside this run."""
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "tmp").mkdir()
    return tmp_path


def begin(folder: Path, test: str, *options: str) -> subprocess.Popen[str]:
    """Start a test file in a run of its own."""
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (folder / "test_it.py").write_text(test, "utf-8")
    env = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTEST_ADDOPTS": "", "LEAK_GRACE": "1"}
    # Other plug-ins take most of the time of such a run.
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", *options, "test_it.py"]
    return subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(folder: Path, test: str, *options: str) -> tuple[int, str]:
    """Run a test file to its end; return the exit code and the output."""
    with begin(folder, test, *options) as begun:
        output, _ = begun.communicate(timeout=110)
    return begun.returncode, output


def sleeps(pid: int) -> bool:
    """Return True if the process itself runs, not another one with its pid."""
    try:
        return "# the sleeper" in " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_a_test_run_fails_when_processes_or_folders_are_left_behind(folder: Path, options: tuple[str, ...]) -> None:
    """Processes and a profile folder that outlive their run fail it, are listed, and are ended."""
    code, output = run(folder, LEAKING, *options)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in output
    pids = (folder / "pids").read_text("utf-8").split()
    assert len(pids) == 2
    for pid in pids:
        assert f"process {pid}: " in output
        assert not sleeps(int(pid))
    assert "# the sleeper" in output
    assert "profile-of-a-browser" in output
    assert not list((folder / "tmp").iterdir())


def test_a_test_run_passes_when_nothing_is_left_behind(folder: Path) -> None:
    """Processes and folders that a test removes itself are no leak."""
    code, output = run(folder, TIDY)

    assert code == pytest.ExitCode.OK, output
    assert "left behind" not in output


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("name", "options"),
    [("SIGINT", ("-n", "2")), ("SIGTERM", ("-n", "2")), ("SIGKILL", ("-n", "2")), ("SIGTERM", ())],
    ids=["SIGINT, two workers", "SIGTERM, two workers", "SIGKILL, two workers", "SIGTERM, one process"],
)
def test_a_run_that_is_interrupted_or_killed_leaves_nothing(folder: Path, name: str, options: tuple[str, ...]) -> None:
    """Whatever ends the process that was started, the processes and folders of its workers' tests are gone soon."""
    with begin(folder, INTERRUPTED, *options) as begun:
        until((folder / "begun").exists, "the test")
        pids = [int(pid) for pid in (folder / "pids").read_text("utf-8").split()]
        assert all(map(sleeps, pids))
        begun.send_signal(signal.Signals[name])
        begun.communicate(timeout=110)
    until(lambda: not any(map(sleeps, pids)), "the end of the processes")
    until(lambda: not list((folder / "tmp").iterdir()), "the end of the folders")
