"""Runs a command that stands for a tool: calls the tool and prints the outcome."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.cli.error_report import EXIT_CODES, describe_error, find_error
from orchestrator.cli.tool_commands import SESSION_ID, Command, list_entries
from orchestrator.cli.tool_parser import parse_words
from orchestrator.errors import MayHaveFailed, OrchestratorError
from orchestrator.models.durations import parse_duration
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.system.secrets import Redactor

SESSION_VARIABLE = "ORCHESTRATOR_SESSION"
"""The environment variable that names the session of commands without `-s`."""
_CHOOSES = "set_current_session"
_CLOSE = frozenset({"close_session", "close_sessions", "close_all_sessions"})
"""Tools whose result names what could not be ended, which is no error to a model, but the end of a script."""


def run(command: Command, words: Sequence[str]) -> int:
    """Run a command with the words after it; returns the exit code.

    Raises:
        OrchestratorError: It failed.
    """
    arguments, switches = parse_words(command, words)
    return call_tool(command.tool, arguments, as_json=switches["json"], namespace=switches.get("namespace"))


def call_tool(tool: str, arguments: dict[str, Any], *, as_json: bool, namespace: str | None) -> int:
    """Call a tool as the shell of a namespace, and print what came of it; returns the exit code.

    Raises:
        OrchestratorError: It failed.
    """
    import anyio

    from orchestrator.cli.shell_caller import call_as_shell
    from orchestrator.system.secrets import Redactor

    arguments = _with_session_of_environment(tool, arguments)
    settings = Settings.load({} if namespace is None else {"namespace": namespace})
    # Between two commands a session has no caller: nothing but the time that it may be idle ends it.
    lifetime = _idle_time(arguments) or settings.idle_timeout
    settings = settings.model_copy(update={"park_ttl": lifetime, "require_session_id": "never"})
    redactor = Redactor()
    try:
        outcome = anyio.run(call_as_shell, tool, arguments, settings, redactor)
    except Exception as raised:
        error = find_error(raised)
        if not isinstance(error, OrchestratorError):
            raise
        return _report(error, {}, redactor, as_json=as_json)
    if isinstance(outcome, MayHaveFailed) and (failure := outcome.failure()) is not None:
        if not as_json:
            _write(redactor.text(outcome.render()))
        return _report(failure, outcome.data(), redactor, as_json=as_json)
    data = outcome.data()
    _write(_json(data, redactor) if as_json else redactor.text(outcome.render()))
    return 1 if tool in _CLOSE and data.get("failed") else 0


def _report(error: OrchestratorError, data: Mapping[str, Any], redactor: Redactor, *, as_json: bool) -> int:
    """Print an error, and as JSON also its data beside that of the result; returns the exit code."""
    from orchestrator.mcp_server.error_text import error_data

    if as_json:
        _write(_json({**data, **error_data(error)}, redactor))
    sys.stderr.write(f"{redactor.text(describe_error(error))}\n")
    return EXIT_CODES.get(error.code, 1)


def _json(data: dict[str, Any], redactor: Redactor) -> str:
    return json.dumps(redactor.data(data), indent=2, ensure_ascii=False)


def _write(text: str) -> None:
    """Write to standard output; what a page shows may hold characters that cannot be encoded."""
    sys.stdout.write(f"{text.encode('utf-8', 'replace').decode()}\n")


def _with_session_of_environment(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    named = os.environ.get(SESSION_VARIABLE)
    entry = list_entries().get(tool)  # None for an action of an installed package; every action takes a session
    takes_session = entry is None or SESSION_ID in entry["tool"]["inputSchema"].get("properties", {})
    return {SESSION_ID: named, **arguments} if named and takes_session and tool != _CHOOSES else arguments


def _idle_time(arguments: Mapping[str, Any]) -> float | None:
    """Return the idle time that a start asks for: nothing else ends a session of the shell, which is always away."""
    options = arguments.get("options")
    given = options.get("idleTimeout", options.get("idle_timeout")) if isinstance(options, dict) else None
    try:
        return None if given is None else float(parse_duration(given))
    except (TypeError, ValueError):
        return None  # refused with the other options
