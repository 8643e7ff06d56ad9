"""Read a page's outline, with those of frames of other origins inserted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.automation.browser.element_errors import expect_found
from orchestrator.automation.browser.frames import FrameStep
from orchestrator.automation.scene import Scene
from orchestrator.errors import PlaceGone
from orchestrator.models.results import Element, Elements
from orchestrator.snapshot.answers import ElementFacts, PageAddress, SnapshotAnswer
from orchestrator.snapshot.methods import SNAPSHOT
from orchestrator.snapshot.web.page import Interrupted

_INDENT = "  "


@dataclass(frozen=True)
class Outline:
    """The outline of a page over all its frames."""

    place: PageAddress
    lines: list[str]
    elements_found: list[ElementFacts] | None
    total: int
    outside: int
    first: int = 0
    """Lines or elements skipped before the first one."""

    @classmethod
    def read(cls, scene: Scene, asked: Mapping[str, Any], root: str | None) -> Outline:
        """Read the page, then recursively each frame of another origin.

        Raises:
            ElementNotFound, StaleRef, InvalidArgument: `root` selects nothing.
        """
        first, limit = int(asked["offset"]), int(asked["limit"])
        # Offset and limit count lines of frames, too: they can be applied only when these are inserted.
        whole = {**asked, "offset": 0, "limit": None}
        if root is None and not scene.finder.is_inside_frame:
            top = expect_found(scene.query_page(SNAPSHOT, **asked))
            if not top["frames"]:
                return replace(cls._with_frames(scene, asked, top), first=first)
            return cls._with_frames(scene, whole, expect_found(scene.query_page(SNAPSHOT, **whole))).part(first, limit)
        with scene.finder.querying_element(root, SNAPSHOT, scene.seconds(None), **whole) as top:
            return cls._with_frames(scene, whole, top).part(first, limit)

    @classmethod
    def _with_frames(cls, scene: Scene, asked: Mapping[str, Any], top: SnapshotAnswer) -> Outline:
        lines = list(top["lines"])
        elements = list(top.get("elements", ())) if asked["json"] else None
        total, outside = top["total"], top["outside"]
        # From the last frame to the first, so that the positions of earlier ones stay valid.
        for frame in reversed(top["frames"]):
            below = cls._below(scene, asked, FrameStep.from_facts(frame))
            if below is None:
                continue
            total, outside = total + below.total, outside + below.outside
            if elements is not None:
                elements += below.elements_found or []
            else:
                at, indent = frame["at"] + 1, _INDENT * (frame["depth"] + 1)
                lines[at:at] = [indent + line for line in below.lines]
        return cls(top, lines, elements, total, outside)

    @classmethod
    def _below(cls, scene: Scene, asked: Mapping[str, Any], hop: FrameStep) -> Outline | None:
        """The outline of a frame; None if the frame was removed meanwhile."""
        try:
            with scene.finder.frames.in_frame(hop):
                return cls._with_frames(scene, asked, expect_found(scene.page.call(SNAPSHOT, **asked)))
        except (Interrupted, PlaceGone):
            return None

    def part(self, first: int, limit: int) -> Outline:
        """The outline cut to `limit` lines or elements from `first` on."""
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
            following = f"{rest} more: narrow it with query, roles or root, or continue with offset {reached}."
        if self.elements_found is not None:
            elements = [Element.model_validate(row) for row in self.elements_found[:shown]]
            return self._result(elements=elements, shown=shown, next=following or (tail[0] if tail else None))
        return self._result(outline="\n".join([*self.lines[:shown], *tail]), shown=shown, next=following)

    def _result(self, **fields: Any) -> Elements:
        return Elements(url=self.place["url"], title=self.place["title"], total=self.total, **fields)


def _fitting(rows: list[Any], room: int) -> int:
    """The number of rows that fit into `room` characters of JSON; at least one."""
    # Lines have no control characters, so that JSON at most doubles their length.
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
