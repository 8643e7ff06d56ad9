"""The command `orchestrator tokens`: who may use a server over HTTP."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from orchestrator.settings import Settings

app = typer.Typer(
    help="The tokens of a server over HTTP; changes hold at once.", rich_markup_mode=None, no_args_is_help=True
)

_Name = Annotated[str, typer.Argument(help="Whose token it is.", show_default=False)]


class RoleName(StrEnum):
    """Role of a token: how much it may."""

    READ = "read"
    ACT = "act"
    ADMIN = "admin"


@app.command()
def add(
    name: _Name,
    namespace: Annotated[
        str, typer.Option(help="The namespace whose sessions it reaches; default: the setting.", show_default=False)
    ] = "",
    role: Annotated[
        RoleName, typer.Option(help="read: tools that only look; act: all tools; admin: also claims of others.")
    ] = RoleName.ACT,
    max_sessions: Annotated[
        int | None, typer.Option(min=1, help="Open sessions in the namespace for a start.", show_default=False)
    ] = None,
    calls_per_minute: Annotated[int, typer.Option(min=1, help="Calls of tools a minute.")] = 600,
    concurrent_calls: Annotated[int, typer.Option(min=1, help="Calls of tools at a time.")] = 16,
    tools: Annotated[
        str, typer.Option(help="Tools it may call, by name or set, joined by commas; default: all.", show_default=False)
    ] = "",
) -> None:
    """Make a token and print it, once: it is stored nowhere."""
    from orchestrator.mcp_server.http.tokens import Token, TokenFile
    from orchestrator.mcp_server.tool_list import read_entries, split_names

    settings = Settings.load()
    split_names("tools", tools, read_entries())
    token, secret = Token.make(
        name=name,
        namespace=namespace or settings.namespace,
        role=role.value,
        max_sessions=max_sessions,
        calls_per_minute=calls_per_minute,
        concurrent_calls=concurrent_calls,
        tools=tools,
    )
    TokenFile(settings.home).add(token)
    typer.echo(secret)


@app.command("list")
def list_(*, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the tokens with their roles, namespaces and limits."""
    from orchestrator.mcp_server.http.tokens import TokenFile

    tokens = TokenFile(Settings.load().home).list_tokens()
    if as_json:
        rows = [token.model_dump(exclude={"sha256"}, exclude_none=True) for token in tokens]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for token in tokens:
        sessions = f", {token.max_sessions} sessions" if token.max_sessions else ""
        tools = f", tools {token.tools}" if token.tools else ""
        typer.echo(
            f"{token.name}: {token.role} in {token.namespace}, {token.calls_per_minute} calls a minute, "
            f"{token.concurrent_calls} at a time{sessions}{tools}"
        )
    if not tokens:
        typer.echo("There are no tokens.")


@app.command()
def revoke(name: _Name) -> None:
    """Remove a token: a running server refuses it from now on, and parks its sessions."""
    from orchestrator.mcp_server.http.tokens import TokenFile

    TokenFile(Settings.load().home).revoke(name)
    typer.echo(f"Revoked: {name}.")
