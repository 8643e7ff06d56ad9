"""A page's outline with the frames of other origins spliced in where they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.actions.frames import Hop
from orchestrator.actions.results import Element, Elements
from orchestrator.actions.scene import Scene
from orchestrator.errors import PlaceGone
from orchestrator.snapshot.page import Interrupted

_INDENT = "  "


@dataclass(frozen=True)
class Outline:
    """What one snapshot found, over all frames."""

    place: Mapping[str, Any]
    lines: list[str]
    elements_found: list[dict[str, Any]] | None
    total: int
    outside: int
    first: int = 0
    """How many lines or elements stand before those that are listed."""

    @classmethod
    def read(cls, scene: Scene, asked: Mapping[str, Any], root: str | None) -> Outline:
        """Ask the page, then each frame of another origin, going down.

        Raises:
            ElementNotFound, StaleRef, InvalidArgument: `root` selects nothing.
        """
        first, limit = int(asked["offset"]), int(asked["limit"])
        # Which part of the whole is wanted shows only when the frames stand in their places.
        whole = {**asked, "offset": 0, "limit": None}
        if root is None and not scene.find.inside:
            top = scene.ask("snapshot", **asked)
            if not top.get("frames"):
                return replace(cls._with_frames(scene, asked, top), first=first)
            return cls._with_frames(scene, whole, scene.ask("snapshot", **whole)).part(first, limit)
        with scene.find.located(root, "snapshot", scene.seconds(None), **whole) as top:
            return cls._with_frames(scene, whole, top).part(first, limit)

    @classmethod
    def _with_frames(cls, scene: Scene, asked: Mapping[str, Any], top: dict[str, Any]) -> Outline:
        lines = list(top.get("lines") or ())
        elements = list(top.get("elements") or ()) if asked["json"] else None
        total, outside = int(top["total"]), int(top.get("outside") or 0)
        # From the last frame to the first, so that the places of the earlier ones stay right.
        for frame in reversed(top.get("frames") or ()):
            below = cls._below(scene, asked, Hop.of(frame))
            if below is None:
                continue
            total, outside = total + below.total, outside + below.outside
            if elements is not None:
                elements += below.elements_found or []
            else:
                at, indent = int(frame["at"]) + 1, _INDENT * (int(frame["depth"]) + 1)
                lines[at:at] = [indent + line for line in below.lines]
        return cls(top, lines, elements, total, outside)

    @classmethod
    def _below(cls, scene: Scene, asked: Mapping[str, Any], hop: Hop) -> Outline | None:
        """What a frame shows; None when it went away meanwhile."""
        try:
            with scene.find.frames.below(hop):
                return cls._with_frames(scene, asked, scene.page.call("snapshot", **asked))
        except (Interrupted, PlaceGone):
            return None

    def part(self, first: int, limit: int) -> Outline:
        """Only so many of its lines or elements."""
        wanted = slice(first, first + limit)
        elements = None if self.elements_found is None else self.elements_found[wanted]
        return replace(self, lines=self.lines[wanted], elements_found=elements, first=first)

    def elements(self, room: int) -> Elements:
        """The result, with as many lines or elements as fit into `room` characters."""
        rows = self.lines if self.elements_found is None else self.elements_found
        shown = _fitting(rows, room)
        tail = []
        if self.outside:
            tail.append(f"… {self.outside} more outside the viewport (scope: page)")
        reached = self.first + shown
        following = None
        if (rest := self.total - reached) > 0:
            following = f"{rest} more: narrow it with query, roles or root, or go on with offset {reached}."
        if self.elements_found is not None:
            found = [Element.model_validate(row) for row in self.elements_found[:shown]]
            return self._result(elements=found, shown=shown, next=following or (tail[0] if tail else None))
        return self._result(outline="\n".join([*self.lines[:shown], *tail]), shown=shown, next=following)

    def _result(self, **fields: Any) -> Elements:
        return Elements(url=self.place["url"], title=self.place["title"], total=self.total, **fields)


def _fitting(rows: list[Any], room: int) -> int:
    """How many of the rows fit into that many characters of JSON; at least one."""
    # A line has no control characters: in JSON each of its characters becomes two at most.
    if rows and isinstance(rows[0], str) and 2 * sum(map(len, rows)) + 4 * len(rows) <= room:
        return len(rows)
    if len(json.dumps(rows, ensure_ascii=False)) <= room:
        return len(rows)
    used = 0
    for index, row in enumerate(rows):
        used += len(json.dumps(row, ensure_ascii=False)) + 2
        if used > room and index:
            return index
    return len(rows)
