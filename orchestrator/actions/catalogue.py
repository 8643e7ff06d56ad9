"""The actions by verb: the only place that knows how a step is spelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.actions import dialogs, keyboard, navigation, pointer, reading, scripts, waits
from orchestrator.actions.base import AnyAction
from orchestrator.arguments import read
from orchestrator.errors import InvalidArgument, nearest


class Catalogue(Mapping[str, type[AnyAction]]):
    """Actions by verb, in the order in which docs and tools list them."""

    def __init__(self, actions: Iterable[type[AnyAction]]) -> None:
        self._actions = {action.verb: action for action in actions}

    def __getitem__(self, verb: str) -> type[AnyAction]:
        return self._actions[verb]

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def __len__(self) -> int:
        return len(self._actions)

    def step(self, step: Mapping[str, Any]) -> AnyAction:
        """Read one step: `{"action": verb, …its parameters}`.

        Raises:
            InvalidArgument: There is no such action, or its parameters are wrong.
        """
        fields = dict(step)
        verb = fields.pop("action", None)
        if not isinstance(verb, str) or verb not in self._actions:
            hint = nearest(verb if isinstance(verb, str) else "", self._actions)
            raise InvalidArgument(f"{verb!r} is not an action.", hint=hint)
        return read(self._actions[verb], fields)


CATALOGUE = Catalogue(
    [
        *navigation.ACTIONS,
        *reading.ACTIONS,
        *pointer.ACTIONS,
        *keyboard.ACTIONS,
        *waits.ACTIONS,
        *scripts.ACTIONS,
        *dialogs.ACTIONS,
    ]
)
"""The actions that ship with the project."""
