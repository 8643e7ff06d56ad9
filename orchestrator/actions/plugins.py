"""Actions of other installed packages, loaded by entry point."""

from __future__ import annotations

import inspect
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from orchestrator.actions import ENTRY_POINTS
from orchestrator.actions.base import Action, AnyAction, Catalogue
from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.models.arguments import names_of
from orchestrator.models.results import Outcome

_VERB = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_OURS = {"sessionId", "optional", "do"}
"""Names that calls and steps use besides an action's parameters."""


@dataclass(frozen=True, slots=True)
class PlugIn:
    """An entry point: the actions that it brings, or the reason why it cannot be used."""

    name: str
    distribution: str
    actions: Mapping[str, type[AnyAction]]
    reason: str = ""


class InstalledActions(Catalogue):
    """The built-in actions, followed by those of installed packages.

    Args:
        points: The entry points; those of the installed packages unless given.
        taken: Further names that actions may not have.

    Attributes:
        plug_ins: What the packages bring, broken ones included.
    """

    def __init__(self, points: Iterable[EntryPoint] | None = None, *, taken: Container[str] = ()) -> None:
        self.plug_ins: list[PlugIn] = []
        known = {**CATALOGUE}
        for point in entry_points(group=ENTRY_POINTS) if points is None else points:
            plug_in = _load(point, known, taken)
            self.plug_ins.append(plug_in)
            known.update(plug_in.actions)
        super().__init__(known.values())


def _load(point: EntryPoint, known: Container[str], taken: Container[str]) -> PlugIn:
    owner = point.dist.name if point.dist is not None else "no distribution"
    try:
        classes = list(point.load())
        problem = next((problem for each in classes for problem in _problems(each, known, taken)), "")
        actions = {} if problem else {action.verb: action for action in classes}
        if len(actions) < len(classes) and not problem:
            problem, actions = "two of its actions have the same name", {}
    except Exception as cause:  # noqa: BLE001 (whatever a package raises while it loads)
        problem, actions = f"{type(cause).__name__}: {cause}", {}
    return PlugIn(point.name, owner, actions, problem.rstrip("."))


def _problems(given: Any, known: Container[str], taken: Container[str]) -> Iterator[str]:
    """Reasons why this cannot be an action beside the others."""
    if not _is_action(given):
        yield f"{getattr(given, '__name__', given)!r} is not an action: a subclass of orchestrator.action.Action"
        return
    verb = getattr(given, "verb", None)
    if not isinstance(verb, str) or not _VERB.fullmatch(verb):
        yield f"{given.__name__} has no verb: a name such as add_up"
        return
    if verb in known or verb in taken:
        yield f"an action or tool {verb!r} exists already"
    if not isinstance(getattr(given, "title", None), str) or not given.__doc__:
        yield f"{verb} lacks a title, or a docstring (its description)"
    if not (isinstance(given.result, type) and issubclass(given.result, Outcome)):
        yield f"{verb} has no result: a subclass of orchestrator.action.Outcome"
    if clash := sorted(_OURS.intersection(names_of(given))):
        yield f"{verb} has a parameter {clash[0]}, a name reserved for calls"
    given.model_json_schema()


def _is_action(given: Any) -> bool:
    return isinstance(given, type) and issubclass(given, Action) and not inspect.isabstract(given)
