"""Calls tools as the shell of a namespace, and loads for an action only what it takes."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from orchestrator.actions.base import AnyAction, Catalogue
from orchestrator.cli.tool_commands import SESSION_ID, list_entries
from orchestrator.errors import NoSession
from orchestrator.execution.call_path import build_call_path
from orchestrator.execution.restore import Restorer
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.results import Outcome
from orchestrator.models.session import Caller
from orchestrator.models.storage_state import StorageState
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import make_caller
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.system.secrets import Redactor

_SHELL = "shell"
"""The name by which other callers hear of the commands."""
_STARTS, _CALLS_ACTIONS = "navigate", "run_script"
_ACTIONS = "orchestrator.actions."


async def call_as_shell(name: str, arguments: Mapping[str, Any], settings: Settings, redactor: Redactor) -> Outcome:
    """Call a tool: one of our actions by the path of a call alone, anything else by the façade.

    Raises:
        OrchestratorError: Any of the codes in `orchestrator.errors`.
    """
    entry = list_entries().get(name)
    if entry is None or not entry["module"].startswith(_ACTIONS) or name == _CALLS_ACTIONS:
        return await _call_facade(name, arguments, settings, redactor)
    try:
        return await _perform(_load_action(name), arguments, settings, redactor)
    except NoSession:
        if name != _STARTS:
            raise
        return await _call_facade(name, arguments, settings, redactor)


async def _perform(
    action_class: type[AnyAction], arguments: Mapping[str, Any], settings: Settings, redactor: Redactor
) -> Outcome:
    action = _parse_action(action_class, arguments)
    caller = _make_shell(settings)
    providers, actions = Providers(), Catalogue(())

    def make_restorer(connector: Connector) -> Restorer:
        def restart(turn: Turn, why: str, state: StorageState | None) -> None:
            from orchestrator.lifecycle.restart import Restarter

            Restarter(connector, providers, settings, actions.files).restart_session(turn, why, state)

        return Restorer(connector, restart, settings.home)

    async with AsyncExitStack() as resources:
        path = await build_call_path(
            resources=resources,
            settings=settings,
            providers=providers,
            actions=actions,
            redactor=redactor,
            caller=make_caller("cli"),
            make_restorer=make_restorer,
        )
        outcome: Outcome = await path.runner.run(caller, arguments.get(SESSION_ID), action)
        return outcome


async def _call_facade(name: str, arguments: Mapping[str, Any], settings: Settings, redactor: Redactor) -> Outcome:
    from orchestrator.api import Orchestrator
    from orchestrator.session_tools.catalogue import SESSION_TOOLS

    orchestrator = Orchestrator(settings, observer=True, door="cli")
    orchestrator.redactor = redactor
    async with orchestrator:
        shell = orchestrator.for_caller(_make_shell(settings))
        if (action_class := orchestrator.actions.get(name)) is not None:
            return await shell.perform(_parse_action(action_class, arguments), arguments.get(SESSION_ID))
        declared = next(tool for tool in SESSION_TOOLS if tool.verb == name)
        return await parse_arguments(declared, arguments).run(shell)


def _load_action(name: str) -> type[AnyAction]:
    found = importlib.import_module(list_entries()[name]["module"]).ACTIONS
    action_class: type[AnyAction] = next(action for action in found if action.verb == name)
    return action_class


def _parse_action(action_class: type[AnyAction], arguments: Mapping[str, Any]) -> AnyAction:
    fields = {name: value for name, value in arguments.items() if name != SESSION_ID}
    return parse_arguments(action_class, fields, also=[SESSION_ID])


def _make_shell(settings: Settings) -> Caller:
    """Make the caller that the commands of a namespace have in common: each goes on where the last one ended."""
    key = hashlib.sha256(json.dumps([settings.namespace, _SHELL]).encode()).hexdigest()[:32]
    return make_caller("cli").model_copy(update={"key": key, "named": True, "client": _SHELL})
