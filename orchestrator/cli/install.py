"""The command `orchestrator install`: gets what sessions need and this machine lacks."""

from __future__ import annotations

import typer

app = typer.Typer(help="Get what sessions need.", rich_markup_mode=None, no_args_is_help=True)


@app.command()
def browser() -> None:
    """Get Chrome or Chromium and its chromedriver, unless both are there.

    As root on Debian apt-get installs Chromium. Elsewhere Selenium Manager downloads Chrome for Testing, or only the
    driver if there is a browser, into this user's cache folder.
    """
    from orchestrator.cli.browser_installation import BrowserInstallation
    from orchestrator.settings import Settings
    from orchestrator.system.machine import LocalMachine

    installation = BrowserInstallation(LocalMachine.this(), Settings.load(), typer.echo)
    typer.echo(f"Ready: {installation.find_ready() or installation.install()}.")
