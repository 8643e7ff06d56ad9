"""The session's policies: what happens by itself to what its pages do and nobody asked for."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Annotated, Any, ClassVar

from pydantic import WithJsonSchema

from orchestrator import abilities
from orchestrator.actions import downloads, pickers
from orchestrator.actions.base import Action
from orchestrator.actions.results import InForce, Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, OrchestratorError, Unsupported
from orchestrator.models import SessionType
from orchestrator.policies import DialogPolicy, DownloadPolicy, PermissionPolicy, PickerPolicy, TabPolicy

_ASKED = frozenset({"permissions", "notifications"})
"""What pages ask their user for."""
_ANY = WithJsonSchema({"type": "string"})
"""The values of all but the first two are in the description: a list of them a policy is paid for by every model."""


class SetPolicy(Action[InForce]):
    """Decide on what pages do unasked: raise (handled and reported), allow, deny, manual."""

    verb: ClassVar[str] = "set_policy"
    title: ClassVar[str] = "Set policies"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "An alert of an app stays open until handle_dialog."
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = InForce

    dialogs: DialogPolicy | None = None
    permissions: PermissionPolicy | None = None
    notifications: Annotated[PermissionPolicy | None, _ANY] = None
    file_pickers: Annotated[PickerPolicy | None, _ANY] = None
    downloads: Annotated[DownloadPolicy | None, _ANY] = None
    new_tabs: Annotated[TabPolicy | None, _ANY] = None

    def perform(self, scene: Scene) -> InForce:
        """They stand in the record, so that every process keeps to them."""
        given = {name: value for name, value in self if value is not None}
        if not given:
            raise InvalidArgument(
                "No policy is given.",
                hint="Give dialogs, permissions, notifications, filePickers, downloads or newTabs.",
            )
        _refuse(scene, given.keys())
        scene.glance()
        before = scene.record
        scene.change(policies=before.policies.changed(**given))
        try:
            _tell(scene, given.keys())
        except OrchestratorError:
            scene.change(policies=before.policies, approvals=before.approvals)
            with suppress(OrchestratorError):
                _tell(scene, given.keys())  # what it did take of them
            raise
        return InForce.of(scene.record.policies)


def _tell(scene: Scene, given: Collection[str]) -> None:
    """Have the browser keep to what the record says of these.

    Raises:
        RemoteFailure, NoAnswer: It does not.
    """
    if not _ASKED.isdisjoint(given):
        scene.permissions.withdraw()
        scene.permissions.keep()
    if "file_pickers" in given:
        pickers.keep(scene, scene.record.tabs)
    if "downloads" in given:
        downloads.keep(scene)


def _refuse(scene: Scene, given: Collection[str]) -> None:
    """Refuse what would do nothing here.

    Raises:
        Unsupported: This session's remote end has no way to keep to one of the policies.
    """
    if scene.record.type is not SessionType.BROWSER and {*given} - {"dialogs"}:
        raise Unsupported("In a web view there is a policy for dialogs alone.", hint="The others are of browsers.")
    of_chromium = [name for name in ("permissions", "notifications", "file_pickers") if name in given]
    for name in of_chromium:
        scene.need("file_pickers" if name == "file_pickers" else "permissions")
    lacks = ""
    if of_chromium and scene.browser not in abilities.CHROMIUM:
        lacks = "speaks no Chrome DevTools Protocol"
    elif scene.bidi is None and not {"file_pickers", "downloads"}.isdisjoint(given):
        lacks = "has no BiDi socket"
    if lacks:
        raise Unsupported(f"This session's remote end {lacks}.", hint="Use Chrome or Edge on this machine.")


ACTIONS: list[type[Action[Any]]] = [SetPolicy]
"""One."""
