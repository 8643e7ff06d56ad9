"""A page's outline with the frames of other origins spliced in where they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.actions.results import Element, Elements
from orchestrator.actions.scene import Scene

_INDENT = "  "


@dataclass(frozen=True)
class Outline:
    """What one snapshot found, over all frames."""

    place: Mapping[str, Any]
    lines: list[str]
    elements_found: list[dict[str, Any]] | None
    total: int
    outside: int

    @classmethod
    def read(cls, scene: Scene, asked: Mapping[str, Any], root: str | None) -> Outline:
        """Ask the page, then each frame of another origin, going down.

        Raises:
            ElementNotFound, StaleRef, InvalidArgument: `root` selects nothing.
        """
        if root is not None:
            top = scene.find.locate(root, "snapshot", scene.seconds(None), **asked)
        else:
            top = scene.ask("snapshot", **asked)
        return cls._with_frames(scene, asked, top)

    @classmethod
    def _with_frames(cls, scene: Scene, asked: Mapping[str, Any], top: dict[str, Any]) -> Outline:
        lines = list(top.get("lines") or ())
        elements = list(top.get("elements") or ()) if asked["json"] else None
        total, outside = int(top["total"]), int(top.get("outside") or 0)
        # From the last frame to the first, so that the places of the earlier ones stay right.
        for frame in reversed(top.get("frames") or ()):
            if frame["path"] is None or (frame.get("at") is None and not asked["json"]):
                continue
            with scene.find.frame(list(frame["path"])):
                inner = {**asked, "root": None, "offset": 0}
                below = cls._with_frames(scene, asked, scene.ask("snapshot", **inner))
            total, outside = total + below.total, outside + below.outside
            if elements is not None:
                elements += below.elements_found or []
            else:
                at, indent = int(frame["at"]) + 1, _INDENT * (int(frame.get("depth") or 0) + 1)
                lines[at:at] = [indent + line for line in below.lines]
        return cls(top, lines, elements, total, outside)

    def elements(self, room: int) -> Elements:
        """The result, with as many lines or elements as fit into `room` characters."""
        rows = self.lines if self.elements_found is None else self.elements_found
        shown = _fitting(rows, room)
        tail = []
        if self.outside:
            tail.append(f"… {self.outside} more outside the viewport (scope: page)")
        cut = self.total - shown
        following = f"{cut} more: narrow it with query, roles or root, or go on with offset." if cut > 0 else None
        if self.elements_found is not None:
            found = [Element.model_validate(row) for row in self.elements_found[:shown]]
            return self._result(elements=found, shown=shown, next=following or (tail[0] if tail else None))
        return self._result(outline="\n".join([*self.lines[:shown], *tail]), shown=shown, next=following)

    def _result(self, **fields: Any) -> Elements:
        return Elements(url=self.place["url"], title=self.place["title"], total=self.total, **fields)


def _fitting(rows: list[Any], room: int) -> int:
    """How many of the rows fit into that many characters of JSON; at least one."""
    if len(json.dumps(rows, ensure_ascii=False)) <= room:
        return len(rows)
    used = 0
    for index, row in enumerate(rows):
        used += len(json.dumps(row, ensure_ascii=False)) + 2
        if used > room and index:
            return index
    return len(rows)
