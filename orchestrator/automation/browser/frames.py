"""The current browsing context: the top document or a frame, and the path to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import floor
from typing import Any

from orchestrator.errors import DialogOpen, NotActionable, PlaceGone, RemoteFailure
from orchestrator.snapshot.answers import BoxSides, FrameAddress, FrameLens
from orchestrator.snapshot.methods import OUTWARDS, is_cross_origin, is_refused
from orchestrator.snapshot.web.page import Interrupted, PageEngine
from orchestrator.system.deadline import Deadline
from orchestrator.webdriver.remote import Remote

_COVERED = 2.0
"""Seconds to wait for the end of what covers a frame."""
_PAUSE = 0.02
"""Seconds between two looks at it."""


@dataclass(frozen=True)
class FrameStep:
    """A step from a document into a frame of another origin below it.

    Attributes:
        path: The window indexes that lead there, or the ref of a frame in a shadow tree, which has no index.
        ref: The frame's ref.
    """

    path: tuple[int | str, ...]
    ref: str

    @classmethod
    def from_facts(cls, facts: FrameAddress) -> FrameStep:
        """Make a step of the engine's facts about a frame."""
        return cls(tuple(facts["path"]), facts["ref"])


FramePath = tuple[FrameStep, ...]
"""The steps from the top document to a frame."""


@dataclass(frozen=True)
class ViewportRect:
    """A part of a document's viewport, in CSS pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def from_sides(cls, sides: BoxSides) -> ViewportRect:
        """Make a rectangle of the engine's four sides."""
        return cls(sides["left"], sides["top"], sides["right"], sides["bottom"])

    @property
    def size(self) -> tuple[float, float]:
        """Width and height; neither is negative."""
        return max(0.0, self.right - self.left), max(0.0, self.bottom - self.top)

    def intersect(self, other: ViewportRect) -> ViewportRect:
        """The part that both have in common."""
        return ViewportRect(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def map_out_of_frame(self, lens: FrameLens) -> ViewportRect:
        """The rectangle around what it is in the document around its frame, which may be turned there."""
        corners = [_map_point(lens, x, y) for x in (self.left, self.right) for y in (self.top, self.bottom)]
        across, down = zip(*corners, strict=True)
        return ViewportRect(min(across), min(down), max(across), max(down))

    def moved(self, x: float, y: float) -> ViewportRect:
        """The same rectangle, moved."""
        return ViewportRect(self.left + x, self.top + y, self.right + x, self.bottom + y)


class Frames:
    """Switches between the top document and the frames of other origins; same-origin ones need no switching.

    Args:
        remote: The client of the session.
        page: The engine of the current document.
        holds_input: True where the pointer and the keys of a document do not come into frames of other origins: they
            have to act in the frame itself.
    """

    def __init__(self, remote: Remote, page: PageEngine, *, holds_input: bool) -> None:
        self._remote = remote
        self._page = page
        self.holds_input = holds_input
        self.current_path: FramePath = ()

    @contextmanager
    def in_frame(self, step: FrameStep) -> Iterator[None]:
        """Make a frame below the current document current for a block.

        Raises:
            Interrupted: The frame is gone.
        """
        before = self.current_path
        self.switch((*before, step))
        try:
            yield
        finally:
            self.switch_back(before)

    @contextmanager
    def pointer_point(self, x: int, y: int, aim: str | None = None) -> Iterator[tuple[int, int]]:
        """Map a point of the current document into the document in which the pointer acts, current inside the block.

        That is the top document: from there a pointer reaches every frame, and chromedriver misses while a frame of
        another origin is current. With `holds_input` it is the frame itself. With `aim`, each document around the
        frame watches that the pointer comes into it, see `automation.input.aimed_at`.

        Raises:
            NotActionable: The frame, or one around it, does not show that point, or something covers it there.
        """
        before = self.current_path
        try:
            outside = self._carry_to_top_document(x, y, aim)
            if self.holds_input:
                self.switch(before)
                yield x, y
            else:
                yield outside
        finally:
            self.switch_back(before)

    @contextmanager
    def in_pointer_document(self, path: FramePath) -> Iterator[None]:
        """Make the document in which the pointer acts on elements of a frame current for a block."""
        before = self.current_path
        try:
            if self.holds_input:
                self.switch(path)
            yield
        finally:
            self.switch_back(before)

    def _carry_to_top_document(self, x: float, y: float, aim: str | None) -> tuple[int, int]:
        """Map a point outwards; each document is asked whether a pointer there reaches the frame."""
        while self.current_path:
            *around, step = self.current_path
            self.switch(tuple(around))
            deadline, aimed = Deadline(_COVERED), {"aim": aim} if aim else {}
            while True:
                frame = self._page.call(OUTWARDS, path=list(step.path), point=[x, y], **aimed)
                if is_refused(frame) or is_cross_origin(frame):
                    raise Interrupted("The frame went away.")
                obstacle = frame.get("obstacle")
                if not obstacle:
                    break
                if not deadline.seconds_left:
                    raise NotActionable(
                        f"A pointer does not reach the frame {step.ref} there: {obstacle}.",
                        hint="Close what covers it or scroll, then try again.",
                    )
                time.sleep(_PAUSE)
            x, y = _map_point(frame["lens"], x, y)
        return floor(x), floor(y)

    def map_to_top_document(self, boxes: list[ViewportRect]) -> list[ViewportRect]:
        """Map rectangles of the current document into the top one, which is current then; clipped by the frames."""
        while self.current_path:
            *around, step = self.current_path
            self.switch(tuple(around))
            frame = self._page.call(OUTWARDS, path=list(step.path))
            if not is_refused(frame) and not is_cross_origin(frame):
                edge = ViewportRect.from_sides(frame["part"])
                boxes = [box.map_out_of_frame(frame["lens"]).intersect(edge) for box in boxes]
        return boxes

    def switch_back(self, path: FramePath = ()) -> None:
        """Switch to a frame that was current before; to the top document if it is gone."""
        with suppress(Interrupted):
            self.switch(path)

    def switch(self, path: FramePath) -> None:
        """Switch to the frame at the end of `path`; to the top document without steps.

        Raises:
            Interrupted: A frame on the way is gone.
        """
        if path == self.current_path:
            return
        self._switch_to_top()
        try:
            for key in (key for step in path for key in step.path):
                self._remote.execute("switchToFrame", id=key if isinstance(key, int) else self._element(key))
                self._page.enter_frame()
        except PlaceGone:
            raise
        except RemoteFailure as error:
            self._switch_to_top()
            raise Interrupted("The frame went away.") from error
        self.current_path = path

    def _switch_to_top(self) -> None:
        self._remote.execute("switchToFrame", id=None)
        self.reset_to_top()

    def _element(self, ref: str) -> Any:
        element = self._page.frame(ref)
        if element is None:
            self._switch_to_top()
            raise Interrupted("The frame went away.")
        return element

    def switch_to_top(self) -> bool:
        """Make the top document current, wherever another process has stopped; False while a dialog prevents it."""
        try:
            self._remote.execute("switchToFrame", id=None)
        except DialogOpen:
            return False
        self._page.enter_top()
        return True

    def reset_to_top(self) -> None:
        """Note that a top document is current, perhaps that of another tab."""
        self.current_path = ()
        self._page.enter_top()


def _map_point(lens: FrameLens, x: float, y: float) -> tuple[float, float]:
    """Map a point by a projective map, see `scripts/lens.js`."""
    across, down, depth = (lens[row] * x + lens[row + 1] * y + lens[row + 2] for row in (0, 3, 6))
    return across / depth, down / depth
