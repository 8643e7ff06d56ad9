"""Many WebDriver sessions at once, for AI agents over MCP and for testers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.api import Orchestrator as Orchestrator
    from orchestrator.session import Session as Session

__version__ = "0.1.0"

_PLACES = {"Orchestrator": "orchestrator.api", "Session": "orchestrator.session"}


def __getattr__(name: str) -> Any:
    """Import a public name on its first use: importing an error's class or the version does not load the rest."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """List the public names, imported or not, for shells."""
    return sorted({*globals(), *_PLACES})
