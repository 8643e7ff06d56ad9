"""What the sessions of a process have in common: the actions that there are, and the worlds of their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.actions.catalogue import Catalogue
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.settings import Settings
from orchestrator.world.kernel import Function
from orchestrator.world.worlds import Worlds


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
        outcome: Outcome = action.perform(scene)
        return outcome
