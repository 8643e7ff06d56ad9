"""Console messages, uncaught errors and device logs of a session (`get_console`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from orchestrator.actions.base import ALL_TYPES, Action
from orchestrator.actions.tool_results import ConsoleLog
from orchestrator.automation.scene import Scene
from orchestrator.errors import NoAnswer, Unsupported
from orchestrator.models.results import Outcome
from orchestrator.models.session import SessionType, Wire
from orchestrator.settings import ToolSet
from orchestrator.webdriver.events import device_logs
from orchestrator.webdriver.events.console import Level

EntryT = TypeVar("EntryT", bound=Wire)
NEEDS_BIDI = "Start it with the capability webSocketUrl: true, if the remote end supports it."
_BUSY = 2.0
"""Seconds to wait for a driver that also serves another session."""
_BEHIND = 5.0
"""Seconds to wait for a driver of the session's own, which passes on every event before it answers."""
_ROOM = 0.8
"""Share of `max_output` that the entries may take."""


class LogQuery(Wire):
    """Filters for collected events: since when, how many; `clear` removes them afterwards."""

    since: float = 0
    limit: int = Field(default=100, ge=1, le=1000)
    clear: bool = False


class GetConsole(LogQuery, Action[ConsoleLog]):
    """Read console messages and uncaught errors of the pages; for an app, its device's log."""

    verb: ClassVar[str] = "get_console"
    title: ClassVar[str] = "Read console"
    toolset: ClassVar[ToolSet] = "network"
    long_result: ClassVar[bool] = True
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = ConsoleLog

    level: Level = "debug"

    def perform(self, scene: Scene) -> ConsoleLog:
        """Return the entries collected from events, or pulled from the remote end's log."""
        scene.require_ability("console")
        warnings = catch_up_events(scene) if scene.bidi else self._pull(scene)
        warnings += scene.subscriptions.console_topic.gaps_after(self.since)
        entries, until, dropped = scene.subscriptions.console.find(self.since, self.level, clear=self.clear)
        shown, more = newest(entries, self.limit, scene)
        return ConsoleLog(
            entries=shown, total=len(entries), dropped=dropped or None, until=until, warnings=warnings, next=more
        )

    def _pull(self, scene: Scene) -> list[str]:
        if not device_logs.pull_logs(scene.remote, scene.subscriptions.console, scene.redactor):
            raise Unsupported(f"{scene.record.id!r} has no console log at its remote end.", hint=NEEDS_BIDI)
        return []


def catch_up_events(scene: Scene) -> list[str]:
    """Collect all events sent so far; the warnings name what may be missing.

    Raises:
        SessionLost: The remote end is gone.
    """
    place = scene.record.instance
    # Sessions that share a browser share the BiDi socket of its first session, and a long call there blocks it.
    shares_driver = place is not None and not place.root
    try:
        if scene.subscriptions.catch_up(limit := _BUSY if shares_driver else _BEHIND):
            return []
    except NoAnswer as error:
        scene.remote.with_own_connection(
            scene.remote.timeout
        ).ping()  # raises if the session is gone; one that lost only its socket lives on
        return [f"No further events arrive: {error.reason}."]
    because = (
        "Another session's call keeps this browser's driver busy"
        if shares_driver
        else f"The browser's driver has not passed on all events within {limit:g} s"
    )
    return [f"{because}: the newest entries may be missing."]


def newest(entries: Sequence[EntryT], limit: int, scene: Scene) -> tuple[list[EntryT], str | None]:
    """The newest entries that fit into a result, oldest first, and how to get the others."""
    room, shown = scene.settings.max_output * _ROOM, 0
    for entry in reversed(entries[-limit:]):
        room -= len(json.dumps(entry.model_dump(by_alias=True, exclude_none=True), ensure_ascii=False)) + 1
        if room < 0 and shown:
            break
        shown += 1
    rest = len(entries) - shown
    more = f"{rest} older ones are not shown: raise limit, or filter." if rest else None
    return list(entries[-shown:]) if shown else [], more


ACTIONS: list[type[Action[Any]]] = [GetConsole]
