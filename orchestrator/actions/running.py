"""Running the caller's JavaScript in the session's own world, beside the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action, Timed
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.results import Outcome, ScriptResult
from orchestrator.actions.scene import Scene
from orchestrator.actions.scripts import fitting
from orchestrator.models import SessionType
from orchestrator.settings import ToolSet
from orchestrator.world import engine

_USUALLY = 30_000
"""Milliseconds that a script may take unless the caller says otherwise."""
_WHOLE = 100_000_000
"""Characters of what an action answers to a script: nothing is cut on the way there."""


class RunScript(Timed, Action[ScriptResult]):
    """Run JavaScript that acts itself: await page.clickElement({selector}), loops, conditions, vars that last.

    Globals live on between calls.
    """

    verb: ClassVar[str] = "run_script"
    title: ClassVar[str] = "Run a script of actions"
    toolset: ClassVar[ToolSet] = "script"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    destructive: ClassVar[bool] = True
    scriptable: ClassVar[bool] = False
    result: ClassVar[type[Outcome]] = ScriptResult

    script: str = Field(min_length=1, max_length=200_000)

    @classmethod
    def offered(cls) -> bool:
        """Only where the engine is installed."""
        return engine.installed()

    def perform(self, scene: Scene) -> ScriptResult:
        """Run it to its end: its actions are done in this turn, one after the other."""
        seconds = scene.seconds(_USUALLY if self.timeout is None else self.timeout)
        facts = {
            "sessionId": scene.record.id,
            "type": scene.record.type,
            "capabilities": scene.record.capabilities,
        }
        world = scene.world
        with _as_a_part(scene, seconds):
            done = world.run(self.script, seconds, _Session(scene), scene.vars, facts)
        scene.tabs.look()
        if done.error:
            raise done.error
        return ScriptResult(**fitting(done.value, scene), console=done.console or None, warnings=done.warnings)


class _Session:
    """The session as its script sees it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.check = scene.check

    def act(self, verb: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Do an action; its result as data."""
        return self._scene.act(verb, fields).data()


@contextmanager
def _as_a_part(scene: Scene, seconds: float) -> Iterator[None]:
    """What is done in the block ends with the script, settles as a call of its own does, and is not cut."""
    before = scene.observed, scene.late, scene.until, scene.settings
    scene.observed, scene.late, scene.until = False, None, Deadline(seconds)
    scene.settings = scene.settings.model_copy(update={"max_output": _WHOLE})
    try:
        yield
    finally:
        scene.observed, scene.late, scene.until, scene.settings = before


ACTIONS: list[type[Action[Any]]] = [RunScript]
