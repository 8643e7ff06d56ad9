"""Ends processes of ours with all that they started, and sweeps what dead servers left.

psutil and the standard library alone: the keeper ends by this, too. A process finds its way back to us in three ways:
by its record, by its process group, and by the variable `ORCHESTRATOR_FOLDER` that whatever it starts inherits; so a
browser whose driver was killed is found, and so is a driver whose server was killed before it could write a record.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from orchestrator import folders, living
from orchestrator.living import Identity

MARK = "ORCHESTRATOR_FOLDER"
"""The environment variable by which a process and its offspring are known to belong to a folder."""

_GRACE = 1.0
"""How long a process may take to end by itself after it was asked to."""

_SWEPT = 5.0
"""Seconds that a sweep may take."""

_POLL = 0.01


def end(processes: Sequence[Identity], places: Collection[Path], deadline: float) -> list[str]:
    """End these processes, whatever runs in these folders, and all that they started; then remove the folders.

    It may be repeated, and never raises. Returns a sentence for each process or folder that is there after `deadline`
    seconds.
    """
    until = time.monotonic() + deadline
    try:
        left = _end_processes(processes, places, until)
    except (psutil.Error, OSError) as error:
        return [f"The processes of this system could not be listed: {error}."]
    if left:  # The folders stay: by them a later sweep finds what runs on.
        return [f"Process {process.pid} could not be ended." for process in sorted(left, key=lambda p: p.pid)]
    return [problem for place in places if (problem := folders.remove(place, until))]


def sweep(home: Path, live_folders: Collection[str]) -> list[str]:
    """End what dead servers left behind: everything in folders of `home` that no live record names.

    A folder whose maker runs is left alone, since a start may be under way there; so is a released one in use.
    Returns a sentence for each thing that could not be ended.
    """
    left = unclaimed(home, live_folders)
    if not left:
        return []
    in_use = {row.mark for row in _table().values()}
    dead = [place for place in left if not (folders.released(place) and str(place) in in_use)]
    return end((), dead, _SWEPT) if dead else []


def unclaimed(home: Path, live_folders: Collection[str]) -> list[Path]:
    """The folders that no live record names and whose maker is dead."""
    named = {Path(folder).name for folder in live_folders}
    return [place for place in folders.all_of(home) if place.name not in named and not _maker_runs(place)]


def _maker_runs(place: Path) -> bool:
    maker = folders.maker(place)
    return folders.is_new(place) if maker is None else living.alive(maker)


class _Row(NamedTuple):
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
            if not living.gone(process):
                rows[pid] = _Row(process, process.create_time(), process.ppid(), _group(pid), _mark(process))
    return rows


def _group(pid: int) -> int:
    return 0 if sys.platform == "win32" else os.getpgid(pid)


def _mark(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None


def _ours(processes: Iterable[Identity], places: Collection[Path]) -> set[psutil.Process]:
    """These processes, those marked with a folder, their groups, and the offspring of them all; never ourselves."""
    rows = _table()
    marks = {str(place) for place in places}
    found = {p.pid for p in processes if p.pid in rows and living.alive(p)}
    found |= {pid for pid, row in rows.items() if row.mark in marks}
    # At once, since what we and those above us started is not theirs whom the record meant.
    found -= _ourselves()
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
            if child not in seen and rows[child].created >= rows[parent].created - living.SAME:
                seen.add(child)
                todo.append(child)
    return seen


def _ourselves() -> set[int]:
    """This process and those above it: whatever a record says, they are never ended."""
    own = {0, 1, os.getpid()}
    with contextlib.suppress(psutil.Error):
        own.update(parent.pid for parent in psutil.Process().parents())
    return own


def _end_processes(processes: Sequence[Identity], places: Collection[Path], until: float) -> set[psutil.Process]:
    known = _ours(processes, places)
    _signal(known, psutil.Process.terminate)
    _wait(known, min(until, time.monotonic() + _GRACE))
    while True:
        # Looked up again each time: what was just ended may have started another one meanwhile.
        known = {process for process in known if not living.gone(process)} | _ours(processes, places)
        if not known:
            return set()
        _signal(known, psutil.Process.kill)
        _wait(known, min(until, time.monotonic() + _GRACE))
        if time.monotonic() >= until:
            return {process for process in known if not living.gone(process)}


def _signal(known: Iterable[psutil.Process], send: Callable[[psutil.Process], None]) -> None:
    for process in known:
        # psutil compares the creation time before it sends.
        with contextlib.suppress(psutil.Error, OSError):
            send(process)


def _wait(known: Iterable[psutil.Process], until: float) -> None:
    # Not psutil.wait_procs: it takes a zombie for alive, and an init that reaps nothing is common in containers.
    waiting = list(known)
    while waiting := [process for process in waiting if not living.gone(process)]:
        if time.monotonic() >= until:
            return
        time.sleep(_POLL)
