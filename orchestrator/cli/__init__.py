"""The command line: the MCP server for clients; sessions, profiles, providers, a check-up, a Grid, demonstrations."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator import __version__
from orchestrator.cli import actions, doctor, grid, profiles, providers, sessions
from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.settings import Settings, unknown_variables

_WRONG_INPUT = 2

app = typer.Typer(
    name="orchestrator",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)
demo = typer.Typer(help="Demonstrations: something real to watch.", rich_markup_mode=None)
app.add_typer(sessions.app, name="sessions")
app.add_typer(profiles.app, name="profiles")
app.command("providers")(providers.show)
app.command("actions")(actions.show)
app.command("doctor")(doctor.show)
app.add_typer(grid.app, name="grid")
app.add_typer(demo, name="demo")


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How it looks."""

    JSON = "json"
    CONSOLE = "console"


class Shop(StrEnum):
    """Where the demonstration's shop can be."""

    WEB = "web"
    IOS = "ios"
    ANDROID = "android"


Level = Annotated[LogLevel, typer.Option(help="How much goes to standard error.")]
Format = Annotated[LogFormat, typer.Option(help="json for machines, console for people.")]


def main() -> None:
    """Run the command line; errors that people can mend are one sentence."""
    try:
        app(prog_name="orchestrator")
    except (OrchestratorError, OSError) as error:
        _fail(error)
    except BaseExceptionGroup as group:
        told = group.subgroup((OrchestratorError, OSError))
        if told is None:
            raise
        _fail(next(_leaves(told)))


def _fail(error: BaseException) -> None:
    typer.echo(str(error), err=True)
    sys.exit(_WRONG_INPUT if isinstance(error, InvalidArgument) else 1)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        yield from _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Many WebDriver sessions at once, for AI agents over MCP.

    Without a command it serves MCP, if its input is no terminal.
    """
    if context.invoked_subcommand is None:
        if sys.stdin is not None and sys.stdin.isatty():
            typer.echo(context.get_help())
        else:
            _serve({}, LogLevel.INFO, LogFormat.JSON)


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each setting, in place of its `**settings`."""
    own = [
        one for one in inspect.signature(command, eval_str=True).parameters.values() if one.kind is not one.VAR_KEYWORD
    ]
    command.__signature__ = inspect.Signature([*_setting_options(), *own])  # type: ignore[attr-defined]
    return command


def _setting_options() -> Iterator[inspect.Parameter]:
    for name, field in Settings.model_fields.items():
        spelled = name.replace("_", "-")
        is_switch = field.annotation is bool
        declared = f"--{spelled}/--no-{spelled}" if is_switch else f"--{spelled}"
        shown = f" [default: {field.default}]" if field.default and not field.default_factory and not is_switch else ""
        option = typer.Option(
            declared, help=f"{field.description}{shown}", show_default=False, metavar=None if is_switch else "VALUE"
        )
        kind: Any = bool | None if is_switch else str | None
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option])


@app.command()
@_with_settings
def serve(*, log_level: Level = LogLevel.INFO, log_format: Format = LogFormat.JSON, **settings: Any) -> None:
    """Serve MCP over standard input and output."""
    # An empty option is as if it were not there, as an empty variable is.
    _serve({name: value for name, value in settings.items() if value not in {None, ""}}, log_level, log_format)


def _serve(given: dict[str, Any], level: LogLevel, style: LogFormat) -> None:
    settings = Settings.load(given)  # a wrong one is told before anything slow is imported
    from orchestrator import logs

    logs.configure(level.value, style.value)
    import anyio
    import structlog

    from orchestrator.api import Orchestrator
    from orchestrator.mcp_server.transports import serve_stdio

    orchestrator = Orchestrator(settings, adopting=True, parking=True, door="mcp")
    logs.configure(level.value, style.value, orchestrator.redactor)
    for name in unknown_variables(os.environ):
        structlog.get_logger("orchestrator").warning("unknown environment variable", variable=name)
    for broken in (one for one in orchestrator.actions.plug_ins if one.reason):
        structlog.get_logger("orchestrator").warning("plug-in refused", name=broken.name, reason=broken.reason)
    anyio.run(serve_stdio, orchestrator)


@demo.command()
def chat(
    out: Annotated[Path, typer.Option(help="Folder for the two screens and the server's log.")] = Path(),
    headed: Annotated[bool, typer.Option("--headed", help="Show the two browser windows.")] = False,
) -> None:
    """Let two people chat in two browsers, driven over MCP as any client would."""
    import anyio

    from orchestrator.demo import run_chat

    raise typer.Exit(anyio.run(run_chat.run, out, not headed, typer.echo))


@demo.command()
def checkout(
    out: Annotated[
        Path, typer.Option(help="Folder for the picture of the last screens and the server's log.")
    ] = Path(),
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser's window.")] = False,
    broken: Annotated[
        Shop | None, typer.Option("--break", help="Build a mistake into this platform's shop; it must be found.")
    ] = None,
) -> None:
    """Buy the same in a shop's web page and in both of its apps, on simulated phones behind a real Appium."""
    import anyio

    from orchestrator.demo import run_checkout

    raise typer.Exit(anyio.run(run_checkout.run, out, not headed, broken and broken.value, typer.echo))
