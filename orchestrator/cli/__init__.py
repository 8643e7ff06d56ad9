"""The command line `orchestrator`: its entry point, which loads one command."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

from orchestrator.cli.error_report import report_error

_BEFORE = ("-s", "--session", "--namespace")
"""Options with a value that may stand before a command that stands for a tool."""


def main() -> None:
    """Run the command line; without a command it serves MCP, unless its input is a terminal."""
    try:
        code = _run(sys.argv[1:])
    except Exception as error:  # noqa: BLE001 (reported, and the end of the process)
        code = report_error(error)
    finally:
        gc.freeze()  # what is left goes with the process: the interpreter's last collection need not visit it
    sys.exit(code)


def _run(words: list[str]) -> int:
    gc.disable()  # while modules load; `serve` enables it, and a command ends soon
    if words[:1] == ["serve"] or (not words and not _is_interactive()):
        from orchestrator.cli import serve

        _keep_files_private()
        serve.run(words[1:])
        return 0
    words = _with_command_first(words)
    if words and (run := _find_run(words)):
        _keep_files_private()
        return run()
    from orchestrator.cli import commands

    gc.enable()
    return commands.run(words)


def _keep_files_private() -> None:
    """Keep what servers and commands of the shell write for this user; what others install may be for all."""
    from orchestrator.system.host.private_files import UMASK

    os.umask(UMASK)


def _find_run(words: list[str]) -> Callable[[], int] | None:
    """Return how to run the command without typer that words begin with; None if they begin with none."""
    word, *rest = words
    if word == "run":
        from orchestrator.cli import run_file

        return lambda: run_file.run(rest)
    if word in {"completion", "__complete"}:
        from orchestrator.cli import completion

        return lambda: completion.run(rest) if word == "completion" else completion.complete(rest)
    from orchestrator.cli.tool_commands import find_command

    found = find_command(words)
    if found is None:
        return None
    from orchestrator.cli import tool_call

    return lambda: tool_call.run(*found)


def _with_command_first(words: list[str]) -> list[str]:
    """Move the options before a command behind it."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _BEFORE else 1
    rest = words[place:]
    return [*rest[:1], *words[:place], *rest[1:]] if rest else words


def _is_interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
