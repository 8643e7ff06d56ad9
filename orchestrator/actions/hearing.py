"""Reading what was heard of a session while nobody asked: its console and its network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action
from orchestrator.actions.ear_results import ConsoleLog, NetworkLog
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.ears import logs
from orchestrator.ears.console import Level
from orchestrator.ears.network import STATUS
from orchestrator.errors import NoAnswer, Unsupported
from orchestrator.models import SessionType, Wire

EntryT = TypeVar("EntryT", bound=Wire)
_BY_BIDI = "Start it with the capability webSocketUrl: true, where the remote end can."
_BUSY = 2.0
"""Seconds that a driver may take that answers to another session, too."""
_ROOM = 0.8
"""The share of `max_output` that the entries themselves may take."""


class Hears(Wire):
    """Which of what was heard is wanted."""

    since: float = 0
    limit: int = Field(default=100, ge=1, le=1000)
    clear: bool = False


class GetConsole(Hears, Action[ConsoleLog]):
    """Read what pages wrote to the console and errors that nobody caught; of an app, its device's log."""

    verb: ClassVar[str] = "get_console"
    title: ClassVar[str] = "Read console"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ConsoleLog

    level: Level = "debug"

    def perform(self, scene: Scene) -> ConsoleLog:
        """No page is asked: it was heard when it was said, or its remote end kept it."""
        scene.need("console")
        warnings = caught_up(scene) if scene.bidi else self._pull(scene)
        found, until, dropped = scene.ears.console.find(self.since, self.level, clear=self.clear)
        shown, rest = _newest(found, self.limit, scene)
        return ConsoleLog(
            entries=shown, total=len(found), dropped=dropped or None, until=until, warnings=warnings, next=rest
        )

    def _pull(self, scene: Scene) -> list[str]:
        if not logs.pull(scene.remote, scene.ears.console, scene.redactor):
            raise Unsupported(f"Nothing is heard of {scene.record.id!r}: its remote end keeps no log.", hint=_BY_BIDI)
        return []


class GetNetwork(Hears, Action[NetworkLog]):
    """List what pages asked for over the network, and what came of it."""

    verb: ClassVar[str] = "get_network"
    title: ClassVar[str] = "Read network"
    instead: ClassVar[str] = "An app's requests are in no log but its own: see get_console."
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = NetworkLog

    url: str | None = None
    status: str | None = Field(
        default=None, coerce_numbers_to_str=True, pattern=STATUS, description="404, 4xx, >=400, failed, pending."
    )

    def perform(self, scene: Scene) -> NetworkLog:
        """No page is asked: requests were heard when they were sent and answered."""
        scene.need("requests")
        if scene.bidi is None:
            raise Unsupported(f"No requests are heard of {scene.record.id!r}: it has no WebDriver BiDi.", hint=_BY_BIDI)
        warnings = caught_up(scene)
        found, until, dropped = scene.ears.network.find(self.since, self.url, self.status, clear=self.clear)
        shown, rest = _newest(found, self.limit, scene)
        return NetworkLog(
            entries=shown, total=len(found), dropped=dropped or None, until=until, warnings=warnings, next=rest
        )


def caught_up(scene: Scene) -> list[str]:
    """Have all heard that happened until now; a warning where something or everything is not heard.

    Raises:
        SessionLost: The remote end is gone.
    """
    place = scene.record.instance
    # The socket is that of the session that launched the browser: a long call there is none of ours.
    guest = place is not None and not place.root
    try:
        if scene.ears.catch_up(_BUSY if guest else None):
            return []
    except NoAnswer as error:
        scene.remote.apart(scene.remote.timeout).touch()  # a session whose socket alone is out of reach lives on
        return [f"Nothing is heard any more: {error.reason}."]
    return ["A call of another session keeps this browser's driver: what was said just now may be missing."]


def _newest(found: Sequence[EntryT], limit: int, scene: Scene) -> tuple[list[EntryT], str | None]:
    """The newest entries that fit into a result, in order, and how to get the others."""
    room, shown = scene.settings.max_output * _ROOM, 0
    for entry in reversed(found[-limit:]):
        room -= len(json.dumps(entry.model_dump(by_alias=True, exclude_none=True), ensure_ascii=False)) + 1
        if room < 0 and shown:
            break
        shown += 1
    rest = len(found) - shown
    more = f"{rest} older ones are not shown: raise limit, or filter." if rest else None
    return list(found[-shown:]) if shown else [], more


ACTIONS: list[type[Action[Any]]] = [GetConsole, GetNetwork]
