"""A wall clock that a test sets, for the server, the keeper and the browsers that it starts.

What is set is what a step of the system's clock changes: the time that the C library tells, and the time of the boot in
`/proc/stat`, from which psutil computes creation times.
"""

from __future__ import annotations

import os
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "data" / "clock" / "stepped.c"
_UNSHARE = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--map-root-user", "--mount")


def missing() -> str | None:
    """Return what is missing to set a clock, None if nothing is."""
    if sys.platform != "linux":
        return "only on Linux a clock can be set for some processes alone"
    lacking = [name for name in ("cc", "unshare", "mount") if shutil.which(name) is None]
    if lacking:
        return f"{', '.join(lacking)} is not here: make clock"
    allowed = subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    return None if allowed else "this user may not make a mount namespace"


class SteppedClock:
    """The clock of the servers that are started during `installed`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._library, self._offset, self._stat = folder / "stepped.so", folder / "offset", folder / "stat"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self._library, SOURCE], check=True)
        self._real = Path("/proc/stat").read_text("ascii")
        self.step(0)

    def step(self, hours: float) -> None:
        """Set the clock to so many hours after the real time; the files are changed in place, since they are in use."""
        seconds = int(hours * 3600)
        lines = [self._stepped(line, seconds) for line in self._real.splitlines()]
        for path, content in (
            (self._offset, struct.pack("d", seconds)),
            (self._stat, "\n".join([*lines, ""]).encode()),
        ):
            path.touch()
            with path.open("r+b") as file:
                file.write(content)

    def _stepped(self, line: str, seconds: int) -> str:
        name, _, value = line.partition(" ")
        return f"{name} {int(value) + seconds}" if name == "btime" else line

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let servers that are started during the block have this clock, with all that they start."""
        start = self._folder / "start"
        python = f'exec {shlex.quote(sys.executable)} "$@"'
        environ = {"LD_PRELOAD": str(self._library), "CLOCK_OFFSET": str(self._offset)}
        inner = f"mount --bind {self._stat} /proc/stat && {_exports(environ)} {python}"
        start.write_text(f'#!/bin/sh\nexec {shlex.join([*_UNSHARE, "sh", "-c", inner, "sh"])} "$@"\n')
        start.chmod(0o755)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", str(start))
            yield


def _exports(environ: dict[str, str]) -> str:
    return " ".join(f"export {name}={shlex.quote(value)};" for name, value in environ.items())
