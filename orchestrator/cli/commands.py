"""The root of the commands: help, the version, and every command."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

from orchestrator import __version__
from orchestrator.cli import (
    actions,
    demo,
    grid,
    install,
    log,
    profiles,
    providers,
    skills,
    tokens,
    tool_call,
    tool_commands,
)
from orchestrator.cli.doctor import command as doctor
from orchestrator.errors import InvalidArgument

_ASKS_FOR_HELP: tuple[list[str], ...] = ([], ["--help"])


def _list_shell_commands() -> str:
    """Return the commands of the shell with what they do; they run without typer, which takes longer than they do."""
    installed = actions.list_installed_commands()
    rows = [*tool_commands.list_help(), *((word, command.title) for word, command in installed.items())]
    width = max(len(word) for word, _ in rows)
    lines = [f"  {word.ljust(width)}  {title}" for word, title in rows]
    return "\n".join(["\b", "In a session (-s NAME), each with --help:", *lines])


app = typer.Typer(
    name="orchestrator",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Many WebDriver sessions at once, for AI agents over MCP.

    Without a command it serves MCP, unless its input is a terminal.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    "serve", context_settings={"ignore_unknown_options": True, "allow_extra_args": True}, add_help_option=False
)
def serve(context: typer.Context) -> None:
    """Serve MCP over standard input and output."""
    from orchestrator.cli.serve import run

    run(context.args)


app.command("log")(log.show)
app.add_typer(profiles.app, name="profiles")
app.command("providers")(providers.show)
app.command("actions")(actions.show)
app.command("doctor")(doctor.show)
app.add_typer(install.app, name="install")
app.add_typer(skills.app, name="skills")
app.add_typer(tokens.app, name="tokens")
app.add_typer(grid.app, name="grid")
app.add_typer(demo.app, name="demo")


def list_own_words() -> set[str]:
    """Return the commands of this module."""
    registered = {command.name or "" for command in app.registered_commands}
    return registered | {str(group.name) for group in app.registered_groups}


def run(words: list[str]) -> int:
    """Run one of these commands or that of an installed action, or print the help; returns the exit code.

    Raises:
        InvalidArgument: There is no such command.
    """
    if not words or words[0].startswith("-") or words[0] in list_own_words():
        app.info.epilog = _list_shell_commands() if words in _ASKS_FOR_HELP else None
        app(words, prog_name="orchestrator")
        return 0
    if found := actions.find_installed_command(words):
        return tool_call.run(*found)
    known = {*list_own_words(), *tool_commands.OWN_WORDS, *tool_commands.list_words()}
    near = get_close_matches(words[0], sorted({*known, *actions.list_installed_commands()}), n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "orchestrator --help lists the commands."
    raise InvalidArgument(f"There is no command {words[0]!r}.", hint=hint)
