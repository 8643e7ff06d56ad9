"""The command `orchestrator doctor`: checks a machine or a browser, prints a setup."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from orchestrator.errors import InvalidArgument
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
    http: Annotated[
        bool, typer.Option("--http", help="With --client: for a server over HTTP, with the token of its first start.")
    ] = False,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Test a browser of this machine or a provider by a dozen actions.", show_default=False
        ),
    ] = None,
    platform: Annotated[
        str | None, typer.Option(help="With --check: browser, ios or android.", show_default=False)
    ] = None,
    browser: Annotated[
        str | None, typer.Option(help="With --check: the provider's or the phone's browser.", show_default=False)
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            help="With --check: a phone's app, by file, URL or id; default: its settings.", show_default=False
        ),
    ] = None,
    device_name: Annotated[
        str | None, typer.Option(help="With --check: such as iPhone 15.", show_default=False)
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(help="With --check: as for start session. JSON, or name=value, repeatable.", show_default=False),
    ] = None,
    capabilities: Annotated[
        list[str] | None,
        typer.Option(help="With --check: W3C. JSON, or name=value, repeatable.", show_default=False),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="With --check: http://HOST:PORT of this machine, as a browser elsewhere reaches it.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Check browsers, drivers and everything else that sessions need; name what is missing and how to fix it.

    The exit code is 1 only when no browser session could start, and with --check when an action failed. Values of
    credentials are never read, except by a provider that is tested.
    """
    settings = Settings.load()
    words = {
        "platform": platform,
        "browser": browser,
        "app": app,
        "device_name": device_name,
        "options": options,
        "capabilities": capabilities,
        "url": url,
    }
    given = {name: value for name, value in words.items() if value}
    if check is not None and client is None:
        _check(check, given, settings, as_json=as_json)
        return
    if given or check is not None or (http and client is None):
        raise InvalidArgument(_alone(given, client), hint="orchestrator doctor --help lists the options.")
    if client is not None and http:
        _print_http_snippet(client, settings, as_json=as_json)
        return
    if client is not None:
        _print_snippet(client, settings, as_json=as_json)
        return
    from orchestrator.cli.doctor.examine import examine

    report = examine(settings=settings)
    _print(report.data(), report.lines(), as_json=as_json)
    if not report.startable:
        raise typer.Exit(1)


def _alone(given: Mapping[str, Any], client: ClientName | None) -> str:
    if client is not None:
        return "--client goes with no option but --http and --json."
    if not given:
        return "--http goes with --client."
    return f"--{next(iter(given)).replace('_', '-')} goes with --check."


def _check(name: str, words: dict[str, Any], settings: Settings, *, as_json: bool) -> None:
    """Run the self-test of a browser or a provider."""
    import anyio

    from orchestrator.cli.doctor.check.run import run_check
    from orchestrator.cli.doctor.check.target import choose_target

    url = words.pop("url", None)
    report = anyio.run(run_check, choose_target(name, **words), settings, url)
    _print(report.data(), report.lines(), as_json=as_json)
    if not report.passed:
        raise typer.Exit(1)


def _print(data: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False) if as_json else "\n".join(lines))


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


def _print_http_snippet(name: ClientName, settings: Settings, *, as_json: bool) -> None:
    """Print the snippet for a server over HTTP, as that for stdio is printed."""
    from orchestrator.cli.doctor.clients import CLIENTS
    from orchestrator.cli.doctor.http_clients import HttpEndpoint, http_snippet
    from orchestrator.system.machine import LocalMachine

    client, endpoint = CLIENTS[name], HttpEndpoint.of_settings(settings)
    place, snippet = client.place(LocalMachine.this().system), http_snippet(name.value, endpoint)
    if as_json:
        data = {"place": place, "snippet": snippet, "url": endpoint.url, "notes": endpoint.notes()}
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{client.title}: {place}", err=True)
    typer.echo(snippet)
    for line in endpoint.notes():
        typer.echo(line, err=True)
