"""The contexts of an app: its own screens, and the web views in them."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.actions.app_results import Contexts
from orchestrator.actions.base import APPS, Action, Timed
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.fitting import prepare
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument
from orchestrator.models import SessionType

_PAUSE = 0.1


class SwitchContext(Timed, Action[Contexts]):
    """Go into an app's web view (WEBVIEW…), where browser tools work, or back to NATIVE_APP; no context: list them."""

    verb: ClassVar[str] = "switch_context"
    title: ClassVar[str] = "Switch to a web view"
    types: ClassVar[frozenset[SessionType]] = APPS
    instead: ClassVar[str] = "A browser has tabs and switch_frame."
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Contexts

    context: str | None = Field(default=None, min_length=1)

    def perform(self, scene: Scene) -> Contexts:
        """A web view that is not there yet is waited for."""
        if self.context is None:
            return _told(scene, scene.remote.execute("getContextHandles"))
        deadline = Deadline(scene.seconds(self.timeout))
        while True:
            scene.check()
            found = [str(name) for name in scene.remote.execute("getContextHandles")]
            if wanted := _meant(self.context, found):
                break
            if not deadline.left:
                raise InvalidArgument(
                    f"No context {self.context!r} (waited {deadline.elapsed_ms} ms).",
                    hint=f"There are: {', '.join(found)}.",
                )
            time.sleep(min(_PAUSE, deadline.left))
        scene.enter(wanted)
        if not scene.native:
            prepare(scene.remote)
            scene.remember(scene.ask("state"))
        return _told(scene, found)


def _meant(given: str, contexts: list[str]) -> str | None:
    """The context of this name, else the first that begins so, in any case of letters."""
    if given in contexts:
        return given
    return next((name for name in contexts if name.lower().startswith(given.lower())), None)


def _told(scene: Scene, found: list[str]) -> Contexts:
    record = scene.record
    return Contexts(contexts=[*found], context=record.context, url=record.url, title=record.title)


ACTIONS: list[type[Action[Any]]] = [SwitchContext]
