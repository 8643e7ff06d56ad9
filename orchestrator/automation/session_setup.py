"""Sets up a browser that has just started: emulation, permissions, downloads, file choosers."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.automation import downloads, file_choosers
from orchestrator.automation.scene import Scene
from orchestrator.models.session import SessionRecord, SessionType


def set_up_session(scene: Scene, *, soon: bool = False) -> None:
    """Apply the record's emulation and policies to the browser.

    With `soon`, the policies that only pages meet are applied meanwhile: the session's next call waits for it. Not in a
    context, which would wait for a long call of the session whose socket it shares.

    Permissions are set when the first page asks instead, where setting them costs a round trip each (a far remote end
    without a BiDi socket), and left as they are in a user's own browser and in further windows of a shared profile.
    """
    for sentence in scene.emulator.lacking(scene.record.emulation):
        scene.event(sentence)
    scene.emulator.apply_record()
    scene.tabs.record_current_emulation()
    works: list[Callable[[], None]] = []
    if _owns_permissions(scene.record) and (scene.bidi is not None or not scene.record.is_remote):
        works.append(scene.permissions.plan_policies())
    if scene.record.policies.downloads == "deny" or not scene.record.is_remote:
        works.append(downloads.plan_download_policy(scene))
    place = scene.record.instance
    if soon and works and scene.bidi is not None and (place is None or place.root):
        scene.subscriptions.do_soon(works)
    else:
        for work in works:
            work()
    if scene.record.policies.file_pickers == "manual":
        file_choosers.apply_picker_policy(scene, scene.record.tabs)


def _owns_permissions(record: SessionRecord) -> bool:
    """True if this session sets the permissions of its browser's pages."""
    place = record.instance
    is_further_window = place is not None and bool(place.profile) and not place.isolated and not place.root
    return record.type is SessionType.BROWSER and record.owned and not is_further_window
