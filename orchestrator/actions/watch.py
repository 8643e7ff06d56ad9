"""Tells what came of something: waits until the page has settled, then says what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, Self

from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import Finder
from orchestrator.actions.frames import Hop
from orchestrator.actions.results import Move, StateChange
from orchestrator.errors import DialogOpen, PlaceGone, TimedOut
from orchestrator.snapshot.page import Interrupted
from orchestrator.snapshot.view import View

_ELSEWHERE = "elsewhere"
"""A name that no mark has."""
_LINES = 40
"""Lines of a change at most."""
_REDRAWN = "Refs now stale: {}, of elements that were drawn anew and look as before."


class Watched(Protocol):
    """What a watch needs of the scene that it looks at."""

    find: Finder

    @property
    def page(self) -> View:
        """What the session shows."""
        ...

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the page's engine for something that takes no time."""
        ...

    def later(self, method: str, tell: Callable[[Mapping[str, Any]], None], **params: Any) -> None:
        """Ask it with the next question, or before the next other command."""
        ...

    def ask_owed(self) -> None:
        """Ask now what was left for later."""
        ...

    def check(self) -> None:
        """Raise when this call should not go on."""
        ...

    def remember(self, place: Mapping[str, Any]) -> None:
        """Keep the page's URL and title."""
        ...


class Watch:
    """What the page was like when something began, to tell what came of it."""

    def __init__(self, name: str, view: View) -> None:
        self._name = name
        self._view = view
        self._before: Mapping[str, Any] = {}

    @classmethod
    def begin(cls, scene: Watched, name: str) -> Self:
        """Remember the page as it is before anything is done to it; a step that watches in a sequence has its own."""
        watch = cls(name, scene.page)
        scene.later("mark", watch._marked, name=name)
        scene.find.marked[name] = set()
        return watch

    def end(self, scene: Watched, *, stability: float, limit: float) -> dict[str, Any]:
        """Wait until the page has settled and say what changed, as fields of `Settled` with `url` and `title`."""
        scene.ask_owed()
        deadline = Deadline(limit)
        try:
            settled = self._settle(scene, deadline, stability)
            waited = deadline.elapsed_ms - settled.get("deltaMs", 0)
            delta = settled.get("delta") or scene.ask("delta", **self._asked(scene))
            place = {"url": delta["now"]["url"], "title": delta["now"]["title"]}
            inside = self._inside(scene, deadline, stability)
            deltas = [delta, *(one["delta"] for one in inside)]
        except DialogOpen as dialog:
            return {"warnings": [str(dialog)], "dialog": True}
        scene.remember(place)
        change = StateChange(
            url=_move(self._before["url"], place["url"]),
            title=_move(self._before["title"], place["title"]),
            **_joined(deltas),
        )
        unrest = [one["reason"] for one in (settled, *inside) if not one["settled"]]
        found = {**place, "stability_wait_ms": waited, "stable": not unrest}
        if unrest:
            found["unstable_reason"] = unrest[0]
        if redrawn := sum(one.get("redrawn") or 0 for one in deltas):
            found["warnings"] = [_REDRAWN.format(redrawn)]
        return {**found, "state_change": None if change.empty else change}

    def _marked(self, before: Mapping[str, Any]) -> None:
        self._before = before

    def _settle(self, scene: Watched, deadline: Deadline, stability: float) -> dict[str, Any]:
        """Whether it has settled, and if so what changed, else the reason why not."""
        ask = {"stability": round(stability * 1000), "since": deadline.started, **self._asked(scene)}
        reason = "the page is navigating"
        while True:
            scene.check()
            try:
                answer = scene.page.call("settle", slice=deadline.slice_ms(), **ask)
                if answer["settled"]:
                    return answer
                reason = answer["reason"]
            except (Interrupted, PlaceGone, TimedOut):
                reason = "the page is navigating"
            if not deadline.left:
                return {"settled": False, "reason": reason}

    def _inside(self, scene: Watched, deadline: Deadline, stability: float) -> list[dict[str, Any]]:
        """The same of each frame of another origin in which something was acted on; of those that are still there."""
        ask = {"stability": round(stability * 1000), **self._asked(scene)}
        found = []
        for hops in scene.find.marked.get(self._name, ()):
            with suppress(Interrupted, PlaceGone):
                try:
                    found.append(self._settle_in(scene, hops, deadline, ask))
                finally:
                    scene.find.frames.back()
        return found

    def _settle_in(
        self, scene: Watched, hops: tuple[Hop, ...], deadline: Deadline, ask: Mapping[str, Any]
    ) -> dict[str, Any]:
        scene.find.frames.switch(hops)
        while True:
            scene.check()
            answer = scene.page.call("settle", slice=deadline.slice_ms(), **ask)
            if answer["settled"]:
                return answer
            if not deadline.left:
                return {**answer, "delta": scene.page.call("delta", **self._asked(scene))}

    def _asked(self, scene: Watched) -> dict[str, Any]:
        # Where it began in a web view and ended on the app's own screen, or the other way, all is new.
        return {"name": self._name if scene.page is self._view else _ELSEWHERE, "limit": _LINES}


def _joined(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    """The lines of several documents, no more of them than of one."""
    lines: dict[str, list[str]] = {}
    more, room = sum(delta.get("more") or 0 for delta in deltas), _LINES
    for name in ("appeared", "changed", "disappeared"):
        every = [line for delta in deltas for line in delta.get(name) or ()]
        lines[name] = every[:room]
        more += len(every[room:])
        room -= len(lines[name])
    return {**lines, "more": more or None}


def _move(before: str, after: str) -> Move | None:
    return None if before == after else Move(from_=before, to=after)
