"""The command `orchestrator actions`: lists the actions of installed packages."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer


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


def _lines(plug_in: dict[str, Any]) -> list[str]:
    title = f"{plug_in['name']} (of {plug_in['distribution']})"
    if "broken" in plug_in:
        return [f"{title} is broken: {plug_in['broken']}"]
    return [f"{title}:", *(f"  {verb}: {text}" for verb, text in plug_in["actions"].items())]
