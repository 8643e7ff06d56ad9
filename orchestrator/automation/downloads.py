"""Report downloaded files as events, and fetch them from a Selenium Grid.

A Selenium Grid offers files of sessions with the capability `se:downloadsEnabled`.
Source: https://www.selenium.dev/documentation/webdriver/drivers/remote_webdriver/#enable-downloads-in-the-grid
"""

from __future__ import annotations

import base64
import io
import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure
from orchestrator.system.host import private_files

if TYPE_CHECKING:
    from orchestrator.automation.scene import Scene
    from orchestrator.models.session import SessionRecord
    from orchestrator.settings import Settings

_LARGEST = 100_000_000
"""Bytes of the largest file that is fetched: it comes as one answer, through memory."""
_FETCH_TIMEOUT = 120.0
"""Seconds to fetch a file."""
_UNFINISHED = (".crdownload", ".part", ".tmp", ".download")
"""Suffixes of files that browsers are still downloading."""


class DownloadFetcher:
    """Fetches a session's downloads from a Selenium Grid, each once."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, Any]] = set()

    def fetch_and_report(self, scene: Scene) -> None:
        """Report each new file as an event, after fetching it if the remote end keeps it."""
        report_downloads(scene)
        if scene.record.capabilities.get("se:downloadsEnabled") is not True:
            return
        try:
            answer = scene.remote.execute("getDownloadableFiles")
        except OrchestratorError:
            return  # the action itself succeeded: the next call meets the error
        names = set(answer.get("names") or ())
        facts = {file["name"]: file for file in answer.get("files") or ()}
        versions = {name: (name, facts.get(name, {}).get("lastModifiedTime")) for name in names}
        self._seen &= {*versions.values()}  # forget files that are gone
        for name, version in sorted(versions.items()):
            if version not in self._seen and _is_complete(name, names):
                self._seen.add(version)
                _fetch_file(scene, name, facts.get(name, {}))


def download_folder(record: SessionRecord, settings: Settings) -> Path:
    """The folder of a session's downloads."""
    return settings.home / "downloads" / record.namespace / record.id


def apply_download_policy(scene: Scene) -> None:
    """Apply the policy for downloads to the browser: deny them, or save them in the session's folder.

    A browser that was not started here keeps its own behaviour unless the policy is `deny`.
    """
    plan_download_policy(scene)()


def plan_download_policy(scene: Scene) -> Callable[[], None]:
    """Return what applies the record's policy for downloads as it is now, in any thread.

    Source: https://www.w3.org/TR/webdriver-bidi/#command-browser-setDownloadBehavior.
    """
    bidi = scene.bidi
    if bidi is None:
        return lambda: None
    record, behavior = scene.record, None
    denied = record.policies.downloads == "deny"
    if denied:
        behavior = {"type": "denied"}
    elif record.owned and not record.is_remote:
        behavior = {"type": "allowed", "destinationFolder": str(download_folder(record, scene.settings))}

    def apply() -> None:
        # Browsers without the command choose the folder themselves; but that downloads are not denied must be told.
        with nullcontext() if denied else suppress(RemoteFailure, NoAnswer):
            bidi.call("browser.setDownloadBehavior", downloadBehavior=behavior, userContexts=[bidi.user_context])

    return apply


def report_downloads(scene: Scene) -> None:
    """Report ended downloads as events."""
    policy = scene.record.policies.downloads
    is_fetched = scene.record.capabilities.get("se:downloadsEnabled") is True
    ended = scene.subscriptions.downloads.ended
    while ended:
        name, path, beyond, shortfall = ended.popleft()
        if beyond:
            scene.event(
                f"The download of {name!r} was cancelled: a session's downloads may have {beyond} together "
                "(setting downloads_max). Move or remove earlier ones."
            )
        elif path is None and policy == "deny":
            scene.event(f"The page's download of {name!r} was denied by policy.")
        elif path is None:
            scene.event(f"The download of {name!r} ended without a file.")
        elif shortfall:
            received, announced = shortfall
            where = " at the remote end" if scene.record.is_remote else ""
            scene.event(
                f"The download of {name!r} broke off: {received:,} of {announced:,} bytes are in {path}{where}."
            )
        elif policy == "allow":
            continue
        elif not scene.record.is_remote:
            scene.event(f"{name!r} was downloaded to {path}.")
        elif not is_fetched:
            scene.event(f"{name!r} was downloaded to {path} at the remote end.")


def _is_complete(name: str, names: set[str]) -> bool:
    return not name.endswith(_UNFINISHED) and not names.intersection(f"{name}{ending}" for ending in _UNFINISHED)


def _fetch_file(scene: Scene, name: str, facts: Mapping[str, Any]) -> None:
    size, modified = facts.get("size"), facts.get("lastModifiedTime")
    if isinstance(size, int) and size > _LARGEST:
        scene.event(f"{name!r} was downloaded at the remote end; {size / 1e6:.0f} MB are too large to fetch.")
        return
    folder = download_folder(scene.record, scene.settings)
    path, is_fetched = _choose_path(folder, name, size, modified)
    if is_fetched:
        return
    try:
        content = _content(scene.remote.execute("downloadFile", limit=_FETCH_TIMEOUT, name=name))
        private_files.make_folder(folder)
        private_files.create_with(path, content)
        if modified:
            os.utime(path, (modified / 1000, modified / 1000))
    except (OrchestratorError, OSError, ValueError, LookupError, zipfile.BadZipFile) as error:
        reason = error.message if isinstance(error, OrchestratorError) else f"{error}"
        scene.event(f"{name!r} was downloaded at the remote end and could not be fetched: {reason}")
        return
    if scene.record.policies.downloads != "allow":
        scene.event(f"{name!r} was downloaded to {path}.")


def _choose_path(folder: Path, name: str, size: Any, modified: Any) -> tuple[Path, bool]:
    """The file's path, and True if another process fetched it already; other files of its name are kept."""
    # Web pages choose the names: only the last part is used.
    plain = Path(name.replace("\\", "/")).name.lstrip(".") or "download"
    path, number = folder / plain, 0
    while path.exists():
        status = path.stat()
        if status.st_size == size and modified and abs(status.st_mtime * 1000 - modified) < 1:
            return path, True
        number += 1
        path = folder / f"{Path(plain).stem} ({number}){Path(plain).suffix}"
    return path, False


def _content(answer: Mapping[str, Any]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(answer["contents"]))) as archive:
        [entry] = archive.infolist()
        if entry.file_size > _LARGEST:
            raise ValueError(f"{entry.file_size / 1e6:.0f} MB are too large.")
        return archive.read(entry)
