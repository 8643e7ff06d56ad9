"""Runs programs in a pid namespace of their own, as a container does: `python container.py WORD…`.

The words run as its first process, with a `/proc` of their own; the end of this process ends all that is in it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

_UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def missing() -> str | None:
    """Return why no pid namespace can be made here, None if one can."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return "Only Linux has pid namespaces, and unshare makes them."
    made = subprocess.run([*_UNSHARE, "true"], capture_output=True, text=True, check=False)
    return f"unshare: {made.stderr.strip()}" if made.returncode else None


def in_container(*words: str) -> list[str]:
    """Return the command that runs these words in a pid namespace of their own."""
    return [*_UNSHARE, *words]
