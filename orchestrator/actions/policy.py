"""The session's policies: what happens by itself to what its pages do and nobody asked for."""

from __future__ import annotations

from typing import Any, ClassVar

from orchestrator.actions.base import Action
from orchestrator.actions.pickers import keep
from orchestrator.actions.results import InForce, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.policies import DialogPolicy, PermissionPolicy, PickerPolicy, TabPolicy


class SetPolicy(Action[InForce]):
    """Choose what happens by itself to what pages do unasked; raise: it is handled and reported."""

    verb: ClassVar[str] = "set_policy"
    title: ClassVar[str] = "Set policies"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "An alert of an app stays open until handle_dialog."
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = InForce

    dialogs: DialogPolicy | None = None
    permissions: PermissionPolicy | None = None
    notifications: PermissionPolicy | None = None
    file_pickers: PickerPolicy | None = None
    new_tabs: TabPolicy | None = None

    def perform(self, scene: Scene) -> InForce:
        """They stand in the record, so that every process keeps to them."""
        given = {name: value for name, value in self if value is not None}
        if not given:
            raise InvalidArgument(
                "No policy is given.", hint="Give dialogs, permissions, notifications, filePickers or newTabs."
            )
        asked = given.keys() & {"permissions", "notifications"}
        if asked:
            scene.need("permissions")
        if "file_pickers" in given:
            scene.need("file_pickers")
        scene.change(policies=scene.record.policies.changed(**given))
        if asked:
            scene.permissions.withdraw()
            scene.permissions.keep()
        if "file_pickers" in given:
            keep(scene, scene.record.tabs)
        return InForce.of(scene.record.policies)


ACTIONS: list[type[Action[Any]]] = [SetPolicy]
"""One."""
