"""What a session remembers beside its page, and other actions of it: for scripts, and for actions of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

from orchestrator.actions.results import Outcome
from orchestrator.actions.turn import Turn
from orchestrator.world.vars import Vars
from orchestrator.world.world import World
from orchestrator.world.worlds import Worlds


class House(Protocol):
    """What the sessions of a process have in common: the actions that there are, and the script worlds."""

    worlds: Worlds

    def act(self, scene: Any, verb: str, fields: Mapping[str, Any]) -> Outcome:
        """Do an action by its name."""
        ...


class Memory:
    """The part of a scene that knows its session's vars and world."""

    def __init__(self, turn: Turn, house: House) -> None:
        self._turn = turn
        self._house = house
        self.events: list[str] = []

    @cached_property
    def vars(self) -> Vars:
        """The strings that the session keeps, also for its scripts."""
        return Vars(self._turn.record.vars, lambda kept: self._turn.change(vars=kept))

    @property
    def world(self) -> World:
        """The world of the session's scripts in this process, with `get` and `set` for its globals.

        Raises:
            Unsupported: There is no engine for it.
        """
        world, new = self._house.worlds.of(self._turn.record.id, self._turn.record.remote_session_id)
        if world.id != self._turn.record.world:
            if new and self._turn.record.world:
                self.events.append("The script world is a new one: globals of earlier scripts are not in it; vars are.")
            self._turn.change(world=world.id)
        return world

    def act(self, verb: str, fields: Mapping[str, Any]) -> Outcome:
        """Do another action of this session, by its name and parameters, in this turn.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        return self._house.act(self, verb, fields)
