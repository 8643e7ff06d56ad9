"""Dialogs that pages open: answered as the session was armed for the next one, or as its policy says."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from orchestrator.errors import RemoteFailure, brief
from orchestrator.webdriver.answer import DIALOG_TEXT

if TYPE_CHECKING:
    from orchestrator.actions.scene import Scene


def answer(scene: Scene, text: str) -> bool:
    """Answer the open dialog; False leaves it open, as alerts of apps are."""
    armed, policy = scene.record.armed, scene.record.policies.dialogs
    if scene.native or (armed is None and policy == "manual"):
        return False
    if not text:  # a proxy between us and the driver hands on the error without it
        with suppress(RemoteFailure):
            text = brief(str(scene.remote.execute("w3cGetAlertText")), DIALOG_TEXT)
    accept = armed.accept if armed else policy == "accept"
    if armed and armed.accept and armed.prompt_text is not None:
        fill(scene, armed.prompt_text)
    try:
        scene.remote.execute("w3cAcceptAlert" if accept else "w3cDismissAlert")
    except RemoteFailure:
        return True  # it closed by itself meanwhile: the next command tells
    if armed:
        scene.change(armed=None)
    how = "accepted" if accept else "dismissed"
    told = "" if armed else " To answer the next one otherwise, call handle_dialog before the call that opens it."
    scene.event(f"A dialog was {how}: {text!r}.{told}")
    return True


def fill(scene: Scene, text: str) -> None:
    """Type into the open dialog; one that takes no text is told as an event."""
    try:
        scene.remote.execute("w3cSetAlertValue", text=text)
    except RemoteFailure as error:
        scene.event(f"The dialog takes no text ({error.details['error']}).")
