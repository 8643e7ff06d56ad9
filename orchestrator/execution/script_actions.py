"""The actions that scripts call, and the script worlds of this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.actions.base import Catalogue
from orchestrator.automation.scene import Scene
from orchestrator.automation.scripting.kernel import ScriptFunction
from orchestrator.automation.scripting.modules import ScriptModules
from orchestrator.automation.scripting.pool import WorldPool
from orchestrator.models.results import Outcome
from orchestrator.settings import Settings
from orchestrator.system.activity import LoggedAction


class ScriptHost:
    """The actions, and the script worlds in which they are functions."""

    def __init__(self, actions: Catalogue, settings: Settings) -> None:
        functions = [ScriptFunction(action.verb, action.part) for action in actions.values() if action.scriptable]
        self.worlds = WorldPool(
            functions, settings.script_memory, settings.script_idle, ScriptModules(settings.script_modules)
        )
        self._actions = actions

    def report_world_reset(self, scene: Scene) -> None:
        """Report as an event, once, that the script world of a scene's session is gone."""
        if reset := self.worlds.take_reset_notice(scene.record.id, scene.record.remote_session_id):
            scene.event(reset)
            scene.change(world="")

    def act(self, scene: Scene, verb: str, fields: Mapping[str, Any]) -> Outcome:
        """Perform an action by its verb, and log it.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        self._actions.check_free(verb)
        action = self._actions.parse_action(verb, fields)
        action.check_supports(scene.record)
        doing = LoggedAction(verb, action.log_arguments())
        scene.web_page.begin_step()
        with scene.activity.log_call(scene.record, doing) as call, scene.masking_errors():
            outcome: Outcome = action.perform(scene)
            call.outcome = outcome
        return outcome
