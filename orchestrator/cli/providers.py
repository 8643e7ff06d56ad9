"""The command `orchestrator providers`: where sessions can come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from orchestrator.registry import Known, Providers


def show(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the installed providers with their session types, browsers and options; broken ones with the reason."""
    from orchestrator.registry import Providers

    providers = Providers()
    found = [_described(one, providers) for one in providers.known()]
    if as_json:
        typer.echo(json.dumps({"providers": found}, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(line for one in found for line in _lines(one)) or "No provider is installed.")


def _described(one: Known, providers: Providers) -> dict[str, Any]:
    if one.reason:
        return {"name": one.name, "distribution": one.distribution, "broken": one.reason}
    provider = providers[one.name]
    return {
        "name": one.name,
        "distribution": one.distribution,
        "types": sorted(provider.types),
        "browsers": sorted(provider.browsers),
        "options": {
            field.alias or name: field.description or "" for name, field in provider.Options.model_fields.items()
        },
    }


def _lines(one: dict[str, Any]) -> list[str]:
    if "broken" in one:
        return [f"{one['name']} (of {one['distribution']}) is broken: {one['broken']}"]
    options = [f"  option {name}: {meaning}" for name, meaning in one["options"].items()]
    browsers = f", browsers: {', '.join(one['browsers'])}" if one["browsers"] else ""
    return [f"{one['name']} (of {one['distribution']}): {', '.join(one['types'])}{browsers}", *options]
