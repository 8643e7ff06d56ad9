"""An action of a self-test, and its outcome where it cannot be tested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ExpectationFailed
from orchestrator.models.results import Screenshot
from orchestrator.session import Session


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The outcome of an action that cannot be tested there."""

    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CheckStep:
    """An action: the tools that it calls, and the function that calls them and looks at what came of it.

    Attributes:
        action: The names of the tools.
        run: Acts in a session; returns what was found, in a few words.
        is_first: True if all later ones need it.
    """

    action: str
    run: Callable[[Session], Awaitable[str | LeftOut]]
    is_first: bool = False


def require(condition: object, found: str) -> None:
    """Fail the action unless the condition holds; `found` is a sentence on what was found instead.

    Raises:
        ExpectationFailed: It does not hold.
    """
    if not condition:
        raise ExpectationFailed(found)


def describe_screenshot(taken: Screenshot) -> str:
    """Return a screenshot's size in words, and remove its file."""
    Path(taken.path).unlink(missing_ok=True)
    require(taken.image, "The picture is empty.")
    width, height = taken.file_size
    return f"{width} x {height} pixels"
