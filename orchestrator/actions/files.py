"""Files for the page: handed to a file input as the browser's own dialog would."""

from __future__ import annotations

import base64
import io
import os
import zipfile
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from orchestrator.actions.base import Acting, Action, Aimed
from orchestrator.actions.pickers import give
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure, Unsupported, brief
from orchestrator.machine import LOOPBACK

_UNKNOWN = frozenset({"unknown command", "unknown method", "HTTP 404", "HTTP 405"})
_SHOWN = 500
"""Characters of a path that an error repeats."""


class UploadFiles(Aimed, Acting):
    """Put files of this machine into a file input, or that of a button or label."""

    verb: ClassVar[str] = "upload_files"
    title: ClassVar[str] = "Upload files"
    instead: ClassVar[str] = "To put a file on the device: execute_script with mobile: pushFile."
    idempotent: ClassVar[bool] = True

    selector: str
    paths: list[str] = Field(min_length=1)

    def act(self, scene: Scene) -> Acted:
        """Element Send Keys with the paths; a far remote end is sent the files first."""
        files = [_readable(path) for path in self.paths]
        with scene.element(self.selector, "files", self.timeout, files=len(files), handle=True) as hit:
            places = [_send(scene, file) if scene.record.far else str(file) for file in files]
            if hit.facts.get("loose"):
                give(scene, places)
                return Acted(matches=hit.matches)
            with scene.find.frame(list(hit.facts.get("path") or ())):
                handle = next(iter(scene.web.handle().values()))
                text = "\n".join(places)
                scene.remote.execute("sendKeysToElement", id=handle, text=text, value=list(text))
            found = scene.ask("uploaded")
            return Acted(matches=hit.matches, warnings=_warnings([file.name for file in files], found))


def _readable(given: str) -> Path:
    """The file as an absolute path.

    Raises:
        InvalidArgument: There is no such file, or it cannot be read.
    """
    path = Path(given)
    try:
        path = path.expanduser().absolute()
        wrong = _hindrance(path)
    except (OSError, ValueError, RuntimeError):  # too long, a null character, a user that there is not
        wrong = "cannot be a file"
    if wrong:
        raise InvalidArgument(f"{brief(str(path), _SHOWN)!r} {wrong}.", hint="Give paths of files on this machine.")
    return path


def _hindrance(path: Path) -> str:
    """Why it cannot be given to a page; empty where it can."""
    if not path.exists():
        return "does not exist"
    if not path.is_file():
        return "is no file"
    if not os.access(path, os.R_OK):
        return "cannot be read"
    return "has a line break in its name" if "\n" in str(path) else ""


def _send(scene: Scene, file: Path) -> str:
    """Where the file lies at the remote end, once it was sent there (selenium's POST /session/{id}/se/file).

    A driver of this machine that knows no such command finds it where it is.

    Raises:
        Unsupported: The remote end takes no files.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, file.name)
    try:
        return str(scene.remote.execute("uploadFile", file=base64.b64encode(packed.getvalue()).decode()))
    except RemoteFailure as error:
        if error.details.get("error") not in _UNKNOWN:
            raise
        if urlsplit(scene.record.remote_url).hostname in LOOPBACK:
            return str(file)
        raise Unsupported(
            "The remote end takes no files from this machine: it does not know the command se/file.",
            hint="Use a Selenium Grid or a cloud that does, or a browser on this machine.",
        ) from error


def _warnings(names: list[str], found: dict[str, Any]) -> list[str]:
    held, taken = list(found["held"]), list(found["taken"])
    if taken != names:
        return [f"The page changed what was set: the input took {', '.join(taken) or 'no file'}."]
    if held != names:
        return [f"The input took the files; the page then left {', '.join(held) or 'none'} in it."]
    return []


ACTIONS: list[type[Action[Any]]] = [UploadFiles]
