"""Runs a program as another user than root: `python unprivileged.py allow|deny WORD…`.

With `deny` the user can make no user namespaces, as in most containers. The user may read what root may, since the
interpreter may lie in root's home.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = 65534
_NEW_USER = 0x10000000
_MAY_READ = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


def missing() -> str | None:
    """Return why no program can be run as another user here, None if one can."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None:
        return "Only root on Linux can become another user, by setpriv."
    return None


def as_user(*words: str, namespaces: bool = True) -> list[str]:
    """Return the command that runs these words as another user."""
    return [sys.executable, __file__, "allow" if namespaces else "deny", *words]


@contextmanager
def folder_of_user() -> Iterator[Path]:
    """Make a folder of that user's, in a place that it reaches; its browsers see no folder of root's."""
    folder = Path(tempfile.mkdtemp(prefix="wo-", dir="/tmp"))
    os.chown(folder, USER, USER)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _deny_namespaces() -> None:
    """Move this process into a user namespace with the same users, in which no further one can be made."""
    libc = ctypes.CDLL(None, use_errno=True)
    us, (ready, go) = os.getpid(), os.pipe()
    writer = os.fork()
    if not writer:
        os.read(ready, 1)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{us}/{name}").write_text("0 0 65536", "ascii")
        os._exit(0)
    if libc.unshare(_NEW_USER):
        raise OSError(ctypes.get_errno(), "unshare")
    os.write(go, b"1")
    _, status = os.waitpid(writer, 0)
    assert status == 0
    Path("/proc/sys/user/max_user_namespaces").write_text("0", "ascii")


if __name__ == "__main__":
    if sys.argv[1] == "deny":
        _deny_namespaces()
    as_other = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *_MAY_READ]
    os.execvp("setpriv", ["setpriv", *as_other, *sys.argv[2:]])  # noqa: S606 - no shell is wanted
