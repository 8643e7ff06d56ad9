"""The command `orchestrator grid`: a Selenium Grid of this machine, for trying it out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.errors import OrchestratorError
from orchestrator.settings import Settings

if TYPE_CHECKING:
    from orchestrator.local_grid import LocalGrid

app = typer.Typer(
    help="A Selenium Grid of this machine, for trying it out.", rich_markup_mode=None, no_args_is_help=True
)


@app.command()
def up(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where it listens, to this machine alone.")] = 4444,
    sessions: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions at once; as many as processors unless given.", show_default=False),
    ] = None,
    jar: Annotated[
        Path | None, typer.Option(help="The server, selenium-server-….jar; found unless given.", show_default=False)
    ] = None,
) -> None:
    """Start it in the background and wait until it takes sessions; needs Java 11 or newer and the Selenium server."""
    from orchestrator import local_grid

    settings = Settings.load()
    if running := local_grid.LocalGrid.find(settings.home):
        typer.echo(f"Selenium Grid runs already at {running.url}.")
        _tell_use(running)
        return
    started = local_grid.start(settings, port=port, sessions=sessions or os.cpu_count() or 1, jar=jar)
    typer.echo(f"Selenium Grid is ready at {started.url}. To stop it: orchestrator grid down")
    _tell_use(started)


@app.command()
def down() -> None:
    """Stop the one that was started here, and the sessions on it."""
    from orchestrator import local_grid

    home = Settings.load().home
    running = local_grid.LocalGrid.find(home)
    if running is None:
        typer.echo("No Selenium Grid of this data folder runs.")
        return
    count = len(running.sessions())
    if problems := running.end(home):
        raise OrchestratorError(" ".join(problems), hint="Call orchestrator grid down again.")
    ended = f"; it ended {count} session{'' if count == 1 else 's'}" if count else ""
    typer.echo(f"Selenium Grid at {running.url} is stopped{ended}.")


def _tell_use(grid: LocalGrid) -> None:
    call = {"platform": "browser", "provider": "selenium_grid", "options": {"url": grid.url}}
    typer.echo(f"A session on it: start_session {json.dumps(call)}")
