"""Starts processes that outlive this one, and ends them with all that they started."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from orchestrator.errors import StartFailed
from orchestrator.models.session import ProcessInfo
from orchestrator.system import folders, process_identity, process_termination
from orchestrator.system.host import private_files
from orchestrator.system.host.private_files import ForeignPlace
from orchestrator.system.machine import child_environment

alive = process_identity.alive
sweep = process_termination.sweep

_ENDED_WITHIN = 5.0
_SHOWN = 200
"""Characters of an error message of a program that are reported."""
_SHORT_OF = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Error numbers of a lack of open files, memory or processes."""


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The output of a program that has ended, or the reason for having none.

    Attributes:
        text: Its standard output.
        errors: Its standard error.
        problem: What went wrong, as a predicate: "did not answer within 10 s". Empty when it ended with 0.
    """

    text: str = ""
    errors: str = ""
    problem: str = ""


def run_program(program: Path, *arguments: str, environ: Mapping[str, str], timeout: float) -> ProgramOutput:
    """Run a program that answers and ends; one that does not is ended after `timeout` seconds.

    Of the environment it gets what programs usually need.
    """
    try:
        done = subprocess.run(
            [str(program), *arguments],
            env=child_environment(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ProgramOutput(problem=f"did not answer within {timeout:g} s")
    except OSError as error:
        return ProgramOutput(problem=f"cannot be run ({error.strerror})")
    if done.returncode:
        message = " ".join((done.stderr or done.stdout).split())[:_SHOWN].rstrip(".")
        return ProgramOutput(problem=f"ended with {done.returncode}{': ' if message else ''}{message}")
    return ProgramOutput(done.stdout, done.stderr)


def make_folder(home: Path) -> Path:
    """Create a temporary folder for processes below `home`.

    Raises:
        StartFailed: It cannot be created, or its place belongs to another user.
    """
    try:
        return folders.make_folder(home)
    except ForeignPlace as error:
        raise _in_foreign_place(error) from error
    except OSError as error:
        raise StartFailed(
            f"A folder below {home} cannot be created: {error.strerror or error}.",
            hint="Check that its disk has room and that this user can write there; the setting home names it.",
        ) from error


def info(pid: int, name: str | None = None, *, folder: Path | None = None) -> ProcessInfo | None:
    """Return the identity of a running process, None if none has the pid; `name` defaults to the process's own."""
    try:
        process = psutil.Process(pid)
        name = name or process.name()
        key = process_identity.ProcessKey.of(pid)
    except psutil.Error:
        return None
    place = None if folder is None else str(folder)
    return ProcessInfo(**key._asdict(), name=name, folder=place)


def spawn(
    name: str,
    command: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str] | None,
    record: Callable[[ProcessInfo], None],
    passed: str = "",
) -> ProcessInfo:
    """Start a process that outlives this one and signals to our process group, and `record` it before it is used.

    Of our environment it gets what programs usually need, and the variables whose names match `passed`; besides `env`.
    Its output goes to `folder/<name>.log`, its temporary files below `folder`; its working folder is `folder`.
    If `record` raises, the process is ended, its folder removed, and the error raised again.

    Raises:
        StartFailed: The program does not exist or cannot be run, or its temporary folder is not ours any more.
    """
    try:
        temporary = str(folders.temporary(folder))
    except ForeignPlace as error:
        raise _in_foreign_place(error) from error
    environ = {
        **child_environment(os.environ, passed),
        **(env or {}),
        **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary),
        process_termination.FOLDER_VARIABLE: str(folder),
    }
    try:
        with private_files.open_to_append(folder / f"{name}.log") as output:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environ,
                cwd=folder,
                **build_popen_isolation(),
            )
    except OSError as error:
        raise _not_started(name, command[0], error) from error
    # Read before the process is reaped, so that even one that ended at once has its own creation time.
    started = info(child.pid, name, folder=folder) or ProcessInfo(
        pid=child.pid, created=time.time(), name=name, folder=str(folder)
    )
    threading.Thread(target=child.wait, name=f"reap-{name}-{child.pid}", daemon=True).start()
    try:
        record(started)
    except BaseException:
        end_processes([started])
        raise
    return started


def end_processes(processes: Sequence[ProcessInfo], *, deadline: float = _ENDED_WITHIN) -> list[str]:
    """End these processes and all that they started, then remove their folders; may be repeated, never raises.

    Returns a sentence for each process or folder that is left after `deadline` seconds.
    """
    places = {Path(process.folder) for process in processes if process.folder}
    return process_termination.end_processes_and_folders(processes, places, deadline)


def end_folders(places: Collection[Path], *, deadline: float = _ENDED_WITHIN) -> list[str]:
    """End the processes that run in these folders, recorded or not, and remove the folders: after a failed start."""
    return process_termination.end_processes_and_folders((), places, deadline)


def build_popen_isolation() -> dict[str, Any]:
    """Return arguments for `subprocess.Popen` that keep a child from our group's signals, and others from its files."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True, "umask": private_files.UMASK}


def release(processes: Iterable[ProcessInfo]) -> None:
    """Leave processes to the user: the sweep spares their folders until they end."""
    for process in processes:
        if process.folder:
            folders.release(Path(process.folder))


def _in_foreign_place(error: ForeignPlace) -> StartFailed:
    hint = "Set home (ORCHESTRATOR_HOME) to a folder of this user's own; for a folder below /tmp, start again."
    return StartFailed(error.sentence, hint=hint)


def _not_started(name: str, program: str, error: OSError) -> StartFailed:
    if isinstance(error, FileNotFoundError) and not Path(program).exists():
        reason, hint = f"{program} does not exist", "Install it, or correct the setting that names it."
    elif isinstance(error, PermissionError):
        reason, hint = f"{program} may not be run", "Make it executable for this user, or name another program."
    elif error.errno in _SHORT_OF:
        reason, hint = f"{program}: {error.strerror}", "Close other programs, or raise this user's limits (ulimit)."
    else:
        reason, hint = f"{program}: {error.strerror or error}", "Check that it is a program for this system."
    return StartFailed(f"{name} did not start: {reason}.", hint=hint)
