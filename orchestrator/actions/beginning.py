"""What a browser that has just started is told before it goes anywhere: all that its record says of it."""

from __future__ import annotations

from contextlib import suppress

from orchestrator.actions import downloads, pickers
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.errors import DialogOpen, RemoteFailure, TimedOut


def begin(scene: Scene) -> Acted:
    """Have the browser pretend what its record says, and keep to its policies.

    A far remote end without a BiDi socket takes a round trip for each permission: there it is asked for first. So it is
    in a browser that is the user's: what its pages may do is the user's business.
    """
    scene.emulator.begin()
    scene.tabs.told()
    if scene.record.owned and (scene.bidi is not None or not scene.record.far):
        scene.permissions.keep()
    if scene.record.policies.downloads == "deny":
        downloads.keep(scene)
    if scene.record.policies.file_pickers == "manual":
        pickers.keep(scene, scene.record.tabs)
    return Acted()


def open_first(scene: Scene) -> None:
    """Open the page that the session began with, in a remote end that took the place of its first one."""
    if url := (scene.record.request or {}).get("navigation_url"):
        # A session without its first page is better than none: the next result tells where it is.
        with suppress(RemoteFailure, TimedOut, DialogOpen):
            scene.remote.execute("get", url=url)
