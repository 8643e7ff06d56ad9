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
    """Import what is asked for, and only then: who wants an error's class or the version does not wait for the rest."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """What can be asked for, whether or not it was: a shell offers it."""
    return sorted({*globals(), *_PLACES})
