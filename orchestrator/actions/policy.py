"""The session's policies: what happens by itself to what its pages do and nobody asked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from orchestrator import abilities
from orchestrator.actions.base import Action
from orchestrator.actions.pickers import keep
from orchestrator.actions.results import InForce, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, Unsupported
from orchestrator.models import SessionType
from orchestrator.policies import DialogPolicy, PermissionPolicy, PickerPolicy, TabPolicy

_ASKED = frozenset({"permissions", "notifications"})
"""What pages ask their user for."""


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
        _refuse(scene, given.keys())
        scene.change(policies=scene.record.policies.changed(**given))
        if given.keys() & _ASKED:
            scene.permissions.withdraw()
            scene.permissions.keep()
        if "file_pickers" in given:
            keep(scene, scene.record.tabs)
        return InForce.of(scene.record.policies)


def _refuse(scene: Scene, given: Collection[str]) -> None:
    """Refuse what would do nothing here.

    Raises:
        Unsupported: This session's remote end has no way to keep to one of the policies.
    """
    if scene.record.type is not SessionType.BROWSER and {*given} - {"dialogs"}:
        raise Unsupported("In a web view there is a policy for dialogs alone.", hint="The others are of browsers.")
    wanted = {"permissions": _ASKED.intersection(given), "file_pickers": {"file_pickers"}.intersection(given)}
    for ability in (name for name, asked in wanted.items() if asked):
        scene.need(ability)
        lacks = "speaks no Chrome DevTools Protocol" if scene.browser not in abilities.CHROMIUM else ""
        if ability == "file_pickers" and scene.bidi is None:
            lacks = "has no BiDi socket"
        if lacks:
            raise Unsupported(f"This session's remote end {lacks}.", hint="Use Chrome or Edge on this machine.")


ACTIONS: list[type[Action[Any]]] = [SetPolicy]
"""One."""
