"""Files that a browser downloaded, told by name; from far ones brought here where the remote end hands them out.

A Selenium Grid does so for sessions with `se:downloadsEnabled`.
Source: https://www.selenium.dev/documentation/webdriver/drivers/remote_webdriver/#enable-downloads-in-the-grid
"""

from __future__ import annotations

import base64
import io
import os
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure

if TYPE_CHECKING:
    from orchestrator.actions.scene import Scene
    from orchestrator.models import SessionRecord
    from orchestrator.settings import Settings

_LARGEST = 100_000_000
"""Bytes of a file that is brought: it comes as one answer, through memory."""
_SLOWEST = 120.0
"""Seconds that one file may take."""
_UNFINISHED = (".crdownload", ".part", ".tmp", ".download")
"""What browsers call a file that is still coming, or what they add to its name meanwhile."""


class Downloads:
    """What of one session's downloads was looked at by this process."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, Any]] = set()

    def bring(self, scene: Scene) -> None:
        """Tell each file that is new as an event; those that a remote end keeps are fetched before."""
        tell(scene)
        if scene.record.capabilities.get("se:downloadsEnabled") is not True:
            return
        try:
            found = scene.remote.execute("getDownloadableFiles")
        except OrchestratorError:
            return  # what was asked for is done: the next call finds what is wrong
        names = set(found.get("names") or ())
        told = {one["name"]: one for one in found.get("files") or ()}
        marks = {name: (name, told.get(name, {}).get("lastModifiedTime")) for name in names}
        self._seen &= {*marks.values()}  # what is gone there needs no remembering
        for name, mark in sorted(marks.items()):
            if mark not in self._seen and _is_whole(name, names):
                self._seen.add(mark)
                _tell(scene, name, told.get(name, {}))


def folder(record: SessionRecord, settings: Settings) -> Path:
    """Where the downloads of a session go."""
    return settings.home / "downloads" / record.namespace / record.id


def keep(scene: Scene) -> None:
    """Have the browser keep to the policy for downloads: it stops them, or puts them into the session's folder.

    One that was not started here does as it was told at its start.

    Source: https://www.w3.org/TR/webdriver-bidi/#command-browser-setDownloadBehavior.
    """
    if scene.bidi is None:
        return
    record, told = scene.record, None
    denied = record.policies.downloads == "deny"
    if denied:
        told = {"type": "denied"}
    elif record.owned and not record.far:
        told = {"type": "allowed", "destinationFolder": str(folder(record, scene.settings))}
    # A browser that does not know the command puts them where it likes; but nobody is to think that it denies them.
    with nullcontext() if denied else suppress(RemoteFailure, NoAnswer):
        own = [scene.bidi.user_context]
        scene.bidi.call("browser.setDownloadBehavior", downloadBehavior=told, userContexts=own)


def tell(scene: Scene) -> None:
    """Tell what was heard of downloads that ended, as events."""
    policy = scene.record.policies.downloads
    brought = scene.record.capabilities.get("se:downloadsEnabled") is True
    for name, path in scene.ears.downloads.take():
        if path is None and policy == "deny":
            scene.event(f"The page's download of {name!r} was stopped, as the policy says.")
        elif path is None:
            scene.event(f"The download of {name!r} ended without a file.")
        elif policy == "allow":
            continue
        elif not scene.record.far:
            scene.event(f"{name!r} was downloaded to {path}.")
        elif not brought:
            scene.event(f"{name!r} was downloaded at the remote end, to {path} there.")


def _is_whole(name: str, names: set[str]) -> bool:
    return not name.endswith(_UNFINISHED) and not names.intersection(f"{name}{ending}" for ending in _UNFINISHED)


def _tell(scene: Scene, name: str, facts: Mapping[str, Any]) -> None:
    size, modified = facts.get("size"), facts.get("lastModifiedTime")
    if isinstance(size, int) and size > _LARGEST:
        scene.event(f"{name!r} was downloaded there; with {size / 1e6:.0f} MB it is too large to be brought here.")
        return
    there = folder(scene.record, scene.settings)
    path, is_here = _place(there, name, size, modified)
    if is_here:
        return
    try:
        content = _content(scene.remote.execute("downloadFile", limit=_SLOWEST, name=name))
        there.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
        if modified:
            os.utime(path, (modified / 1000, modified / 1000))
    except (OrchestratorError, OSError, ValueError, LookupError, zipfile.BadZipFile) as error:
        said = error.message if isinstance(error, OrchestratorError) else f"{error}"
        scene.event(f"{name!r} was downloaded there, and could not be brought here: {said}")
        return
    if scene.record.policies.downloads != "allow":
        scene.event(f"{name!r} was downloaded to {path}.")


def _place(folder: Path, name: str, size: Any, modified: Any) -> tuple[Path, bool]:
    """Where a file goes, and whether it is there: another process may have brought it, an older one have its name."""
    # Names come from web pages.
    plain = Path(name.replace("\\", "/")).name.lstrip(".") or "download"
    path, number = folder / plain, 0
    while path.exists():
        there = path.stat()
        if there.st_size == size and modified and abs(there.st_mtime * 1000 - modified) < 1:
            return path, True
        number += 1
        path = folder / f"{Path(plain).stem} ({number}){Path(plain).suffix}"
    return path, False


def _content(answer: Mapping[str, Any]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(answer["contents"]))) as archive:
        [entry] = archive.infolist()
        if entry.file_size > _LARGEST:
            raise ValueError(f"with {entry.file_size / 1e6:.0f} MB it is too large.")
        return archive.read(entry)
