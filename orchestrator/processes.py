"""Every process of ours: started so that it outlives us, known by pid and creation time, ended with all it started."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from orchestrator import ending, folders, living
from orchestrator.errors import StartFailed
from orchestrator.models import ProcessInfo

alive = living.alive
make_folder = folders.make_folder
sweep = ending.sweep

_ENDED_WITHIN = 5.0
_SHORT_OF = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Open files, memory, processes."""


def info(pid: int, name: str | None = None, *, folder: Path | None = None) -> ProcessInfo | None:
    """The identity of a running process, None when there is none; its own name is taken unless one is given."""
    try:
        process = psutil.Process(pid)
        created, own = process.create_time(), name or process.name()
    except psutil.Error:
        return None
    return ProcessInfo(pid=pid, created=created, name=own, folder=None if folder is None else str(folder))


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
    environ = {
        **os.environ,
        **(env or {}),
        **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary),
        ending.MARK: str(folder),
    }
    try:
        with (folder / f"{name}.log").open("ab") as output:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environ,
                cwd=folder,
                **apart(),
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


def end(processes: Sequence[ProcessInfo], *, deadline: float = _ENDED_WITHIN) -> list[str]:
    """End these processes and all that they started, then remove their folders; may be repeated, never raises.

    Returns a sentence for each process or folder that is still there at the deadline.
    """
    places = {Path(process.folder) for process in processes if process.folder}
    return ending.end(processes, places, deadline)


def end_folders(places: Collection[Path], *, deadline: float = _ENDED_WITHIN) -> list[str]:
    """End whatever runs in these folders, recorded or not, and remove them: for a start that did not succeed."""
    return ending.end((), places, deadline)


def apart() -> dict[str, Any]:
    """What keeps a child out of the reach of signals that are meant for us: arguments of `subprocess.Popen`."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def release(processes: Iterable[ProcessInfo]) -> None:
    """Strike processes from ours: they are the user's now, and the sweep leaves their folders until they end."""
    for process in processes:
        if process.folder:
            folders.release(Path(process.folder))


def _not_started(name: str, program: str, error: OSError) -> StartFailed:
    if isinstance(error, FileNotFoundError) and not Path(program).exists():
        reason, hint = f"{program} is not there", "Install it, or correct the setting that names it."
    elif isinstance(error, PermissionError):
        reason, hint = f"{program} may not be run", "Make it executable for this user, or name another one."
    elif error.errno in _SHORT_OF:
        reason, hint = f"{program}: {error.strerror}", "Close what is not needed, or raise this user's limits (ulimit)."
    else:
        reason, hint = f"{program}: {error.strerror or error}", "Check that it is a program for this system."
    return StartFailed(f"{name} did not start: {reason}.", hint=hint)
