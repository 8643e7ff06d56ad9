"""The command `orchestrator doctor`: what this machine has and lacks, and what a client's configuration must say."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from orchestrator.settings import Settings


class ClientName(StrEnum):
    """The clients that can be told how to start this installation."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    CODEX = "codex"
    VSCODE = "vscode"


def show(
    client: Annotated[
        ClientName | None, typer.Option(help="Print what this MCP client needs instead.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Look for browsers, drivers and whatever else sessions need; say what is missing and what mends it.

    The exit code is 1 only when no browser session could start. Values of credentials are never looked at.
    """
    settings = Settings.load()
    if client is not None:
        _print_snippet(client, settings, as_json=as_json)
        return
    from orchestrator.doctor.examine import examine

    report = examine(settings=settings)
    typer.echo(json.dumps(report.data(), indent=2, ensure_ascii=False) if as_json else "\n".join(report.lines()))
    if not report.startable:
        raise typer.Exit(1)


def _print_snippet(name: ClientName, settings: Settings, *, as_json: bool) -> None:
    """The snippet alone on standard output, so that it can be piped; where it goes on standard error."""
    from orchestrator.doctor.clients import CLIENTS, Server, left_out
    from orchestrator.machine import Machine

    machine, client = Machine.this(), CLIENTS[name]
    server, place = Server.here(machine, settings), client.place(machine.system)
    snippet = client.snippet(server, machine.system)
    if as_json:
        typer.echo(json.dumps({"place": place, "snippet": snippet, **server.data()}, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{client.title}: {place}", err=True)
    typer.echo(snippet)
    if secret := left_out(machine.environ):
        typer.echo(f"Left out, for they are secret: {', '.join(secret)}. Add them yourself.", err=True)
