"""The actions by verb: the only place that knows how a step is spelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.actions import (
    apps,
    archives,
    choosing,
    contexts,
    cookies,
    devices,
    dialogs,
    dragging,
    emulate,
    files,
    gestures,
    hearing,
    keyboard,
    navigation,
    pictures,
    pointer,
    policy,
    reading,
    routes,
    running,
    scripts,
    storage,
    touch,
    waits,
    windows,
)
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

    def read(self, verb: str, fields: Mapping[str, Any]) -> AnyAction:
        """An action by its name and parameters.

        Raises:
            InvalidArgument: There is no such action, or its parameters are wrong.
        """
        if verb not in self._actions:
            raise InvalidArgument(f"{verb!r} is not an action.", hint=nearest(verb, self._actions))
        return read(self._actions[verb], fields)

    def step(self, step: Mapping[str, Any]) -> AnyAction:
        """Read one step: `{"action": verb, …its parameters}`; a parameter that is called action itself is `do` there.

        Raises:
            InvalidArgument: There is no such action, or its parameters are wrong.
        """
        fields = dict(step)
        verb = fields.pop("action", None)
        if not isinstance(verb, str):
            raise InvalidArgument(f"{verb!r} is not an action.", hint=nearest("", self._actions))
        has_own = verb in self._actions and "action" in self._actions[verb].model_fields
        return self.read(verb, _undone(verb, fields) if has_own else fields)


def _undone(verb: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an action that has an `action` of its own: in a step, whose `action` is the verb, it is `do`."""
    if "do" not in fields:
        raise InvalidArgument(f"A step of {verb} needs do.", hint=f"It is what the tool {verb} calls action.")
    return {("action" if name == "do" else name): value for name, value in fields.items()}


CATALOGUE = Catalogue(
    [
        *navigation.ACTIONS,
        *reading.ACTIONS,
        *pictures.ACTIONS,
        *pointer.ACTIONS,
        *touch.ACTIONS,
        *gestures.ACTIONS,
        *dragging.ACTIONS,
        *keyboard.ACTIONS,
        *choosing.ACTIONS,
        *files.ACTIONS,
        *waits.ACTIONS,
        *scripts.ACTIONS,
        *running.ACTIONS,
        *hearing.ACTIONS,
        *dialogs.ACTIONS,
        *policy.ACTIONS,
        *windows.ACTIONS,
        *emulate.ACTIONS,
        *cookies.ACTIONS,
        *storage.ACTIONS,
        *routes.ACTIONS,
        *archives.ACTIONS,
        *contexts.ACTIONS,
        *apps.ACTIONS,
        *devices.ACTIONS,
    ]
)
"""The actions that ship with the project."""
