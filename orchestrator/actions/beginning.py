"""What a browser that has just started is told before it goes anywhere: all that its record says of it."""

from __future__ import annotations

from orchestrator.actions import downloads, pickers
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene


def begin(scene: Scene) -> Acted:
    """Have the browser pretend what its record says, and keep to its policies.

    A far remote end without a BiDi socket takes a round trip for each permission: there it is asked for first.
    """
    scene.emulator.begin()
    scene.tabs.told()
    if scene.bidi is not None or not scene.record.far:
        scene.permissions.keep()
    if scene.record.policies.downloads == "deny" or not scene.record.far:
        downloads.keep(scene)
    if scene.record.policies.file_pickers == "manual":
        pickers.keep(scene, scene.record.tabs)
    return Acted()
