"""JavaScript dialogs: answering the one that is open, arming the next, and the session's policy."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, Timed
from orchestrator.actions.results import Acted, Outcome, Policies
from orchestrator.actions.scene import Scene
from orchestrator.errors import RemoteFailure, brief
from orchestrator.models import ArmedDialog, DialogPolicy, SessionType
from orchestrator.webdriver.remote import DIALOG_TEXT


class HandleDialog(Timed, Action[Acted]):
    """Answer an open alert, confirm or prompt dialog; with none open, choose how the next one is answered."""

    verb: ClassVar[str] = "handle_dialog"
    title: ClassVar[str] = "Answer a dialog"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES

    accept: bool
    prompt_text: str | None = None

    @model_validator(mode="after")
    def _text_needs_accept(self) -> HandleDialog:
        if self.prompt_text is not None and not self.accept:
            raise ValueError("promptText needs accept: true")
        return self

    def perform(self, scene: Scene) -> Acted:
        """Answer the open one, or arm the next."""
        try:
            text = brief(scene.remote.execute("w3cGetAlertText"), DIALOG_TEXT)
        except RemoteFailure as error:
            if error.details.get("error") != "no such alert":
                raise
            scene.change(armed=ArmedDialog(accept=self.accept, prompt_text=self.prompt_text))
            how = "accepted" if self.accept else "dismissed"
            return Acted(warnings=[f"No dialog is open: the next one will be {how}."])
        if self.prompt_text is not None:
            scene.fill_prompt(self.prompt_text)
        scene.remote.execute("w3cAcceptAlert" if self.accept else "w3cDismissAlert")
        scene.event(f"The dialog {text!r} was {'accepted' if self.accept else 'dismissed'}.")
        return scene.observing("none", Acted)


class SetPolicy(Action[Policies]):
    """Choose what happens by itself to dialogs of the page: raise (handled and reported), accept, dismiss or manual."""

    verb: ClassVar[str] = "set_policy"
    title: ClassVar[str] = "Set policies"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Policies

    dialogs: DialogPolicy = Field(description="manual: they stay open until handle_dialog.")

    def perform(self, scene: Scene) -> Policies:
        """It stands in the record, so that every process keeps to it."""
        scene.change(dialogs=self.dialogs)
        return Policies(dialogs=self.dialogs)


ACTIONS: list[type[Action[Any]]] = [HandleDialog, SetPolicy]
