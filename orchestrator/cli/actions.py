"""The actions of installed packages: as commands, and the command that lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

from orchestrator.actions import ENTRY_POINTS
from orchestrator.cli.tool_commands import SESSION_ID, Command


def show(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the actions of installed packages, each a tool and a step; broken packages with the reason."""
    from orchestrator.api import Orchestrator

    plug_ins = [
        {
            "name": plug_in.name,
            "distribution": plug_in.distribution,
            **({"broken": plug_in.reason} if plug_in.reason else {}),
            "actions": {verb: " ".join((action.__doc__ or "").split()) for verb, action in plug_in.actions.items()},
        }
        for plug_in in Orchestrator().actions.plug_ins
    ]
    if as_json:
        typer.echo(json.dumps({"plugIns": plug_ins}, indent=2, ensure_ascii=False))
    else:
        typer.echo(
            "\n".join(line for plug_in in plug_ins for line in _lines(plug_in)) or "No installed package has actions."
        )


def list_installed_commands() -> Mapping[str, Command]:
    """Return the commands of these actions by their words; nothing is loaded where no package has any."""
    if not entry_points(group=ENTRY_POINTS):
        return {}
    from orchestrator.api import Orchestrator
    from orchestrator.models.json_schema import input_schema
    from orchestrator.session_tools.descriptions import sentences

    found = {}
    for plug_in in Orchestrator().actions.plug_ins:
        for verb, action in plug_in.actions.items():
            schema = input_schema(action, {SESSION_ID: {"type": "string"}})
            tool = {"name": verb, "title": action.title, "description": sentences(action), "inputSchema": schema}
            found[verb.replace("_", "-")] = Command.of_entry(verb.replace("_", "-"), tool)
    return found


def find_installed_command(words: Sequence[str]) -> tuple[Command, list[str]] | None:
    """Return the command of such an action that these words begin with, and the words after it."""
    word, *rest = words
    command = list_installed_commands().get(word.replace("_", "-"))
    return None if command is None else (command, rest)


def _lines(plug_in: dict[str, Any]) -> list[str]:
    title = f"{plug_in['name']} (of {plug_in['distribution']})"
    if "broken" in plug_in:
        return [f"{title} is broken: {plug_in['broken']}"]
    return [f"{title}:", *(f"  {verb}: {text}" for verb, text in plug_in["actions"].items())]
