"""The command `orchestrator actions`: what installed packages add to what can be done in sessions."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer


def show(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the actions that installed packages bring, each a tool and a step; broken ones with the reason."""
    from orchestrator.api import Orchestrator

    found = [
        {
            "name": one.name,
            "distribution": one.distribution,
            **({"broken": one.reason} if one.reason else {}),
            "actions": {verb: " ".join((action.__doc__ or "").split()) for verb, action in one.actions.items()},
        }
        for one in Orchestrator().actions.plug_ins
    ]
    if as_json:
        typer.echo(json.dumps({"plugIns": found}, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(line for one in found for line in _lines(one)) or "No package brings actions.")


def _lines(one: dict[str, Any]) -> list[str]:
    if "broken" in one:
        return [f"{one['name']} (of {one['distribution']}) is broken: {one['broken']}"]
    return [
        f"{one['name']} (of {one['distribution']}):",
        *(f"  {verb}: {told}" for verb, told in one["actions"].items()),
    ]
