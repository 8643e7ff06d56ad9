"""JavaScript dialogs: answering the one that is open, and arming the next."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.actions import prompts
from orchestrator.actions.base import ALL_TYPES, Action, Timed
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.results import Acted
from orchestrator.actions.scene import Scene
from orchestrator.errors import NotActionable, RemoteFailure, brief
from orchestrator.models import ArmedDialog, SessionType
from orchestrator.webdriver.answer import DIALOG_TEXT

_PAUSE = 0.1


class HandleDialog(Timed, Action[Acted]):
    """Answer the open alert, confirm or prompt dialog; with none open, the next one."""

    verb: ClassVar[str] = "handle_dialog"
    title: ClassVar[str] = "Answer a dialog"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES

    accept: bool
    prompt_text: str | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _text_needs_accept(self) -> HandleDialog:
        if self.prompt_text is not None and not self.accept:
            raise ValueError("promptText needs accept: true")
        return self

    def perform(self, scene: Scene) -> Acted:
        """Answer the open one, or arm the next; an app's alert is waited for."""
        scene.glance()
        if scene.native:
            return self._answer_alert(scene)
        try:
            text = brief(scene.remote.execute("w3cGetAlertText"), DIALOG_TEXT)
        except RemoteFailure as error:
            if error.details.get("error") != "no such alert":
                raise
            scene.change(armed=ArmedDialog(accept=self.accept, prompt_text=self.prompt_text))
            how = "accepted" if self.accept else "dismissed"
            return Acted(warnings=[f"No dialog is open: the next one will be {how}."])
        self._answer(scene, text)
        return scene.observing("none", Acted)

    def _answer(self, scene: Scene, text: str) -> None:
        if self.prompt_text is not None:
            prompts.fill(scene, self.prompt_text)
        scene.remote.execute("w3cAcceptAlert" if self.accept else "w3cDismissAlert")
        scene.event(f"The dialog {text!r} was {'accepted' if self.accept else 'dismissed'}.")

    def _answer_alert(self, scene: Scene) -> Acted:
        deadline = Deadline(scene.seconds(self.timeout))
        while True:
            scene.check()
            try:
                text = brief(scene.remote.execute("w3cGetAlertText"), DIALOG_TEXT)
                break
            except RemoteFailure as error:
                if error.details.get("error") != "no such alert":
                    raise
            if not deadline.left:
                raise NotActionable(
                    f"No alert is open (waited {deadline.elapsed_ms} ms).",
                    hint="Look with get_visible_elements; a sheet or dialog of the app's own is tapped like the rest.",
                )
            time.sleep(min(_PAUSE, deadline.left))
        return scene.observing("none" if scene.observed else "change", lambda: self._answered(scene, text))

    def _answered(self, scene: Scene, text: str) -> Acted:
        self._answer(scene, text)
        return Acted()


ACTIONS: list[type[Action[Any]]] = [HandleDialog]
"""One."""
