"""Real processes: some that ignore signals, some whose parents were killed, some that are not ours."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from orchestrator.errors import StartFailed
from orchestrator.models.session import ProcessInfo
from orchestrator.system import folders, processes
from orchestrator.system.process_identity import gone
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[2]
LONG_AGO = time.time() - 3600

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and sessions are POSIX")

STUBBORN = """
import signal, subprocess, sys, time
from pathlib import Path
if hasattr(signal, "SIGTERM"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
depth = int(sys.argv[1])
if depth:
    subprocess.Popen([sys.executable, __file__, str(depth - 1), *sys.argv[2:]], start_new_session="apart" in sys.argv)
Path(f"ready-{depth}").write_text(str(__import__("os").getpid()))
while True:
    time.sleep(60)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without other users."""
    return tmp_path / "home"


@pytest.fixture
def folder(home: Path) -> Iterator[Path]:
    """A folder made by this process; its processes are ended even after a failed test."""
    made = processes.make_folder(home)
    yield made
    assert processes.end_folders([made]) == []


@pytest.fixture
def bystander() -> Iterator[psutil.Process]:
    """A process that is not ours."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        yield psutil.Process(child.pid)
        child.kill()


def spawn(folder: Path, *command: str, record: Callable[[ProcessInfo], None] = lambda _: None) -> ProcessInfo:
    """Spawn a Python process."""
    return processes.spawn("child", [sys.executable, *command], folder=folder, env={"EXTRA": "1"}, record=record)


def stubborn(folder: Path, depth: int, *how: str) -> tuple[ProcessInfo, list[psutil.Process]]:
    """Start a process that ignores SIGTERM, with descendants that do as well; return all, the first one first."""
    script = folder / "stubborn.py"
    script.write_text(STUBBORN, "utf-8")
    child = spawn(folder, str(script), str(depth), *how)
    notes = [folder / f"ready-{level}" for level in range(depth, -1, -1)]
    until(lambda: all(note.exists() and note.read_text("utf-8") for note in notes), "the notes of all processes")
    return child, [psutil.Process(int(note.read_text("utf-8"))) for note in notes]


def test_spawn_records_a_process_before_it_returns(folder: Path) -> None:
    """The record has identity, name and folder of the process."""
    seen: list[ProcessInfo] = []
    child = spawn(folder, "-c", "import time; time.sleep(60)", record=seen.append)

    assert seen == [child]
    assert child.folder == str(folder)
    assert child.name == "child"
    assert processes.alive(child)
    assert processes.info(child.pid, "child", folder=folder) == child
    if sys.platform != "win32":
        assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid


def test_spawn_gives_a_log_and_a_temporary_folder(folder: Path) -> None:
    """The process reads no input of ours, writes no output to ours, and has its temporary files in the folder."""
    code = "import os, sys, tempfile; print(repr(sys.stdin.read()), os.environ['EXTRA'], tempfile.gettempdir())"
    child = spawn(folder, "-c", f"{code}; print('oops', file=sys.stderr)")
    until(lambda: not processes.alive(child), "the end of the child")

    said = (folder / "child.log").read_text("utf-8")
    assert f"'' 1 {folders.temporary(folder)}" in said
    assert "oops" in said


def test_spawn_names_a_program_that_is_not_there(folder: Path) -> None:
    """The error names the program and the next step."""
    with pytest.raises(StartFailed) as caught:
        processes.spawn("driver", ["/nowhere/driver"], folder=folder, env=None, record=lambda _: None)

    assert str(caught.value) == (
        "driver did not start: /nowhere/driver does not exist. Install it, or correct the setting that names it."
    )


@posix
def test_spawn_names_a_program_that_may_not_be_run(folder: Path) -> None:
    """The error for a file without the right to execute differs from that for a missing one."""
    program = folder / "driver"
    program.write_text("#!/bin/sh\n", "utf-8")
    with pytest.raises(StartFailed, match=r"driver may not be run\. Make it executable"):
        processes.spawn("driver", [str(program)], folder=folder, env=None, record=lambda _: None)


# In a process of its own: of the suite's, threads of its servers would want open files at the same moment.
WITHOUT_OPEN_FILES = """
import resource, sys
from pathlib import Path
from orchestrator.errors import StartFailed
from orchestrator.system import processes

resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
try:
    processes.spawn("driver", [sys.executable], folder=Path(sys.argv[1]), env=None, record=lambda _: None)
except StartFailed as error:
    print(error)
"""


@posix
def test_spawn_reports_too_many_open_files(folder: Path) -> None:
    """A lack of open files is reported as such, not as a fault of the program."""
    run = [sys.executable, "-c", WITHOUT_OPEN_FILES, str(folder)]
    said = subprocess.run(run, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    assert "Too many open files. Close other programs, or raise" in said


def test_spawn_ends_a_process_that_could_not_be_recorded(folder: Path) -> None:
    """A process whose record fails is ended."""
    seen: list[ProcessInfo] = []

    def refuse(child: ProcessInfo) -> None:
        seen.append(child)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        spawn(folder, "-c", "import time; time.sleep(60)", record=refuse)
    assert not processes.alive(seen[0])


def test_ended_child_is_no_zombie(folder: Path) -> None:
    """Children are reaped when they end, even if others end them."""
    child = spawn(folder, "-c", "")
    until(lambda: not psutil.pid_exists(child.pid), "the end of the child")
    assert processes.info(child.pid) is None


@posix
def test_a_zombie_process_is_not_alive() -> None:
    """A process that ended and was not reaped does not run."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = processes.info(child.pid)
    assert known is not None
    assert processes.alive(known)
    assert child.stdin is not None
    child.stdin.close()
    until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE, "a zombie")

    assert not processes.alive(known)
    child.wait()


def test_a_pid_with_another_creation_time_is_another_process(bystander: psutil.Process) -> None:
    """A pid alone identifies no process."""
    assert processes.alive(ProcessInfo(pid=bystander.pid, created=bystander.create_time(), name="it"))
    assert not processes.alive(ProcessInfo(pid=bystander.pid, created=bystander.create_time() - 60, name="it"))


def test_end_kills_processes_that_ignore_sigterm(folder: Path) -> None:
    """A process that ignores SIGTERM is killed with all descendants, and its folder is removed."""
    child, family = stubborn(folder, 2)

    assert processes.end_processes([child]) == []
    assert all(map(gone, family))
    assert not folder.exists()


@pytest.mark.clock
def test_processes_that_ignore_sigterm_are_ended_within_five_seconds(folder: Path) -> None:
    """Processes that ignore SIGTERM are killed soon."""
    child, _ = stubborn(folder, 2)
    began = time.monotonic()
    processes.end_processes([child])
    assert time.monotonic() - began < 5


def test_ending_a_process_that_has_ended_is_no_failure(folder: Path) -> None:
    """Ending an ended process succeeds, even if others ended it."""
    child, _ = stubborn(folder, 0)
    assert processes.end_processes([child]) == []
    assert processes.end_processes([child]) == []
    assert processes.end_processes([]) == []


@posix
def test_end_finds_descendants_whose_parent_was_killed(folder: Path) -> None:
    """A browser outlives its driver, in a session of its own and with init for a parent."""
    child, family = stubborn(folder, 2, "apart")
    family[0].kill()
    family[1].kill()
    until(lambda: gone(family[0]) and gone(family[1]), "the end of both")
    assert not gone(family[2])

    assert processes.end_processes([child]) == []
    assert gone(family[2])


@posix
def test_end_finds_orphans_by_their_process_group(folder: Path) -> None:
    """An orphan that hides its environment, as Chromium's helpers do, is identified by its process group."""
    hidden = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()'], env={}, stdin=0).pid)"
    hidden = hidden.replace("input()", "import time; time.sleep(60)")
    code = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {hidden!r}]); time.sleep(60)"
    child = spawn(folder, "-c", code)
    log = folder / "child.log"
    until(lambda: log.read_text("utf-8").strip(), "a line in the log")
    orphan = psutil.Process(int(log.read_text("utf-8")))
    assert orphan.ppid() != child.pid

    assert processes.end_processes([child]) == []
    assert gone(orphan)


def test_end_leaves_a_process_that_reused_the_pid(bystander: psutil.Process, folder: Path) -> None:
    """A record that outlived its process ends no other process."""
    stale = ProcessInfo(pid=bystander.pid, created=bystander.create_time() - 60, name="gone", folder=str(folder))

    assert processes.end_processes([stale]) == []
    assert bystander.is_running()
    assert not folder.exists()


def test_end_never_ends_its_own_process_or_its_parents(bystander: psutil.Process) -> None:
    """Records that name this process and its parent end neither, nor another child of this process."""
    this = psutil.Process()
    parents = [ProcessInfo(pid=p.pid, created=p.create_time(), name="above") for p in this.parents()[:1]]
    assert processes.end_processes([ProcessInfo(pid=this.pid, created=this.create_time(), name="self"), *parents]) == []
    assert not gone(bystander)


def test_end_leaves_folders_that_it_did_not_make(tmp_path: Path) -> None:
    """A damaged record must not delete a user's files."""
    precious = tmp_path / "precious"
    precious.mkdir()
    damaged = ProcessInfo(pid=2**22 - 1, created=LONG_AGO, name="gone", folder=str(precious))

    assert processes.end_processes([damaged]) == [f"{precious} is no folder of ours and was left."]
    assert precious.exists()


def test_end_removes_read_only_files_and_folders(folder: Path) -> None:
    """Read-only files, as in some profiles and unpacked extensions, are removed with their folder."""
    inner = folder / "inner"
    inner.mkdir()
    (inner / "file").write_text("x", "utf-8")
    (inner / "file").chmod(0o400)
    inner.chmod(0o500)
    assert processes.end_folders([folder]) == []
    assert not folder.exists()


SERVER = """
import os, signal, sys
from pathlib import Path
from orchestrator.system import processes

folder = processes.make_folder(Path(sys.argv[1]))

def record(child):
    print(child.model_dump_json(), flush=True)
    if sys.argv[2] == "unrecorded":
        os.kill(os.getpid(), signal.SIGKILL)

processes.spawn("child", [sys.executable, "-c", "import time; time.sleep(60)"], folder=folder, env=None, record=record)
sys.stdin.read()
"""


@contextlib.contextmanager
def server(home: Path, how: str) -> Iterator[tuple[subprocess.Popen[str], ProcessInfo]]:
    """Another server of ours that started a process, in a process group of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER), str(home), how],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as popen:
        assert popen.stdout is not None
        yield popen, ProcessInfo.model_validate_json(popen.stdout.readline())
        popen.kill()


@posix
def test_a_recorded_process_outlives_its_killed_server_and_the_sweep(home: Path) -> None:
    """SIGKILL to the server's whole group leaves its process; a recorded process is not swept."""
    with server(home, "recorded") as (popen, child):
        os.killpg(popen.pid, 9)
        popen.wait()

        assert child.folder is not None
        assert processes.alive(child)
        assert processes.sweep(home, [child.folder]) == []
        assert processes.alive(child)
        assert processes.sweep(home, []) == []
        assert not processes.alive(child)
        assert not Path(child.folder).exists()


@posix
def test_sweep_ends_a_process_that_was_never_recorded(home: Path) -> None:
    """The server was killed between starting a process and recording it."""
    with server(home, "unrecorded") as (popen, child):
        popen.wait()

        assert processes.alive(child)
        assert processes.sweep(home, []) == []
        assert not processes.alive(child)
        assert folders.all_of(home) == []


@posix
def test_sweep_leaves_the_process_of_a_session_start_under_way(home: Path) -> None:
    """Another server lives and has not written its record yet."""
    with server(home, "recorded") as (_, child):
        assert processes.sweep(home, []) == []
        assert processes.alive(child)
        assert processes.end_processes([child]) == []


@posix
def test_sweep_leaves_a_released_process_and_its_folder_until_it_ends(home: Path) -> None:
    """A detached browser is the user's; its folder is removed once the browser has ended."""
    with server(home, "recorded") as (popen, child):
        processes.release([child])
        popen.kill()
        popen.wait()

        assert processes.sweep(home, []) == []
        assert processes.alive(child)
        psutil.Process(child.pid).kill()
        until(lambda: not processes.alive(child), "the end of the child")
        assert processes.sweep(home, []) == []
        assert folders.all_of(home) == []


def test_sweep_leaves_a_new_folder_that_has_no_owner_note_yet(home: Path) -> None:
    """A new folder without a note stays; an old one, and one whose maker is gone, does not."""
    new, old, dead = (processes.make_folder(home) for _ in range(3))
    for place in (new, old):
        (place / "owner.json").unlink()
    os.utime(old, (LONG_AGO, LONG_AGO))
    note = ProcessInfo(pid=os.getpid(), created=LONG_AGO, name="dead")
    (dead / "owner.json").write_text(note.model_dump_json(), "utf-8")
    foreign = home / "run" / "not-ours"
    foreign.mkdir()

    assert processes.sweep(home, []) == []
    assert sorted(path.name for path in (home / "run").iterdir()) == sorted([new.name, foreign.name])
    assert processes.end_folders([new]) == []


def test_sweeping_a_home_that_does_not_exist_does_nothing(home: Path) -> None:
    """The very first start sweeps before there is a home, and nothing fails."""
    assert processes.sweep(home, []) == []


@posix
def test_the_path_of_a_temporary_folder_stays_short(tmp_path: Path) -> None:
    """Chromium cannot start with a long temporary path; the short folder goes with the long one."""
    place = processes.make_folder(tmp_path / ("long-" * 12))
    short = folders.temporary(place)

    assert len(os.fsencode(short)) < 60
    assert short == folders.temporary(place)
    assert short.stat().st_mode & 0o777 == 0o700
    (short / "socket").touch()
    assert processes.end_folders([place]) == []
    assert not short.exists()
    assert not place.exists()


@posix
def test_process_folders_are_private_to_the_user(home: Path) -> None:
    """Only this user can read profiles and logs."""
    place = processes.make_folder(home)
    assert {path.stat().st_mode & 0o777 for path in (home, home / "run", place)} == {0o700}
    assert processes.end_folders([place]) == []
