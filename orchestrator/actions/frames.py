"""Where in the page commands go: the top document, or a frame of another origin, by the way that leads to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import floor
from typing import Any

from orchestrator.errors import DialogOpen, PlaceGone, RemoteFailure
from orchestrator.snapshot.page import Interrupted, Page
from orchestrator.webdriver.remote import Remote


@dataclass(frozen=True)
class Hop:
    """A step from a document into a frame below it.

    `path` has the window indexes that lead there, or the ref of a frame to which none leads: in a shadow tree.
    """

    path: tuple[int | str, ...]
    ref: str

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Hop:
        """The step that the page's engine tells of a frame."""
        return cls(tuple(facts["path"]), str(facts["ref"]))


@dataclass(frozen=True)
class Box:
    """A part of a document's viewport, in CSS pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, sides: Mapping[str, float]) -> Box:
        """The box as the page's engine tells it."""
        return cls(*(float(sides[side]) for side in ("left", "top", "right", "bottom")))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height; neither is negative."""
        return max(0.0, self.right - self.left), max(0.0, self.bottom - self.top)

    def within(self, other: Box) -> Box:
        """What both have in common."""
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def through(self, lens: Mapping[str, float]) -> Box:
        """The same box as it stands around a frame."""
        across, down = lens["scaleX"], lens["scaleY"]
        left, top = lens["left"], lens["top"]
        return Box(
            left + self.left * across, top + self.top * down, left + self.right * across, top + self.bottom * down
        )

    def moved(self, x: float, y: float) -> Box:
        """The same box elsewhere."""
        return Box(self.left + x, self.top + y, self.right + x, self.bottom + y)


class Frames:
    """Switches between the top document and the frames of other origins; same-origin ones need no switching."""

    def __init__(self, remote: Remote, page: Page) -> None:
        self._remote = remote
        self._page = page
        self.hops: tuple[Hop, ...] = ()

    @contextmanager
    def below(self, hop: Hop) -> Iterator[None]:
        """Make a frame below the current document current for a block.

        Raises:
            Interrupted: It is not there any more.
        """
        before = self.hops
        self.switch((*before, hop))
        try:
            yield
        finally:
            self.back(before)

    @contextmanager
    def pointer(self, x: int, y: int) -> Iterator[tuple[int, int]]:
        """The point of the current document as one of the top document, which is current inside the block.

        From there a pointer reaches into every frame; chromedriver misses when a frame of another origin is current.
        """
        before = self.hops
        try:
            [at] = self.outwards([Box(x, y, x, y)], clip=False)
            yield floor(at.left), floor(at.top)
        finally:
            self.back(before)

    def outwards(self, boxes: list[Box], *, clip: bool = True) -> list[Box]:
        """Boxes of the current document as they stand in the top one, which is current then; cut off by its frames."""
        while self.hops:
            *around, hop = self.hops
            self.switch(tuple(around))
            found = self._page.call("outwards", path=list(hop.path))
            if found.get("ok", True):
                edge = Box.of(found["part"])
                boxes = [box.through(found["lens"]) for box in boxes]
                boxes = [box.within(edge) for box in boxes] if clip else boxes
        return boxes

    def back(self, hops: tuple[Hop, ...] = ()) -> None:
        """Go back to where one was; the top document where that is gone."""
        with suppress(Interrupted):
            self.switch(hops)

    def switch(self, hops: tuple[Hop, ...]) -> None:
        """Go there from the top document.

        Raises:
            Interrupted: A frame on the way is not there any more.
        """
        if hops == self.hops:
            return
        self._remote.execute("switchToFrame", id=None)
        self.hops = ()
        try:
            for step in (step for hop in hops for step in hop.path):
                self._remote.execute("switchToFrame", id=step if isinstance(step, int) else self._element(step))
        except PlaceGone:
            raise
        except RemoteFailure as error:
            self._remote.execute("switchToFrame", id=None)
            raise Interrupted("The frame went away.") from error
        self.hops = hops

    def _element(self, ref: str) -> Any:
        element = self._page.frame(ref)
        if element is None:
            self._remote.execute("switchToFrame", id=None)
            raise Interrupted("The frame went away.")
        return element

    def from_top(self) -> bool:
        """Make the top document current, wherever somebody else stopped; False while a dialog is in the way."""
        try:
            self._remote.execute("switchToFrame", id=None)
        except DialogOpen:
            return False
        return True

    def forget(self) -> None:
        """The top document is current: another tab was switched to."""
        self.hops = ()
