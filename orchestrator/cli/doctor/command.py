"""The command `orchestrator doctor`: checks this machine, or prints a client's setup."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from orchestrator.settings import Settings


class ClientName(StrEnum):
    """The MCP clients whose configuration is known."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GEMINI = "gemini"
    WINDSURF = "windsurf"
    OPENCODE = "opencode"
    ZED = "zed"
    CLINE = "cline"


def show(
    client: Annotated[
        ClientName | None, typer.Option(help="Print the configuration of this MCP client instead.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check browsers, drivers and everything else that sessions need; name what is missing and how to fix it.

    The exit code is 1 only when no browser session could start. Values of credentials are never read.
    """
    settings = Settings.load()
    if client is not None:
        _print_snippet(client, settings, as_json=as_json)
        return
    from orchestrator.cli.doctor.examine import examine

    report = examine(settings=settings)
    typer.echo(json.dumps(report.data(), indent=2, ensure_ascii=False) if as_json else "\n".join(report.lines()))
    if not report.startable:
        raise typer.Exit(1)


def _print_snippet(name: ClientName, settings: Settings, *, as_json: bool) -> None:
    """Print the snippet to standard output, so that it can be piped, and all else to standard error."""
    from orchestrator.cli.doctor.clients import CLIENTS
    from orchestrator.cli.doctor.installation import ServerCommand, container_engine, omitted_secrets
    from orchestrator.mcp_server.tool_list import listed_entries, read_entries
    from orchestrator.system.machine import LocalMachine

    machine, client = LocalMachine.this(), CLIENTS[name]
    server, place = ServerCommand.of_this_installation(machine, settings), client.place(machine.system)
    snippet = client.snippet(server, machine.system)
    told = {"shell": client.shell(server, machine.system)} if client.shell else {}
    notes = client.notes(len(listed_entries(settings, read_entries())))
    if engine := container_engine():
        notes.append(f"This is a container. For a client outside of it the command is: {server.from_outside(engine)}")
    if secret := omitted_secrets(machine.environ):
        notes.append(f"Omitted because they are secret: {', '.join(secret)}. Add them yourself.")
    if as_json:
        data = {"place": place, "snippet": snippet, **told, "notes": notes, **server.data()}
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{client.title}: {place}", err=True)
    typer.echo(snippet)
    for line in [*(f"Or run: {command}" for command in told.values()), *notes]:
        typer.echo(line, err=True)
