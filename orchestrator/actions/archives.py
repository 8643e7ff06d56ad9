"""HTTP archives of what a session's pages ask for: recorded, and played back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from orchestrator.actions.base import Action
from orchestrator.actions.network_results import Archive
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.network import archive
from orchestrator.network.journal import LARGEST, Journal

_MOST = 20
"""Archives that a session may play back."""


class Har(Action[Archive]):
    """Record network traffic into a HAR file, or replay one: requests are answered from it."""

    verb: ClassVar[str] = "har"
    title: ClassVar[str] = "Record or replay a HAR"
    instead: ClassVar[str] = "The traffic of an app is not recorded; get_console reads its log."
    result: ClassVar[type[Outcome]] = Archive

    action: Literal["start", "flush", "stop", "replay"]
    path: str | None = None
    not_found: Literal["continue", "abort"] = "continue"

    @model_validator(mode="after")
    def _fits(self) -> Har:
        if self.action == "replay" and self.path is None:
            raise ValueError("replay needs path")
        if self.action != "replay" and self.not_found != "continue":
            raise ValueError(f"{self.action} takes no notFound")
        return self

    def perform(self, scene: Scene) -> Archive:
        """What is recorded and replayed stands in the record; what was recorded, in a journal below `home`."""
        scene.need("network")
        scene.traffic.need()
        found = {"start": self._start, "flush": self._flush, "stop": self._stop, "replay": self._replay}[self.action](
            scene
        )
        record = scene.record
        return found.model_copy(
            update={"recording": bool(record.har), "replays": [str(one["path"]) for one in record.replays]}
        )

    def _start(self, scene: Scene) -> Archive:
        record, home = scene.record, scene.settings.home
        if record.har:
            raise InvalidArgument(f"It is being recorded to {record.har} already.", hint="Call har with flush or stop.")
        path = archive.unused(record, home) if self.path is None else archive.target(self.path)
        Journal.of(record, home).begin()
        scene.write(har=str(path))
        scene.follow()
        return Archive(path=str(path))

    def _flush(self, scene: Scene) -> Archive:
        record, home = scene.record, scene.settings.home
        if not record.har:
            raise InvalidArgument("Nothing is being recorded.", hint="Call har with start, or start with option har.")
        path = Path(record.har) if self.path is None else archive.target(self.path)
        more, journal = scene.traffic.drain(), Journal.of(record, home)
        pages, entries = archive.write(path, record, journal, more)
        full = [f"The recording is full ({LARGEST // 1_000_000} MB): what came later is missing."]
        return Archive(path=str(path), pages=pages, entries=entries, warnings=full if journal.full else [])

    def _stop(self, scene: Scene) -> Archive:
        record = scene.record
        if not (record.har or record.replays):
            raise InvalidArgument("Nothing is being recorded or replayed.", hint="Call har with start or replay.")
        done = self._flush(scene) if record.har else Archive()
        scene.write(har="", replays=())
        scene.follow()
        Journal.of(record, scene.settings.home).remove()
        return done

    def _replay(self, scene: Scene) -> Archive:
        path = str(archive.source(self.path or ""))
        others = [one for one in scene.record.replays if one["path"] != path]
        if len(others) >= _MOST:
            raise InvalidArgument(f"{_MOST} archives are being replayed.", hint="End them: har with stop.")
        scene.write(replays=({"path": path, "notFound": self.not_found}, *others))
        scene.follow()
        return Archive(path=path)


ACTIONS: list[type[Action[Any]]] = [Har]
