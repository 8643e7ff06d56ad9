"""Files about a test: pictures, outlines, logs and a timeline."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import rmtree

from orchestrator.errors import OrchestratorError, Unsupported
from orchestrator.pytest_plugin.group import SessionGroup
from orchestrator.pytest_plugin.handles import RecordedSession
from orchestrator.pytest_plugin.steps import CallStep
from orchestrator.pytest_plugin.timeline import Lane, render_timeline
from orchestrator.system.activity import ActivityEntry
from orchestrator.system.output import write_file

TIMELINE = "timeline.html"
_LONGEST_NAME = 120
"""Characters of a folder's name."""
_RERUN = "-rerun-"
_EVERYTHING = 10_000
"""Lines and entries that a file may have."""


@dataclass(frozen=True)
class Artifact:
    """A file about a test; `user` is the session that it is of, empty for all of them."""

    user: str
    kind: str
    path: Path

    @property
    def label(self) -> str:
        """The name by which reports list it."""
        return f"{self.user} {self.kind}".strip()


def folder_of(output: Path, node_id: str, attempt: int = 1) -> Path:
    """Return the folder of a test, by its id; each attempt at a test that is run again has one of its own."""
    name = re.sub(r"[^\w.]+", "-", node_id.replace(".py::", "-")).strip("-")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(node_id.encode()).hexdigest()[:8]}"
    return output / (name if attempt == 1 else f"{name}{_RERUN}{attempt - 1}")


def prepare(group: SessionGroup, folder: Path) -> None:
    """Remove what an earlier run left of a test; have a picture taken after each step if that is wanted."""
    if group.options.artifacts == "off":
        return
    group.folder = folder
    for left in (folder, *folder.parent.glob(f"{folder.name}{_RERUN}*")):
        rmtree(left, ignore_errors=True)
    if group.options.artifacts != "on":
        return

    def take(step: CallStep) -> Path | None:
        session, path = group.get(step.name), folder / f"{step.name}-{step.number}.jpg"
        with suppress(OrchestratorError):
            if session is not None:
                session.plain.take_screenshot(path=str(path), format="jpeg", overwrite=True)
                return path
        return None

    group.log.take_picture = take


def collect(group: SessionGroup, folder: Path, until: float) -> list[Artifact]:
    """Write the files about a test whose sessions are open; what cannot be read says why in its file.

    `until` is when the test ended, in seconds since the epoch.
    """
    if not group:
        return []
    calls = {name: _read_calls(group, session, folder, until) for name, session in group.items()}
    with ThreadPoolExecutor(len(calls)) as pool:
        of_sessions = pool.map(lambda name: _collect_session(group, group[name], folder, calls[name]), calls)
    found = [artifact for artifacts in of_sessions for artifact in artifacts]
    write_file(folder / TIMELINE, render_timeline(folder.name, _lanes(group, calls, found), group.failure))
    parities = [Artifact("", path.stem, path) for files in group.parities for path in files]
    attached = [Artifact("", name, folder / name) for name in group.attachments]
    for artifact in attached:
        write_file(artifact.path, group.attachments[artifact.kind])
    return [Artifact("", "timeline", folder / TIMELINE), *parities, *attached, *found]


def _read_calls(group: SessionGroup, session: RecordedSession, folder: Path, until: float) -> list[ActivityEntry]:
    """Read the calls of the test on a session, without the pictures that were taken for its artifacts."""
    return [
        entry
        for entry in group.worker.activity(session.id)
        if datetime.fromisoformat(entry.at).timestamp() <= until
        and not str(entry.arguments.get("path", "")).startswith(str(folder))
    ]


def _collect_session(
    group: SessionGroup, session: RecordedSession, folder: Path, calls: Sequence[ActivityEntry]
) -> list[Artifact]:
    plain, ending = session.plain, "failed" if group.failure else "end"
    picture = folder / f"{session.name}-{ending}.png"
    readers: dict[str, tuple[Path, Callable[[], str]]] = {
        "outline": (
            folder / f"{session.name}-outline.txt",
            lambda: plain.get_visible_elements(scope="page", limit=_EVERYTHING).outline or "",
        ),
        "console": (folder / f"{session.name}-console.txt", lambda: str(plain.get_console(limit=1000))),
        "network": (folder / f"{session.name}-network.txt", lambda: str(plain.get_network(limit=1000))),
        "activity": (
            folder / f"{session.name}-activity.jsonl",
            lambda: "\n".join(entry.model_dump_json(by_alias=True, exclude_defaults=True) for entry in calls),
        ),
    }
    artifacts = []
    with suppress(OrchestratorError):
        plain.take_screenshot(path=str(picture), overwrite=True)
        artifacts.append(Artifact(session.name, "screenshot", picture))
    for kind, (path, read) in readers.items():
        with suppress(Unsupported):
            write_file(path, _read(read))
            artifacts.append(Artifact(session.name, kind, path))
    if group.records(session):
        with suppress(OrchestratorError):
            artifacts.append(Artifact(session.name, "har", Path(plain.har("flush").path or "")))
    return artifacts


def _read(read: Callable[[], str]) -> str:
    try:
        return read()
    except Unsupported:
        raise
    except OrchestratorError as error:
        return f"Not read: {error}"


def _lanes(
    group: SessionGroup, calls: Mapping[str, Sequence[ActivityEntry]], artifacts: Sequence[Artifact]
) -> list[Lane]:
    last = {artifact.user: artifact.path for artifact in artifacts if artifact.kind == "screenshot"}
    return [
        Lane(
            name=session.name,
            about=" ".join(session.facts.capabilities.values()),
            entries=calls[session.name],
            pictures=[
                (step.at + step.duration, step.picture.name)
                for step in group.log.steps
                if step.name == session.name and step.picture
            ],
            last=last[session.name].name if session.name in last else None,
        )
        for session in group.values()
    ]
