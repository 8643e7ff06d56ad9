"""What the sessions of a process have in common: the actions that there are, and the worlds of their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio.to_thread

from orchestrator.actions.catalogue import Catalogue
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.activity import Doing
from orchestrator.duties import Duty, Usage
from orchestrator.models import SessionRecord
from orchestrator.settings import Settings
from orchestrator.world.kernel import Function
from orchestrator.world.worlds import Worlds


class IdleWorlds(Duty):
    """Gives up the script worlds that no script uses."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds

    def left(self, usage: Usage, now: float) -> float:  # noqa: ARG002 (worlds are of this process, as their clock is)
        """Seconds until its world has been idle for too long."""
        return self._worlds.idle_left(usage.record.id)

    async def do(self, record: SessionRecord) -> None:
        """Give it up, unless a script used it meanwhile."""
        await anyio.to_thread.run_sync(self._worlds.give_up_idle, record.id)


class House:
    """The actions, and the script worlds in which they are functions."""

    def __init__(self, actions: Catalogue, settings: Settings) -> None:
        functions = [Function(action.verb, action.part) for action in actions.values() if action.scriptable]
        self.worlds = Worlds(functions, settings.script_memory, settings.script_idle)
        self._actions = actions

    def scene(self, scene: Scene) -> Scene:
        """A scene that tells, and only once, that its session's world is gone."""
        if reset := self.worlds.reset(scene.record.id, scene.record.remote_session_id):
            scene.event(reset)
            scene.change(world="")
        return scene

    def act(self, scene: Scene, verb: str, fields: Mapping[str, Any]) -> Outcome:
        """Do an action by its name."""
        action = self._actions.read(verb, fields)
        action.check(scene.record)
        doing = Doing(verb, action.told())
        outcome: Outcome = scene.activity.noted(scene.record, doing, lambda: action.perform(scene))
        return outcome
