"""Generates server.json, the entry in the MCP registry, from pyproject.toml and the settings."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, get_args

from pydantic.fields import FieldInfo

from orchestrator.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
FILE = ROOT / "server.json"
NAME = "io.github.webdriver-orchestrator/webdriver-orchestrator"
"""The name in the registry: the GitHub organisation that publishes it, and the server."""
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

_ASKED = ("headless", "tools", "appium_url", "grid_url")
"""Settings in the entry: clients ask their user about each variable, so these are few."""
_SECRET = ("appium_url", "grid_url")
"""Settings that may hold a password."""


def text() -> str:
    """Return the file's text."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    package = {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": project["name"],
        "version": project["version"],
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "environmentVariables": [variable(name, Settings.model_fields[name]) for name in _ASKED],
    }
    entry = {
        "$schema": SCHEMA,
        "name": NAME,
        "title": "WebDriver Orchestrator",
        "description": project["description"],
        "version": project["version"],
        "packages": [package],
    }
    return json.dumps(entry, indent=2, ensure_ascii=False) + "\n"


def variable(name: str, field: FieldInfo) -> dict[str, Any]:
    """Return the variable of a setting, as the registry describes it."""
    types = {field.annotation, *get_args(field.annotation)}
    default = json.dumps(field.default) if isinstance(field.default, bool) else field.default
    return {
        "name": f"{PREFIX}{name.upper()}",
        "description": field.description,
        "format": "boolean" if bool in types else "string",
        **({"default": default} if default is not None else {}),
        **({"isSecret": True} if name in _SECRET else {}),
    }
