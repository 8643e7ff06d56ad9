"""The command `orchestrator grid`: starts and stops a Selenium Grid on this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.system.selenium_grid import LocalGrid

app = typer.Typer(
    help="A Selenium Grid on this machine, for trying it out.", rich_markup_mode=None, no_args_is_help=True
)


@app.command()
def up(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Its port, for this machine only.")] = 4444,
    sessions: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions at once; the number of processors unless given.", show_default=False),
    ] = None,
    jar: Annotated[
        Path | None, typer.Option(help="The server, selenium-server-….jar; found unless given.", show_default=False)
    ] = None,
) -> None:
    """Start it in the background, and wait until it is ready; needs Java 11 or newer and the Selenium server."""
    from orchestrator.system import selenium_grid

    settings = Settings.load()
    if running := selenium_grid.LocalGrid.find(settings.home):
        typer.echo(f"Selenium Grid already runs at {running.url}.")
        _print_use(running)
        return
    started = selenium_grid.start(settings, port=port, sessions=sessions or os.cpu_count() or 1, jar=jar)
    typer.echo(f"Selenium Grid is ready at {started.url}. To stop it: orchestrator grid down")
    _print_use(started)


@app.command()
def down() -> None:
    """Stop the Grid of this data folder, and the sessions on it."""
    from orchestrator.system import selenium_grid

    home = Settings.load().home
    running = selenium_grid.LocalGrid.find(home)
    if running is None:
        typer.echo("No Selenium Grid of this data folder runs.")
        return
    count = len(running.sessions())
    if problems := running.end(home):
        raise OrchestratorError(" ".join(problems), hint="Call orchestrator grid down again.")
    ended = f"; it ended {count} session{'' if count == 1 else 's'}" if count else ""
    typer.echo(f"Selenium Grid at {running.url} is stopped{ended}.")


def _print_use(grid: LocalGrid) -> None:
    call = {"platform": "browser", "provider": "selenium_grid", "options": {"url": grid.url}}
    typer.echo(f"A session on it: start_session {json.dumps(call)}")
