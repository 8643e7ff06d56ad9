"""Set the policies for unrequested page events, and answer dialogs."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel

from orchestrator.actions.base import ALL_TYPES, Action, HasTimeout
from orchestrator.automation import dialogs, downloads, file_choosers, reporting
from orchestrator.automation.browser.permissions import NOT_OF_ORIGINS
from orchestrator.automation.browser.settling import ChangeObserver
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, NotActionable, OrchestratorError, RemoteFailure, Unsupported, brief
from orchestrator.models import browser_support
from orchestrator.models.policies import PolicyChanges
from orchestrator.models.results import Acted, Outcome, PolicyList
from orchestrator.models.session import ArmedDialog, SessionType
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.response import DIALOG_TEXT

_INTERVAL = 0.1
"""Seconds between two polls for an alert."""
_PERMISSION_POLICIES = frozenset({"permissions", "notifications"})


class HandleDialog(HasTimeout, Action[Acted]):
    """Answer the open alert, confirm or prompt dialog; with none open, the next one."""

    verb: ClassVar[str] = "handle_dialog"
    title: ClassVar[str] = "Answer a dialog"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    by_default: ClassVar[bool] = True

    accept: bool
    prompt_text: str | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _text_needs_accept(self) -> HandleDialog:
        if self.prompt_text is not None and not self.accept:
            raise ValueError("promptText needs accept: true")
        return self

    def perform(self, scene: Scene) -> Acted:
        """Answer the open dialog, or arm the answer to the next one; in an app, wait for an alert."""
        scene.check_unread_page()
        if scene.native:
            return self._answer_alert(scene)
        if dialog := _open_dialog(scene):
            self._answer(scene, dialog)
            return reporting.add_url_and_title(scene, Acted())
        scene.change(armed=ArmedDialog(accept=self.accept, prompt_text=self.prompt_text))
        how = "accepted" if self.accept else "dismissed"
        return Acted(warnings=[f"No dialog is open: the next one will be {how}."])

    def _answer(self, scene: Scene, dialog: _Dialog) -> None:
        if self.prompt_text is not None:
            dialogs.type_into_dialog(scene, self.prompt_text)
        scene.remote.execute("w3cAcceptAlert" if self.accept else "w3cDismissAlert")
        scene.event(f"The dialog {dialog.text!r} was {'accepted' if self.accept else 'dismissed'}.")

    def _answer_alert(self, scene: Scene) -> Acted:
        deadline = Deadline(scene.seconds(self.timeout))
        alert = poll_until(lambda: _open_dialog(scene), deadline, every=_INTERVAL)
        if alert is None:
            raise NotActionable(
                f"No alert is open (waited {deadline.elapsed_ms} ms).",
                hint="Call get_visible_elements; tap the app's own sheets and dialogs like other elements.",
            )

        if scene.scope.in_sequence:
            self._answer(scene, alert)
            return reporting.add_url_and_title(scene, Acted())
        observer = ChangeObserver.start(scene, "call")
        self._answer(scene, alert)
        return reporting.add_changes(scene, Acted(), observer)


class _Dialog(NamedTuple):
    """An open alert, confirm or prompt."""

    text: str


def _open_dialog(scene: Scene) -> _Dialog | None:
    scene.check()
    try:
        return _Dialog(brief(scene.remote.execute("w3cGetAlertText"), DIALOG_TEXT))
    except RemoteFailure as error:
        if error.details.get("error") != "no such alert":
            raise
        return None


class SetPolicy(PolicyChanges, Action[PolicyList]):
    """Set policies for unrequested page events: raise (handled and reported), allow, deny, manual."""

    verb: ClassVar[str] = "set_policy"
    title: ClassVar[str] = "Set policies"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "An alert of an app stays open until handle_dialog."
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = PolicyList

    def perform(self, scene: Scene) -> PolicyList:
        """Write the policies to the record, so that every process applies them, and apply them now."""
        given = {name: value for name, value in self if value is not None}
        if not given:
            raise InvalidArgument(
                "No policy is given.",
                hint=f"Give one or more of {', '.join(map(to_camel, PolicyChanges.model_fields))}.",
            )
        _refuse(scene, given.keys())
        scene.check_unread_page()
        before = scene.record
        scene.change(policies=before.policies.with_changes(**given))
        try:
            _apply_policies(scene, given.keys())
        except OrchestratorError:
            scene.change(policies=before.policies, approvals=before.approvals)
            with suppress(OrchestratorError):
                _apply_policies(scene, given.keys())  # undo what the browser did apply
            raise
        if self.permissions == "allow" != before.policies.permissions:
            scene.permissions.forget_refusals()
        result = PolicyList.from_policies(scene.record.policies)
        if self.permissions in {"allow", "deny"} and scene.subscriptions.origin_permissions is not None:
            result.warnings.append(NOT_OF_ORIGINS)
        return result


def _apply_policies(scene: Scene, given: Collection[str]) -> None:
    """Apply these of the record's policies to the browser.

    Raises:
        RemoteFailure, NoAnswer: The browser did not accept them.
    """
    if not _PERMISSION_POLICIES.isdisjoint(given):
        scene.permissions.revoke_denied()
        scene.permissions.apply_policies()
    if "file_pickers" in given:
        file_choosers.apply_picker_policy(scene, scene.record.tabs)
    if "downloads" in given:
        downloads.apply_download_policy(scene)


def _refuse(scene: Scene, given: Collection[str]) -> None:
    """Refuse policies that would have no effect.

    Raises:
        Unsupported: This session's remote end cannot apply one of the policies.
    """
    if scene.record.type is not SessionType.BROWSER and {*given} - {"dialogs"}:
        raise Unsupported("A web view has a policy for dialogs only.", hint="Set the others in browser sessions.")
    chromium_only = [name for name in ("permissions", "notifications", "file_pickers") if name in given]
    for name in chromium_only:
        scene.require_ability("file_pickers" if name == "file_pickers" else "permissions")
    lacks = ""
    if chromium_only and scene.browser not in {*browser_support.CHROMIUM, "firefox"}:
        lacks = "speaks no Chrome DevTools Protocol"
    elif scene.bidi is None and (scene.browser == "firefox" or not {"file_pickers", "downloads"}.isdisjoint(given)):
        lacks = "has no BiDi socket"
    if lacks:
        raise Unsupported(f"This session's remote end {lacks}.", hint="Use Chrome or Edge on this machine.")


ACTIONS: list[type[Action[Any]]] = [HandleDialog, SetPolicy]
