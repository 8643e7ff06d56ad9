"""Reads the login of a browser session: cookies, and the storage of origins it visited."""

from __future__ import annotations

from orchestrator.automation.scene import Scene
from orchestrator.models.storage_state import StorageState, origin_of
from orchestrator.system import storage_files


def read_login(scene: Scene) -> tuple[StorageState, list[str]]:
    """Return the storage state of a session, and a warning for each missing part.

    Raises:
        OrchestratorError: The browser did not answer.
    """
    saved = storage_files.read(scene.settings.home, scene.record)
    visited = [tab["url"] for tab in scene.tabs.facts()]
    before = scene.subscriptions.visited_origins()
    return scene.storage.read_all([*(entry.origin for entry in saved.origins), *map(origin_of, visited), *before])
