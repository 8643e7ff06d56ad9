"""Answer JavaScript dialogs, by the answer that `handle_dialog` armed or by policy."""

from __future__ import annotations

from contextlib import suppress

from orchestrator.automation.scene import Scene
from orchestrator.errors import RemoteFailure, brief
from orchestrator.webdriver.response import DIALOG_TEXT


def answer_dialog(scene: Scene, text: str) -> bool:
    """Answer the open dialog; False if it stays open by policy, as the alerts of apps do."""
    armed, policy = scene.record.armed, scene.record.policies.dialogs
    if scene.native or (armed is None and policy == "manual"):
        return False
    if not text:  # a proxy before the driver may have dropped it from the error
        with suppress(RemoteFailure):
            text = brief(str(scene.remote.execute("w3cGetAlertText")), DIALOG_TEXT)
    accept = armed.accept if armed else policy == "accept"
    if armed and armed.accept and armed.prompt_text is not None:
        type_into_dialog(scene, armed.prompt_text)
    try:
        scene.remote.execute("w3cAcceptAlert" if accept else "w3cDismissAlert")
    except RemoteFailure:
        return True  # it closed by itself meanwhile: the next command reports what follows
    if armed:
        scene.change(armed=None)
    how = "accepted" if accept else "dismissed"
    advice = "" if armed else " To answer the next one otherwise, call handle_dialog before the call that opens it."
    scene.event(f"A dialog was {how}: {text!r}.{advice}")
    return True


def report_leave_questions(scene: Scene) -> None:
    """Report the pages that asked whether they may be left since the last result; drivers always confirm that."""
    asked = scene.subscriptions.leave_questions
    while asked:
        asked.popleft()
        scene.event("A page asked whether it may be left (beforeunload); the driver confirmed it.")


def type_into_dialog(scene: Scene, text: str) -> None:
    """Type into the open dialog; an event reports a dialog that takes no text."""
    try:
        scene.remote.execute("w3cSetAlertValue", text=text)
    except RemoteFailure as error:
        scene.event(f"The dialog takes no text ({error.details['error']}).")
