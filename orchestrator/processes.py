"""Every process of ours: started so that it outlives us, known by pid and creation time, ended with all it started.

The only file with calls that exist on one system alone. A process finds its way back to us in three ways: by its
record, by its process group, and by the variable `ORCHESTRATOR_FOLDER` that whatever it starts inherits; so a browser
whose driver was killed is found, and so is a driver whose server was killed before it could write a record.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import psutil

from orchestrator import folders
from orchestrator.errors import StartFailed
from orchestrator.models import ProcessInfo

MARK = "ORCHESTRATOR_FOLDER"
"""The environment variable by which a process and its offspring are known to belong to a folder."""

make_folder = folders.make_folder

_SAME = 2.0 if sys.platform == "linux" else 0.1
"""How far two readings of one creation time may differ: Linux adds the boot time, which is rounded to seconds."""

_GRACE = 1.0
"""How long a process may take to end by itself after it was asked to."""

_POLL = 0.01


class Identity(Protocol):
    """What tells a process from a later one with the same pid."""

    @property
    def pid(self) -> int:
        """The system's number for it, given to another one after its end."""

    @property
    def created(self) -> float:
        """When it was created, in seconds since the epoch."""


def info(pid: int, name: str | None = None, *, folder: Path | None = None) -> ProcessInfo | None:
    """The identity of a running process, None when there is none; its own name is taken unless one is given."""
    try:
        process = psutil.Process(pid)
        created, own = process.create_time(), name or process.name()
    except psutil.Error:
        return None
    return ProcessInfo(pid=pid, created=created, name=own, folder=None if folder is None else str(folder))


def alive(process: Identity) -> bool:
    """Whether this very process runs: the same pid and creation time, and no zombie."""
    return _living(process) is not None


def spawn(
    name: str,
    command: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str] | None,
    record: Callable[[ProcessInfo], None],
) -> ProcessInfo:
    """Start a process that outlives this one and a signal to our process group; `record` it before it is used.

    Its output goes to `folder/<name>.log`, its temporary files below `folder`; its working folder is `folder`.
    When `record` raises, the process is ended, its folder removed, and the error passes.

    Raises:
        StartFailed: The program is not there or cannot be run.
    """
    temporary = str(folders.temporary(folder))
    environ = {**os.environ, **(env or {}), **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary), MARK: str(folder)}
    try:
        with (folder / f"{name}.log").open("ab") as output:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environ,
                cwd=folder,
                **_apart(),
            )
    except OSError as error:
        raise _not_started(name, command[0], error) from error
    # Known before it is reaped, so that even a process that ended at once has its own creation time.
    started = info(child.pid, name, folder=folder) or ProcessInfo(
        pid=child.pid, created=time.time(), name=name, folder=str(folder)
    )
    threading.Thread(target=child.wait, name=f"reap-{name}-{child.pid}", daemon=True).start()
    try:
        record(started)
    except BaseException:
        end([started])
        raise
    return started


def end(processes: Sequence[ProcessInfo], *, deadline: float = 5.0) -> list[str]:
    """End these processes and all that they started, then remove their folders; may be repeated, never raises.

    Returns a sentence for each process or folder that is still there at the deadline.
    """
    places = {Path(process.folder) for process in processes if process.folder}
    return _end(processes, places, time.monotonic() + deadline)


def end_folders(places: Collection[Path], *, deadline: float = 5.0) -> list[str]:
    """End whatever runs in these folders, recorded or not, and remove them: for a start that did not succeed."""
    return _end((), places, time.monotonic() + deadline)


def release(processes: Iterable[ProcessInfo]) -> None:
    """Strike processes from ours: they are the user's now, and the sweep leaves their folders until they end."""
    for process in processes:
        if process.folder:
            folders.release(Path(process.folder))


def sweep(home: Path, live_folders: Collection[str]) -> list[str]:
    """End what dead servers left behind: everything in folders of `home` that no live record names.

    A folder whose maker runs is left alone, since a start may be under way there; so is a released one in use.
    Returns a sentence for each thing that could not be ended.
    """
    named = {Path(folder).name for folder in live_folders}
    left = [place for place in folders.all_of(home) if place.name not in named and not _maker_runs(place)]
    if not left:
        return []
    in_use = {row.mark for row in _table().values()}
    dead = [place for place in left if not (folders.released(place) and str(place) in in_use)]
    return end_folders(dead) if dead else []


def _maker_runs(place: Path) -> bool:
    maker = folders.maker(place)
    return folders.is_new(place) if maker is None else alive(maker)


def _not_started(name: str, program: str, error: OSError) -> StartFailed:
    if isinstance(error, FileNotFoundError) and not Path(program).exists():
        reason, hint = f"{program} is not there", "Install it, or correct the setting that names it."
    elif isinstance(error, PermissionError):
        reason, hint = f"{program} may not be run", "Make it executable for this user, or name another one."
    else:
        reason, hint = f"{program}: {error.strerror or error}", "Check that it is a program for this system."
    return StartFailed(f"{name} did not start: {reason}.", hint=hint)


def _apart() -> dict[str, Any]:
    """What keeps a child out of the reach of signals that are meant for us."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def _living(process: Identity) -> psutil.Process | None:
    try:
        found = psutil.Process(process.pid)
        same = abs(found.create_time() - process.created) <= _SAME
        return found if same and not _ended(found) else None
    except (psutil.Error, ValueError):
        return None


def _gone(process: psutil.Process) -> bool:
    """Whether it ended since it was found; another process may have its pid by now."""
    return not process.is_running() or _ended(process)


def _ended(process: psutil.Process) -> bool:
    """Whether what has this pid ended; a zombie did, though whoever started it has not noticed."""
    try:
        return process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.Error as error:
        return isinstance(error, psutil.NoSuchProcess)


@dataclass(frozen=True, slots=True)
class _Row:
    """One running process, as far as we may look."""

    process: psutil.Process
    created: float
    parent: int
    group: int
    mark: str | None


def _table() -> dict[int, _Row]:
    rows = {}
    for pid in psutil.pids():
        # Processes come and go while we look.
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            if not _gone(process):
                rows[pid] = _Row(process, process.create_time(), process.ppid(), _group(pid), _mark(process))
    return rows


def _group(pid: int) -> int:
    return 0 if sys.platform == "win32" else os.getpgid(pid)


def _mark(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None


def _ours(processes: Iterable[ProcessInfo], places: Collection[Path]) -> set[psutil.Process]:
    """These processes, those marked with a folder, their groups, and the offspring of them all; never ourselves."""
    rows = _table()
    marks = {str(place) for place in places}
    found = {p.pid for p in processes if p.pid in rows and _living(p)}
    found |= {pid for pid, row in rows.items() if row.mark in marks}
    # A group's number cannot be given away while it has members, so one without a leader is that of its marked member.
    groups = {rows[pid].group for pid in found if rows[pid].group == pid or rows[pid].group not in rows}
    found |= {pid for pid, row in rows.items() if row.group in groups - {0, _group(os.getpid())}}
    found |= _offspring(found, rows)
    return {rows[pid].process for pid in found - _ourselves()}


def _offspring(found: set[int], rows: Mapping[int, _Row]) -> set[int]:
    """The descendants of these pids; a child older than its parent is that of an earlier process with the pid."""
    children: dict[int, list[int]] = {}
    for pid, row in rows.items():
        children.setdefault(row.parent, []).append(pid)
    seen, todo = set(found), list(found)
    while todo:
        parent = todo.pop()
        for child in children.get(parent, ()):
            if child not in seen and rows[child].created >= rows[parent].created - _SAME:
                seen.add(child)
                todo.append(child)
    return seen


def _ourselves() -> set[int]:
    """This process and those above it: whatever a record says, they are never ended."""
    own = {0, 1, os.getpid()}
    with contextlib.suppress(psutil.Error):
        own.update(parent.pid for parent in psutil.Process().parents())
    return own


def _end(processes: Sequence[ProcessInfo], places: Collection[Path], until: float) -> list[str]:
    try:
        left = _end_processes(processes, places, until)
    except (psutil.Error, OSError) as error:
        return [f"The processes of this system could not be listed: {error}."]
    if left:  # The folders stay: by them a later sweep finds what runs on.
        return [f"Process {process.pid} could not be ended." for process in sorted(left, key=lambda p: p.pid)]
    return [problem for place in places if (problem := folders.remove(place, until))]


def _end_processes(processes: Sequence[ProcessInfo], places: Collection[Path], until: float) -> set[psutil.Process]:
    known = _ours(processes, places)
    _signal(known, psutil.Process.terminate)
    _wait(known, min(until, time.monotonic() + _GRACE))
    while True:
        # Looked up again each time: what was just ended may have started another one meanwhile.
        known = {process for process in known if not _gone(process)} | _ours(processes, places)
        if not known:
            return set()
        _signal(known, psutil.Process.kill)
        _wait(known, min(until, time.monotonic() + _GRACE))
        if time.monotonic() >= until:
            return {process for process in known if not _gone(process)}


def _signal(known: Iterable[psutil.Process], send: Callable[[psutil.Process], None]) -> None:
    for process in known:
        # psutil compares the creation time before it sends.
        with contextlib.suppress(psutil.Error, OSError):
            send(process)


def _wait(known: Iterable[psutil.Process], until: float) -> None:
    # Not psutil.wait_procs: it takes a zombie for alive, and an init that reaps nothing is common in containers.
    waiting = list(known)
    while waiting := [process for process in waiting if not _gone(process)]:
        if time.monotonic() >= until:
            return
        time.sleep(_POLL)
