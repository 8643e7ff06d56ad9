"""Recognizes file systems that other machines share: SQLite's locks do not hold there.

Source: https://www.sqlite.org/wal.html ("does not work over a network filesystem").
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import psutil

_SHARED = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "webdav", "davfs", "9p", "afs", "ncpfs", "coda"),
        *("ceph", "glusterfs", "lustre", "beegfs", "gpfs", "orangefs", "ocfs2", "gfs2"),
    }
)
"""Types of file systems of other machines, or of several at once."""
_SHARED_FUSE = frozenset(
    {
        *("sshfs", "glusterfs", "ceph", "ceph-fuse", "s3fs", "gcsfuse", "goofys", "rclone"),
        *("davfs", "davfs2", "smbnetfs", "curlftpfs", "juicefs", "afpfs", "seaweedfs", "blobfuse", "blobfuse2"),
    }
)
"""Programs that serve such ones, as in `fuse.sshfs`."""


class Mount(NamedTuple):
    """A place where a file system is mounted."""

    mountpoint: str
    fstype: str
    opts: str = ""


def find_shared(folder: Path, mounts: Iterable[Mount] | None = None) -> Mount | None:
    """Return the file system of a folder, which need not exist yet, if other machines share it; else None.

    Args:
        folder: The folder.
        mounts: The table of mounts; that of this machine unless given.
    """
    place = folder.resolve()
    best: Mount | None = None
    for mount in _table() if mounts is None else mounts:
        # Of two at one place the later one hides the earlier.
        is_above = place.is_relative_to(mount.mountpoint)
        if is_above and (best is None or len(mount.mountpoint) >= len(best.mountpoint)):
            best = mount
    return best if best and _is_shared(best) else None


def _table() -> list[Mount]:
    try:
        return [Mount(one.mountpoint, one.fstype, one.opts) for one in psutil.disk_partitions(all=True)]
    except (OSError, psutil.Error):
        return []


def _is_shared(mount: Mount) -> bool:
    kind = mount.fstype.lower()
    if sys.platform == "win32":
        return "remote" in mount.opts
    if kind == "9p" and mount.mountpoint == "/":  # a sandbox such as gVisor shows all of its own files so
        return False
    return kind in _SHARED or (kind.startswith("fuse.") and kind.removeprefix("fuse.") in _SHARED_FUSE)
