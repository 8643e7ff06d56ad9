"""The command `orchestrator providers`: lists the installed providers and their options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from orchestrator.sessions.providers import InstalledProvider, Providers


def show(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the installed providers with their session types, browsers and options; broken ones with the reason."""
    from orchestrator.sessions.providers import Providers

    providers = Providers()
    described = [_describe(installed, providers) for installed in providers.list_installed()]
    if as_json:
        typer.echo(json.dumps({"providers": described}, indent=2, ensure_ascii=False))
    else:
        typer.echo(
            "\n".join(line for provider in described for line in _lines(provider)) or "No provider is installed."
        )


def _describe(installed: InstalledProvider, providers: Providers) -> dict[str, Any]:
    names = {"name": installed.name, "distribution": installed.distribution}
    if installed.reason:
        return {**names, "broken": installed.reason}
    provider = providers[installed.name]
    return {
        **names,
        "types": sorted(provider.types),
        "browsers": sorted(provider.browsers),
        "options": {
            field.alias or name: field.description or "" for name, field in provider.Options.model_fields.items()
        },
    }


def _lines(provider: dict[str, Any]) -> list[str]:
    title = f"{provider['name']} (of {provider['distribution']})"
    if "broken" in provider:
        return [f"{title} is broken: {provider['broken']}"]
    options = [f"  option {name}: {meaning}" for name, meaning in provider["options"].items()]
    browsers = f", browsers: {', '.join(provider['browsers'])}" if provider["browsers"] else ""
    return [f"{title}: {', '.join(provider['types'])}{browsers}", *options]
