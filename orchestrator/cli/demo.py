"""The command `orchestrator demo`: something real to watch."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Demonstrations: something real to watch.", rich_markup_mode=None)


class Shop(StrEnum):
    """The platforms of the demonstration's shop."""

    WEB = "web"
    IOS = "ios"
    ANDROID = "android"


@app.command()
def chat(
    out: Annotated[Path, typer.Option(help="Folder for the two screens and the server's log.")] = Path(),
    headed: Annotated[bool, typer.Option("--headed", help="Show the two browser windows.")] = False,
    browser: Annotated[
        str, typer.Option(help="The second one's browser, such as firefox; the first one's is Chrome or Chromium.")
    ] = "chrome",
) -> None:
    """Let two people chat in two browsers, driven over MCP as any client would."""
    import anyio

    from orchestrator.demo.chat import scenario

    raise typer.Exit(anyio.run(scenario.run, out, not headed, browser, typer.echo))


@app.command()
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

    from orchestrator.demo.shop import scenario

    raise typer.Exit(anyio.run(scenario.run, out, not headed, broken and broken.value, typer.echo))
