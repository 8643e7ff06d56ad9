"""Finds the element that a selector means, waits until it can be acted on, and goes into frames for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

from orchestrator.actions.deadline import SLICE, Deadline
from orchestrator.actions.unmet import unmet
from orchestrator.errors import DialogOpen, RemoteFailure
from orchestrator.models import SessionRecord
from orchestrator.selector import Selector, parse
from orchestrator.snapshot.page import Interrupted, Page
from orchestrator.webdriver.remote import Remote

_FIRST_SLICE = 0.05
"""Short: what is in a frame of another origin shall not wait for long."""
_SLICE_WITH_FRAMES = 0.2
"""While frames of other origins are searched in turn."""

_PAUSE = 0.02
_OF_PAGE = frozenset({"url", "title", "pageText"})
"""Conditions on the page and not on an element."""


@dataclass(frozen=True)
class Hit:
    """An element that can be acted on; `x`, `y` are its clickable point in the current viewport, in CSS pixels."""

    given: str
    facts: Mapping[str, Any]

    @property
    def matches(self) -> int | None:
        """How many elements the selector found, if more than one."""
        found = int(self.facts.get("matches", 1))
        return found if found > 1 else None

    @property
    def point(self) -> tuple[int, int]:
        """The clickable point."""
        return int(self.facts["x"]), int(self.facts["y"])

    @property
    def kind(self) -> str:
        """What sort of control it is, such as text, password, select or checkbox."""
        return str(self.facts.get("kind", "other"))


class Turn(Protocol):
    """The lane's side of a call: whose turn it is, and whether it still is."""

    record: SessionRecord

    def check(self) -> None:
        """Raise when the caller is gone or the session was closed or lost."""
        ...

    def change(self, **fields: Any) -> None:
        """Change the record when the turn ends."""
        ...


class Finder:
    """Asks the page's engine about elements, in the top document and in the frames of other origins.

    Same-origin frames and open shadow roots are searched by the engine itself, in one call.
    """

    def __init__(self, remote: Remote, page: Page, turn: Turn) -> None:
        self._remote = remote
        self._page = page
        self._turn = turn
        self._hops: list[list[int]] = []

    @property
    def at_top(self) -> bool:
        """Whether the top document is current, and not a frame of another origin."""
        return not self._hops

    @contextmanager
    def element(self, given: str, need: str, seconds: float, **params: Any) -> Iterator[Hit]:
        """Wait until the element that `given` selects is as `need` says; inside the block its frame is current.

        Raises:
            ElementNotFound, NotActionable, StaleRef, InvalidArgument: It did not come to that in time.
        """
        try:
            yield Hit(given, self._await(given, "ready", seconds, need=need, **params))
        finally:
            self._switch([])

    def locate(self, given: str, method: str, seconds: float, **params: Any) -> dict[str, Any]:
        """Ask an element method of the engine, once its element is there."""
        try:
            return self._as_page(self._await(given, method, seconds, **params))
        finally:
            self._switch([])

    def poll(self, method: str, deadline: Deadline, selector: Selector | None = None, **params: Any) -> dict[str, Any]:
        """Ask the page in slices until the answer is ok or the time is up; the last answer is returned."""
        try:
            return self._as_page(self._poll(method, deadline, selector, **params))
        finally:
            self._switch([])

    @contextmanager
    def frame(self, path: list[int]) -> Iterator[None]:
        """Make a frame below the current one current, by its window indexes, for a block.

        Raises:
            Interrupted: It is not there any more.
        """
        before = self._hops
        self._switch([*before, path])
        try:
            yield
        finally:
            self._return(before)

    @contextmanager
    def pointer(self, x: int, y: int) -> Iterator[tuple[int, int]]:
        """The point of the current document as one of the top document, which is current inside the block.

        From there a pointer reaches into every frame; chromedriver misses when a frame of another origin is current.
        """
        before = self._hops
        try:
            while self._hops:
                *around, path = self._hops
                self._switch(around)
                found = self._page.call("outwards", path=path, x=x, y=y)
                x, y = int(found.get("x", x)), int(found.get("y", y))
            yield x, y
        finally:
            self._return(before)

    def from_top(self) -> bool:
        """Make the top document current, wherever somebody else stopped; False while a dialog is in the way."""
        try:
            self._remote.execute("switchToFrame", id=None)
        except DialogOpen:
            return False
        return True

    def _await(self, given: str, method: str, seconds: float, **params: Any) -> dict[str, Any]:
        selector, deadline = parse(given), Deadline(seconds)
        answer = self._poll(method, deadline, selector, **params)
        if not answer.get("ok", True):
            raise unmet(selector, answer, self._turn.record, deadline)
        return answer

    def _poll(self, method: str, deadline: Deadline, selector: Selector | None, **params: Any) -> dict[str, Any]:
        """Ask in slices; the frame in which the answer was found is current afterwards."""
        answer: dict[str, Any] = {"ok": False, "reason": "not_found", "detail": "the page is navigating"}
        locator = {"locator": selector.data()} if selector else {}
        longest = _FIRST_SLICE
        while True:
            self._turn.check()
            with suppress(Interrupted):
                self._switch([])
                answer = self._search(method, {**locator, **params, "slice": deadline.slice_ms(longest)})
            if answer.get("ok", True) or answer.get("reason") in {"invalid", "stale"} or not deadline.left:
                return answer
            longest = _SLICE_WITH_FRAMES if answer.get("frames") else SLICE
            # Where the engine did not wait itself: it has nothing to wait with while a page is being replaced.
            time.sleep(min(_PAUSE, deadline.left))

    def _search(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask here; then, where the element may be in a frame of another origin, ask there."""
        answer = self._page.call(method, **params)
        while "crossOrigin" in answer:
            *frames, last = answer["crossOrigin"]["rest"]
            self._switch([*self._hops, answer["crossOrigin"]["path"]])
            params = {**params, "locator": {**last, "frames": frames}}
            answer = self._page.call(method, **params)
        if answer.get("matches") or answer.get("reason") == "invalid":
            return answer
        here, nearest = self._hops, answer
        # No indexes lead to a frame inside a shadow tree.
        for frame in filter(lambda one: one["path"] is not None, answer.get("frames") or ()):
            self._switch([*here, frame["path"]])
            found = _with_page(answer, self._search(method, _inside(params)))
            if found.get("matches", 1):
                if found.get("ok", True):
                    return found
                nearest = found if nearest is answer else nearest
        return {**nearest, "frames": answer["frames"]} if answer.get("frames") else answer

    def _as_page(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer with the page's address and title, wherever it was found."""
        if self.at_top or "url" not in answer:
            return answer
        with suppress(Interrupted):
            self._switch([])
            place = self._page.call("state")
            return {**answer, "url": place["url"], "title": place["title"]}
        return {**answer, "url": self._turn.record.url or "", "title": self._turn.record.title or ""}

    def _return(self, hops: list[list[int]]) -> None:
        """Go back to where one was; the top document where that is gone."""
        with suppress(Interrupted):
            self._switch(hops)

    def _switch(self, hops: list[list[int]]) -> None:
        if hops == self._hops:
            return
        self._remote.execute("switchToFrame", id=None)
        self._hops = []
        try:
            for index in chain.from_iterable(hops):
                self._remote.execute("switchToFrame", id=index)
        except RemoteFailure as error:
            self._remote.execute("switchToFrame", id=None)
            raise Interrupted("The frame went away.") from error
        self._hops = hops


def _inside(params: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked in a frame: without waiting there, and without what only the page itself can tell."""
    inner = {**params, "slice": 0}
    if "conditions" in params and not params.get("not"):
        inner["conditions"] = {name: value for name, value in params["conditions"].items() if name not in _OF_PAGE}
    return inner


def _with_page(around: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What a frame answered, together with what does not hold of the page around it."""
    unmet = [one for one in around.get("failed") or () if one["condition"] in _OF_PAGE]
    return {**found, "ok": False, "failed": [*unmet, *(found.get("failed") or ())]} if unmet else found
