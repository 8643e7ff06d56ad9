"""Finds the actions that other packages bring; the only place that knows their entry-point group."""

from __future__ import annotations

import inspect
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from orchestrator.actions.base import Action, AnyAction
from orchestrator.actions.catalogue import CATALOGUE, Catalogue
from orchestrator.actions.results import Outcome
from orchestrator.arguments import names_of

GROUP = "orchestrator.actions"
_VERB = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_OURS = {"sessionId", "optional", "do"}
"""What calls and steps say besides the parameters of an action."""


@dataclass(frozen=True, slots=True)
class PlugIn:
    """An entry point: the actions that it brings, or why none of it can be used."""

    name: str
    distribution: str
    actions: Mapping[str, type[AnyAction]]
    reason: str = ""


class Actions(Catalogue):
    """The actions that ship with the project, and those of the installed packages behind them.

    Args:
        points: The entry points; those of the installed packages unless given.
        taken: Names that no action may have besides.

    Attributes:
        plug_ins: What the packages bring, broken ones included.
    """

    def __init__(self, points: Iterable[EntryPoint] | None = None, *, taken: Container[str] = ()) -> None:
        self.plug_ins: list[PlugIn] = []
        known = {**CATALOGUE}
        for point in entry_points(group=GROUP) if points is None else points:
            found = _loaded(point, known, taken)
            self.plug_ins.append(found)
            known.update(found.actions)
        super().__init__(known.values())


def _loaded(point: EntryPoint, known: Container[str], taken: Container[str]) -> PlugIn:
    owner = point.dist.name if point.dist is not None else "no distribution"
    try:
        brought = list(point.load())
        problem = next((said for one in brought for said in _problems(one, known, taken)), "")
        actions = {} if problem else {one.verb: one for one in brought}
        if len(actions) < len(brought) and not problem:
            problem, actions = "two of its actions have one name", {}
    except Exception as cause:  # noqa: BLE001 (whatever a package raises while it loads)
        problem, actions = f"{type(cause).__name__}: {cause}", {}
    return PlugIn(point.name, owner, actions, problem.rstrip("."))


def _problems(given: Any, known: Container[str], taken: Container[str]) -> Iterator[str]:
    """What keeps this from being an action beside the others."""
    if not _is_action(given):
        yield f"{getattr(given, '__name__', given)!r} is no action: a class below orchestrator.actions.base.Action"
        return
    verb = getattr(given, "verb", None)
    if not isinstance(verb, str) or not _VERB.fullmatch(verb):
        yield f"{given.__name__} has no verb, a name such as add_up"
        return
    if verb in known or verb in taken:
        yield f"there is an action or a tool {verb!r} already"
    if not isinstance(getattr(given, "title", None), str) or not given.__doc__:
        yield f"{verb} has no title, or no docstring, which is its description"
    if not (isinstance(given.result, type) and issubclass(given.result, Outcome)):
        yield f"{verb} has no result, a class below orchestrator.actions.results.Outcome"
    if clash := sorted(_OURS.intersection(names_of(given))):
        yield f"{verb} has a parameter {clash[0]}, which every call has"
    given.model_json_schema()


def _is_action(given: Any) -> bool:
    return isinstance(given, type) and issubclass(given, Action) and not inspect.isabstract(given)
