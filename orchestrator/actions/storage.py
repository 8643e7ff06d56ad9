"""Saving what a browser knows a person by, for sessions to come."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from orchestrator import kept
from orchestrator.actions.base import Action, Part
from orchestrator.actions.browser_results import StorageSaved
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.storage_state import origin_of


class SaveStorageState(Action[StorageSaved]):
    """Save the session's login (cookies, local storage) as a file, which a start takes as storageState."""

    verb: ClassVar[str] = "save_storage_state"
    title: ClassVar[str] = "Save the storage state"
    instead: ClassVar[str] = "An app keeps what is its own: start it with noReset; manage_app puts it away and back."
    part: ClassVar[Part] = "context"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = StorageSaved

    path: str | None = None

    def perform(self, scene: Scene) -> StorageSaved:
        """Look at every origin that the session was at, and write what is there; no value of it is told."""
        path = self._target(scene)
        known = kept.read(scene.settings.home, scene.record)
        visited = [one["url"] for one in scene.tabs.facts()]
        origins = [*(one.origin for one in known.origins), *map(origin_of, visited)]
        state, warnings = scene.storing.whole(origins)
        try:
            state.write(path)
        except (OSError, ValueError) as error:  # ValueError: a null character
            why = getattr(error, "strerror", None) or error
            raise InvalidArgument(f"{path} cannot be written: {why}.", hint="Give another path.") from None
        return StorageSaved(
            path=str(path),
            cookie_count=len(state.cookies),
            origins=[one.origin for one in state.origins],
            item_count=sum(len(one.local_storage) for one in state.origins),
            warnings=warnings,
        )

    def _target(self, scene: Scene) -> Path:
        if self.path is None:
            return kept.saved(scene.settings.home, scene.record)
        try:
            path = Path(self.path).expanduser().absolute()
        except RuntimeError as error:
            raise InvalidArgument(f"{self.path!r} cannot be a file: {error}.", hint="Give another path.") from None
        if path.suffix.lower() != ".json":
            raise InvalidArgument(f"{self.path!r} does not end in .json.", hint="Name it for example login.json.")
        return path


ACTIONS: list[type[Action[Any]]] = [SaveStorageState]
