"""Real processes: some that will not end, some whose parents were killed, some that are none of ours."""

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

from orchestrator import folders, processes
from orchestrator.errors import StartFailed
from orchestrator.living import gone
from orchestrator.models import ProcessInfo

ROOT = Path(__file__).parents[1]
PATIENCE = 20.0
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


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition, not for a time."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that nobody else uses."""
    return tmp_path / "home"


@pytest.fixture
def folder(home: Path) -> Iterator[Path]:
    """A folder made by this process; whatever a failed test leaves in it is ended."""
    made = processes.make_folder(home)
    yield made
    assert processes.end_folders([made]) == []


@pytest.fixture
def bystander() -> Iterator[psutil.Process]:
    """A process that is none of ours."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        yield psutil.Process(child.pid)
        child.kill()


def spawn(folder: Path, *command: str, record: Callable[[ProcessInfo], None] = lambda _: None) -> ProcessInfo:
    """Start a Python of ours."""
    return processes.spawn("child", [sys.executable, *command], folder=folder, env={"EXTRA": "1"}, record=record)


def stubborn(folder: Path, depth: int, *how: str) -> tuple[ProcessInfo, list[psutil.Process]]:
    """Start a process that ignores SIGTERM, with as many descendants that do, too; all of them, the first one first."""
    script = folder / "stubborn.py"
    script.write_text(STUBBORN, "utf-8")
    child = spawn(folder, str(script), str(depth), *how)
    notes = [folder / f"ready-{level}" for level in range(depth, -1, -1)]
    until(lambda: all(note.exists() and note.read_text("utf-8") for note in notes))
    return child, [psutil.Process(int(note.read_text("utf-8"))) for note in notes]


def test_spawn_records_before_it_returns(folder: Path) -> None:
    """What is used is recorded: identity, name and the folder that goes with it."""
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
    """Nothing is read from us, nothing is written to our output, temporary files are below the folder."""
    code = "import os, sys, tempfile; print(repr(sys.stdin.read()), os.environ['EXTRA'], tempfile.gettempdir())"
    child = spawn(folder, "-c", f"{code}; print('oops', file=sys.stderr)")
    until(lambda: not processes.alive(child))

    said = (folder / "child.log").read_text("utf-8")
    assert f"'' 1 {folders.temporary(folder)}" in said
    assert "oops" in said


def test_spawn_names_a_program_that_is_not_there(folder: Path) -> None:
    """The reader learns which program, and what to do."""
    with pytest.raises(StartFailed) as caught:
        processes.spawn("driver", ["/nowhere/driver"], folder=folder, env=None, record=lambda _: None)

    assert str(caught.value) == (
        "driver did not start: /nowhere/driver is not there. Install it, or correct the setting that names it."
    )


@posix
def test_spawn_names_a_program_that_may_not_be_run(folder: Path) -> None:
    """A file without the right to execute is told from one that is missing."""
    program = folder / "driver"
    program.write_text("#!/bin/sh\n", "utf-8")
    with pytest.raises(StartFailed, match=r"driver may not be run\. Make it executable"):
        processes.spawn("driver", [str(program)], folder=folder, env=None, record=lambda _: None)


@posix
def test_spawn_tells_what_it_is_short_of(folder: Path) -> None:
    """With no open file left it is not the program that is wrong."""
    import resource  # noqa: PLC0415 - POSIX

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(StartFailed, match=r"Too many open files\. Close what is not needed, or raise"):
            processes.spawn("driver", [sys.executable], folder=folder, env=None, record=lambda _: None)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_spawn_ends_what_could_not_be_recorded(folder: Path) -> None:
    """No process without a record: a record that fails takes the process with it."""
    seen: list[ProcessInfo] = []

    def refuse(child: ProcessInfo) -> None:
        seen.append(child)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        spawn(folder, "-c", "import time; time.sleep(60)", record=refuse)
    assert not processes.alive(seen[0])


def test_ended_child_is_no_zombie(folder: Path) -> None:
    """Children are reaped as they end, whoever ends them."""
    child = spawn(folder, "-c", "")
    until(lambda: not psutil.pid_exists(child.pid))
    assert processes.info(child.pid) is None


@posix
def test_zombie_is_dead() -> None:
    """A process that ended and was not reaped does not run."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = processes.info(child.pid)
    assert known is not None
    assert processes.alive(known)
    assert child.stdin is not None
    child.stdin.close()
    until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)

    assert not processes.alive(known)
    child.wait()


def test_other_creation_time_is_another_process(bystander: psutil.Process) -> None:
    """A pid alone names nobody."""
    assert processes.alive(ProcessInfo(pid=bystander.pid, created=bystander.create_time(), name="it"))
    assert not processes.alive(ProcessInfo(pid=bystander.pid, created=bystander.create_time() - 60, name="it"))


def test_end_ends_what_ignores_it(folder: Path) -> None:
    """Asked first, killed then, with all descendants; the folder goes, too."""
    child, family = stubborn(folder, 2)
    began = time.monotonic()

    assert processes.end([child]) == []
    assert time.monotonic() - began < 5
    assert all(map(gone, family))
    assert not folder.exists()


def test_end_may_be_repeated(folder: Path) -> None:
    """Ending what ended is no failure, whoever did it first."""
    child, _ = stubborn(folder, 0)
    assert processes.end([child]) == []
    assert processes.end([child]) == []
    assert processes.end([]) == []


@posix
def test_end_finds_those_whose_parent_was_killed(folder: Path) -> None:
    """A browser outlives its driver, in a session of its own and with init for a parent."""
    child, family = stubborn(folder, 2, "apart")
    family[0].kill()
    family[1].kill()
    until(lambda: gone(family[0]) and gone(family[1]))
    assert not gone(family[2])

    assert processes.end([child]) == []
    assert gone(family[2])


@posix
def test_end_finds_its_group(folder: Path) -> None:
    """One that hides its environment, as Chromium's helpers do, and lost its parent is known by its group."""
    hidden = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()'], env={}, stdin=0).pid)"
    hidden = hidden.replace("input()", "import time; time.sleep(60)")
    code = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {hidden!r}]); time.sleep(60)"
    child = spawn(folder, "-c", code)
    log = folder / "child.log"
    until(lambda: log.read_text("utf-8").strip())
    orphan = psutil.Process(int(log.read_text("utf-8")))
    assert orphan.ppid() != child.pid

    assert processes.end([child]) == []
    assert gone(orphan)


def test_end_leaves_a_process_that_got_the_pid_later(bystander: psutil.Process, folder: Path) -> None:
    """A record that outlived its process ends nobody else's."""
    stale = ProcessInfo(pid=bystander.pid, created=bystander.create_time() - 60, name="gone", folder=str(folder))

    assert processes.end([stale]) == []
    assert bystander.is_running()
    assert not folder.exists()


def test_end_never_ends_us(bystander: psutil.Process) -> None:
    """Whatever a record says; nor what else we and those above us started."""
    this = psutil.Process()
    parents = [ProcessInfo(pid=p.pid, created=p.create_time(), name="above") for p in this.parents()[:1]]
    assert processes.end([ProcessInfo(pid=this.pid, created=this.create_time(), name="self"), *parents]) == []
    assert not gone(bystander)


def test_end_leaves_folders_that_are_none_of_ours(tmp_path: Path) -> None:
    """A damaged record must not delete a user's files."""
    precious = tmp_path / "precious"
    precious.mkdir()
    damaged = ProcessInfo(pid=2**22 - 1, created=LONG_AGO, name="gone", folder=str(precious))

    assert processes.end([damaged]) == [f"{precious} is no folder of ours and was left."]
    assert precious.exists()


def test_end_removes_what_is_read_only(folder: Path) -> None:
    """As some profiles and unpacked extensions are."""
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
from orchestrator import processes

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
def test_process_outlives_its_server_and_a_sweep_that_knows_it(home: Path) -> None:
    """SIGKILL to the server's whole group leaves what it started; what a record names is not swept."""
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
def test_sweep_finds_what_was_never_recorded(home: Path) -> None:
    """The server was killed between starting a process and recording it."""
    with server(home, "unrecorded") as (popen, child):
        popen.wait()

        assert processes.alive(child)
        assert processes.sweep(home, []) == []
        assert not processes.alive(child)
        assert folders.all_of(home) == []


@posix
def test_sweep_leaves_a_start_under_way(home: Path) -> None:
    """Another server lives and has not written its record yet."""
    with server(home, "recorded") as (_, child):
        assert processes.sweep(home, []) == []
        assert processes.alive(child)
        assert processes.end([child]) == []


@posix
def test_sweep_leaves_what_was_released_until_it_ends(home: Path) -> None:
    """A detached browser is the user's; its folder goes when it has gone."""
    with server(home, "recorded") as (popen, child):
        processes.release([child])
        popen.kill()
        popen.wait()

        assert processes.sweep(home, []) == []
        assert processes.alive(child)
        psutil.Process(child.pid).kill()
        until(lambda: not processes.alive(child))
        assert processes.sweep(home, []) == []
        assert folders.all_of(home) == []


def test_sweep_leaves_a_folder_whose_maker_is_about_to_be_noted(home: Path) -> None:
    """A new folder without a note is left; an old one, and one whose maker is gone, is not."""
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


def test_sweep_of_no_home_is_nothing(home: Path) -> None:
    """The first start of all sweeps, too."""
    assert processes.sweep(home, []) == []


@posix
def test_temporary_folder_stays_short(tmp_path: Path) -> None:
    """Chromium cannot start with a long one; the short one goes with the folder."""
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
def test_folder_is_private(home: Path) -> None:
    """Only this user can read profiles and logs."""
    place = processes.make_folder(home)
    assert {path.stat().st_mode & 0o777 for path in (home, home / "run", place)} == {0o700}
    assert processes.end_folders([place]) == []
