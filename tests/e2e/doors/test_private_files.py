"""Files are this user's alone, whatever the umask; a data folder of someone else is not used."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.e2e.doors.test_environment import keepers
from tests.e2e.harness import NAMESPACE, Home
from tests.needed import needed
from tests.waiting import until

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show a process's umask"),
]

PAGE = "data:text/html,<title>here</title>"
SOMEONE = 65534
SCRIPT = """
import os
from orchestrator import sync
from orchestrator.settings import Settings
os.umask(0)
with sync.Orchestrator(Settings()) as script:
    session = script.start_browser("s", navigation_url="about:blank")
    session.take_screenshot()
    session.save_storage_state()
    open(os.environ["MINE"], "w").close()
    input()
"""


@contextmanager
def umask(bits: int) -> Iterator[None]:
    """Set the umask that programs of the test inherit."""
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


def umask_of(process: psutil.Process) -> str:
    """Return a process's umask."""
    found = re.search(r"^Umask:\s*(\d+)$", Path(f"/proc/{process.pid}/status").read_text("ascii"), re.MULTILINE)
    assert found
    return found[1]


def open_files(home: Home) -> list[str]:
    """Return what other users could read, list or write, if they could enter the home."""
    places = [home.folder, *home.folder.rglob("*")]
    return [str(path) for path in places if not path.is_symlink() and path.lstat().st_mode & 0o077]


def mode(path: Path) -> int:
    """Return the mode of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_of_a_server_is_this_users_alone(home: Home, tmp_path: Path) -> None:
    """Server, keeper, driver and browser have the umask 077, and no file below home is open to others."""
    home.folder.chmod(0o755)
    with umask(0), home.serve(file_roots=str(tmp_path)) as server:
        server.ok("start_browser", sessionId="a", navigationUrl=PAGE)
        server.ok("take_screenshot", sessionId="a")
        server.ok("take_screenshot", sessionId="a", path=str(tmp_path / "shots" / "a.png"))
        server.ok("har", sessionId="a", action="start")
        keeper = until(lambda: keepers(home), "the keeper")[0]
        for process in (server.process, keeper, *home.processes()):
            assert umask_of(process) == "0077", process.name()
        assert mode(home.folder) == 0o700
        assert open_files(home) == []
        assert [mode(tmp_path / "shots"), mode(tmp_path / "shots" / "a.png")] == [0o700, 0o600]


def test_a_scripts_umask_is_left_alone_and_our_files_are_private_all_the_same(home: Home, tmp_path: Path) -> None:
    """The Python API changes nothing for the process that uses it; each of our files has a mode of its own."""
    environ = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder), "ORCHESTRATOR_NAMESPACE": NAMESPACE}
    mine = tmp_path / "mine"
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, env={**environ, "MINE": str(mine)}, stdin=subprocess.PIPE) as script:
        until(lambda: mine.exists() or script.poll() is not None, "the script's own file")
        assert umask_of(psutil.Process(script.pid)) == "0000"
        assert {umask_of(process) for process in home.processes()} == {"0077"}
        assert open_files(home) == []
        script.communicate(b"\n")
    assert script.returncode == 0
    assert mode(mine) == 0o666


def test_a_data_folder_with_files_of_others_keeps_its_mode_with_a_warning(home: Home, tmp_path: Path) -> None:
    """A project folder as data folder stays open; the server's log says so, and our own files are private."""
    (home.folder / "notes.txt").write_text("a project", "utf-8")
    home.folder.chmod(0o755)
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        environ = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder)}
        command = [sys.executable, "-m", "orchestrator", "serve"]
        with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stderr=log) as server:
            until(lambda: "the data folder stays open to other users" in (tmp_path / "log").read_text(), "the warning")
            server.communicate(b"")
    assert mode(home.folder) == 0o755
    assert {mode(path) for path in home.folder.iterdir() if path.name.startswith("sessions.db")} == {0o600}


def test_a_data_folder_of_someone_else_is_refused(home: Home) -> None:
    """Nothing is written there, by the server, the shell and the doctor, which name the reason."""
    needed(None if os.geteuid() == 0 else "Only root can give a folder to someone else.")
    os.chown(home.folder, SOMEONE, SOMEONE)
    said = f"{home.folder} belongs to another user (uid {SOMEONE}), who could read and replace what is in it"
    environ = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder)}
    for command, stream in (("serve", "stderr"), ("list", "stderr"), ("doctor", "stdout")):
        words = [sys.executable, "-m", "orchestrator", command]
        ended = subprocess.run(words, env=environ, input="", capture_output=True, text=True, check=False, timeout=60)
        assert said in getattr(ended, stream)
        assert ended.returncode
    assert list(home.folder.iterdir()) == []
    os.chown(home.folder, 0, 0)
