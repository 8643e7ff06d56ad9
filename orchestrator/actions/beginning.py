"""What a browser that has just started is told before it goes anywhere: all that its record says of it."""

from __future__ import annotations

from orchestrator.actions import downloads, pickers
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.models import SessionRecord, SessionType


def begin(scene: Scene) -> Acted:
    """Have the browser pretend what its record says, and keep to its policies.

    A far remote end without a BiDi socket takes a round trip for each permission: there it is asked for first. So it is
    in a browser that is the user's, and in a further window of a profile, whose pages may what the first one said.
    """
    scene.emulator.begin()
    scene.tabs.told()
    if _is_ours(scene.record) and (scene.bidi is not None or not scene.record.far):
        scene.permissions.keep()
    if scene.record.policies.downloads == "deny" or not scene.record.far:
        downloads.keep(scene)
    if scene.record.policies.file_pickers == "manual":
        pickers.keep(scene, scene.record.tabs)
    return Acted()


def _is_ours(record: SessionRecord) -> bool:
    """Whether what pages may do is for this session to say."""
    place = record.instance
    further = place is not None and bool(place.profile) and not place.isolated and not place.root
    return record.type is SessionType.BROWSER and record.owned and not further
