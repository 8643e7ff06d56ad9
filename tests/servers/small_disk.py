"""Disks of a fixed size, in memory, for what happens when they are full."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.needed import needed


@contextmanager
def mounted(folder: Path, size: int) -> Iterator[None]:
    """Mount a disk of a size in bytes at an empty folder; the test is skipped where that is not possible."""
    needed(_mount(folder, size))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Fill the disk of a folder to its last byte."""
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        for size in (1_000_000, 4096, 1):
            try:
                while True:
                    ballast.write(b"x" * size)
            except OSError:
                continue


def _mount(folder: Path, size: int) -> str | None:
    """Mount the disk; return why that is not possible."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can mount a disk"
    options = f"size={size},mode=700"
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return f"no disk can be mounted: {done.stderr.strip()}" if done.returncode else None
