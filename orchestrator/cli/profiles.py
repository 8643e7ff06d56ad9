"""The command `orchestrator profiles`: profiles of persistent sessions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.errors import InvalidArgument, ProviderFailure
from orchestrator.settings import Settings

app = typer.Typer(help="The profiles of persistent sessions.", rich_markup_mode=None, no_args_is_help=True)


@app.command("list")
def list_() -> None:
    """List the stored profiles, as browser/name."""
    typer.echo(
        "\n".join(sorted("/".join(place.parts[-2:]) for place in _profile_folders())) or "There are no profiles."
    )


@app.command()
def remove(profile: Annotated[str, typer.Argument(help="Such as chrome/work.", show_default=False)]) -> None:
    """Remove a profile with its logins, history and storage, unless a browser has it open."""
    from orchestrator.system.process_identity import find_profile_users

    folder = _folder() / profile
    if folder not in _profile_folders():
        raise InvalidArgument(f"There is no profile {profile!r}.", hint="orchestrator profiles list shows all.")
    if user := next(find_profile_users(folder), None):
        raise ProviderFailure(f"Profile {profile!r} is open in process {user.pid}.", hint="Close its sessions first.")
    shutil.rmtree(folder)
    typer.echo(f"Removed: {profile}.")


def _folder() -> Path:
    return Settings.load().home / "profiles"


def _profile_folders() -> list[Path]:
    return [place for place in _folder().glob("*/*") if place.is_dir()]
