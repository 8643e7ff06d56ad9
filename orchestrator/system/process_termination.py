"""Ends processes and their own helpers, and sweeps up after dead servers.

A process is found in three ways: by its record, by its process group, and by the variable `ORCHESTRATOR_FOLDER`, which
its children inherit. So a browser whose driver was killed is found, and so is a driver whose server was killed before
it could write a record.

A browser also opens programs for a person, such as the office program for a download. They are left: of what comes from
a browser whose program is recorded, only processes of that program's own folder are ended. Imports only psutil and the
standard library, since the keeper uses this module, too.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import psutil

from orchestrator.system import folders, process_identity
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.system.host import life_locks
from orchestrator.system.process_identity import Identity

FOLDER_VARIABLE = "ORCHESTRATOR_FOLDER"
"""Environment variable that marks a process and its children as belonging to a folder."""

_ASSIGNED = f"{FOLDER_VARIABLE}=".encode()

_GRACE = 1.0
"""Seconds in which a process may end by itself after SIGTERM."""

_SWEPT = 5.0
"""Seconds that a sweep may take."""

_POLL = 0.01


class ProcessToEnd(Identity, Protocol):
    """A process in a record."""

    @property
    def program(self) -> str:
        """The path of a browser's program; empty for any other process."""


def end_processes_and_folders(processes: Sequence[ProcessToEnd], places: Collection[Path], seconds: float) -> list[str]:
    """End these processes, those that run in these folders, and their own children; then remove the folders.

    May be repeated, and never raises. Returns a sentence for each process or folder that is left after `seconds`.
    """
    deadline = Deadline(seconds)
    places = [place for place in places if not _is_of_strangers(place)]
    try:
        remaining = _end_processes(processes, places, deadline)
    except (psutil.Error, OSError) as error:
        return [f"The processes of this system could not be listed: {error}."]
    if remaining:  # The folders stay, so that a later sweep finds these processes by them.
        return [f"Process {process.pid} could not be ended." for process in sorted(remaining, key=lambda p: p.pid)]
    return [problem for place in places if (problem := folders.remove(place, deadline))]


def sweep(home: Path, live_folders: Collection[str]) -> list[str]:
    """End the processes, and remove the folders of `home`, that dead servers left and no live record names.

    A folder whose maker runs is left alone, since a start may be under way there; so is a released one in use.
    Returns a sentence for each process or folder that is left.
    """
    candidates = unclaimed(home, live_folders)
    if not candidates:
        return []
    in_use = {row.mark for row in _table().values()}
    dead = [place for place in candidates if not (folders.released(place) and str(place) in in_use)]
    return end_processes_and_folders((), dead, _SWEPT) if dead else []


def unclaimed(home: Path, live_folders: Collection[str]) -> list[Path]:
    """List the folders that no live record names and whose maker is dead."""
    named = {Path(folder).name for folder in live_folders}
    return [place for place in folders.all_of(home) if place.name not in named and not _maker_runs(place)]


def _maker_runs(place: Path) -> bool:
    maker = folders.maker(place)
    return folders.is_new(place) if maker is None else maker.alive() or _is_of_strangers(place)


def _is_of_strangers(place: Path) -> bool:
    """Return True for a folder of another pid namespace that runs: it is left to those who can see its processes."""
    maker = folders.maker(place)
    return maker is not None and life_locks.is_stranger(maker.started) and process_identity.alive(maker)


class _Row(NamedTuple):
    """A running process, as far as this user may read it; `mark` is its `ORCHESTRATOR_FOLDER`."""

    started: float
    parent: int
    group: int
    mark: str | None


def _table() -> dict[int, _Row]:
    read = _read_row_of_linux if sys.platform == "linux" else _read_row
    rows = {}
    for pid in psutil.pids():
        # A process may end while it is read.
        with contextlib.suppress(psutil.Error, OSError):
            if (row := read(pid)) is not None:
                rows[pid] = row
    return rows


def _read_row_of_linux(pid: int) -> _Row | None:
    """Read two files: with psutil it is ten, for each process of a machine, whenever a session ends."""
    stat = process_identity.read_stat(pid)
    return None if stat.has_ended else _Row(stat.started, stat.parent, stat.group, _mark_of_linux(pid))


def _read_row(pid: int) -> _Row | None:
    process = psutil.Process(pid)
    if process_identity.gone(process):
        return None
    return _Row(process_identity.start_order(process), process.ppid(), _group(pid), _mark(process))


def _group(pid: int) -> int:
    return 0 if sys.platform == "win32" else os.getpgid(pid)


def _mark_of_linux(pid: int) -> str | None:
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((os.fsdecode(word[len(_ASSIGNED) :]) for word in words if word.startswith(_ASSIGNED)), None)


def _mark(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(FOLDER_VARIABLE)
    except (psutil.Error, OSError):
        return None


def _find(pid: int, row: _Row) -> psutil.Process | None:
    """Return the process of a row; None if it has ended, even if another one has its pid by now."""
    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        if process_identity.start_order(process) == row.started:
            return process
    return None


def _ours(processes: Sequence[ProcessToEnd], places: Collection[Path]) -> set[psutil.Process]:
    """Find these processes, those marked with a folder, their groups, and the descendants of all; never ourselves."""
    rows = _table()
    marks = {str(place) for place in places}
    found = {p.pid for p in processes if p.pid in rows and process_identity.find_process(p)}
    found |= {pid for pid, row in rows.items() if row.mark in marks}
    # At once, since what we and those above us started is not theirs whom the record meant.
    found -= _ourselves()
    # A group's number cannot be given away while it has members, so one without a leader is that of its marked member.
    groups = {rows[pid].group for pid in found if rows[pid].group == pid or rows[pid].group not in rows}
    found |= {pid for pid, row in rows.items() if row.group in groups - {0, _group(os.getpid())}}
    found |= _offspring(found, rows)
    found -= _opened_for_a_person(found, rows, processes)
    return {process for pid in found - _ourselves() if (process := _find(pid, rows[pid]))}


def _opened_for_a_person(
    found: Collection[int], rows: Mapping[int, _Row], processes: Sequence[ProcessToEnd]
) -> set[int]:
    """Find those of these pids that a browser started and that are none of its own helpers, with all below them.

    One whose parent has ended is taken for such a one, too: what opens a file does not wait for its program.
    """
    homes = {_home_of(process.program) for process in processes if process.program}
    if not homes:
        return set()
    named = {process.pid for process in processes} & set(found)  # a browser that has just ended may be a parent still
    own = {pid for pid in found if _is_below(_program(pid, rows[pid]), homes)}

    def is_foreign(pid: int) -> bool:
        while pid in found and pid not in named:
            pid = rows[pid].parent
            if pid in own:
                return True
        return pid not in named

    return {pid for pid in found if pid not in own | named and is_foreign(pid)}


def _home_of(program: str) -> Path:
    """Return the folder of a browser's helpers, or the program itself if it lies among those of others."""
    path = Path(program)
    bundle = next((place for place in path.parents if place.suffix == ".app"), None)
    return bundle or (path if path.parent.name in {"bin", "sbin"} else path.parent)


def _is_below(program: str | None, homes: Iterable[Path]) -> bool:
    """Return True for a program in one of these folders, and for one that cannot be told."""
    return program is None or any(Path(program).is_relative_to(home) for home in homes)


def _program(pid: int, row: _Row) -> str | None:
    """Return the path of a process's program; None if it may not be read, or the process has ended."""
    if (process := _find(pid, row)) is None:
        return None
    with contextlib.suppress(psutil.Error, OSError):
        if program := process.exe():  # psutil has an empty one while a process ends, whose children are still its own
            return program
    with contextlib.suppress(psutil.Error, OSError):
        return next(iter(process.cmdline()), None)
    return None


def _offspring(found: set[int], rows: Mapping[int, _Row]) -> set[int]:
    """Find the descendants of these pids; a child older than its parent belongs to an earlier process of the pid."""
    children: dict[int, list[int]] = {}
    for pid, row in rows.items():
        children.setdefault(row.parent, []).append(pid)
    seen, todo = set(found), list(found)
    while todo:
        parent = todo.pop()
        for child in children.get(parent, ()):
            if child not in seen and rows[child].started >= rows[parent].started:
                seen.add(child)
                todo.append(child)
    return seen


def _ourselves() -> set[int]:
    """Return the pids of this process and its ancestors, which are never ended, whatever a record says."""
    own = {0, 1, os.getpid()}
    with contextlib.suppress(psutil.Error):
        own.update(parent.pid for parent in psutil.Process().parents())
    return own


def _end_processes(
    processes: Sequence[ProcessToEnd], places: Collection[Path], deadline: Deadline
) -> set[psutil.Process]:
    """Terminate, then kill until the deadline; returns the processes that still run."""
    targets = _ours(processes, places)
    _signal(targets, psutil.Process.terminate)
    _wait_for_end(targets, deadline)
    while True:
        # Looked up again each time: a process may have started another one before it ended.
        targets = _running(targets) | _ours(processes, places)
        if not targets:
            return set()
        _signal(targets, psutil.Process.kill)
        _wait_for_end(targets, deadline)
        if not deadline.seconds_left:
            return _running(targets)


def _signal(processes: Iterable[psutil.Process], send: Callable[[psutil.Process], None]) -> None:
    for process in processes:
        # psutil compares the creation time before it sends.
        with contextlib.suppress(psutil.Error, OSError):
            send(process)


def _wait_for_end(processes: set[psutil.Process], deadline: Deadline) -> None:
    # Not psutil.wait_procs: it takes a zombie for alive, and an init that reaps nothing is common in containers.
    poll_until(lambda: not _running(processes), Deadline(min(_GRACE, deadline.seconds_left)), every=_POLL)


def _running(processes: set[psutil.Process]) -> set[psutil.Process]:
    return {process for process in processes if not process_identity.gone(process)}
