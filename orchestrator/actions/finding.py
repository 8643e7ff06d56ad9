"""Finds the element that a selector means, waits until it can be acted on, and goes into frames for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from orchestrator.actions.deadline import SLICE, Deadline
from orchestrator.actions.frames import Frames, Hop
from orchestrator.actions.turn import Turn
from orchestrator.actions.unmet import unmet
from orchestrator.errors import PlaceGone, StaleRef
from orchestrator.selector import WHOLE, Locator, Selector, parse
from orchestrator.snapshot.page import Interrupted
from orchestrator.snapshot.view import View

_FIRST_SLICE = 0.05
"""Short: what is in a frame of another origin shall not wait for long."""
_SLICE_WITH_FRAMES = 0.2
"""While frames of other origins are searched in turn."""

_PAUSE = 0.02
_FINAL = frozenset({"ambiguous", "bad_value", "invalid", "is_file", "stale"})
"""Reasons that no waiting mends."""
_OF_PAGE = frozenset({"url", "title"})
"""Conditions that only the page itself can tell."""


def several(found: Mapping[str, Any]) -> int | None:
    """How many elements an answer of the page or screen is about, if more than one."""
    matches = int(found.get("matches") or 1)
    return matches if matches > 1 else None


@dataclass(frozen=True)
class Hit:
    """An element that can be acted on; `x`, `y` are its clickable point.

    In a page it is one of the current viewport, in CSS pixels; on an app's screen it is in the driver's coordinates.
    """

    given: str
    facts: Mapping[str, Any]

    @property
    def matches(self) -> int | None:
        """How many elements the selector found, if more than one."""
        return several(self.facts)

    @property
    def point(self) -> tuple[int, int]:
        """The clickable point."""
        return int(self.facts["x"]), int(self.facts["y"])

    @property
    def kind(self) -> str:
        """What sort of control it is, such as text, password, select or checkbox."""
        return str(self.facts.get("kind", "other"))


class Finder:
    """Asks what the session shows about elements; in a page the top document and the frames of other origins.

    Same-origin frames and open shadow roots are searched by the engine itself, in one call. Where the session has
    switched to a frame, selectors that are no refs are taken inside it, and what takes no selector is about it. An
    app's screen has no frames.
    """

    def __init__(self, view: Callable[[], View], frames: Frames, turn: Turn) -> None:
        self._view = view
        self._turn = turn
        self.frames = self._frames = frames
        self.pointer = self._frames.pointer
        self.marked: dict[str, set[tuple[Hop, ...]]] = {}
        """The frames of other origins in which something was acted on, by who watches what comes of it."""

    @property
    def _page(self) -> View:
        """What the session shows now: a step can lead from an app's screen into a web view and back."""
        return self._view()

    @property
    def at_top(self) -> bool:
        """Whether the top document is current, and not a frame of another origin."""
        return not self._frames.hops

    @property
    def inside(self) -> bool:
        """Whether the session has switched to a frame."""
        return bool(self._turn.record.frame)

    def read(self, given: str | None) -> Selector:
        """The selector as it counts where the session is; the whole document where none is given."""
        selector = WHOLE if given is None else parse(given)
        return selector.inside(tuple(Locator("current", ref) for ref in self._turn.record.frame))

    def locator(self, selector: Selector) -> dict[str, Any]:
        """The selector as the page's engine reads it: in a strict session it must find one element only."""
        return {**selector.data(), "strict": True} if self._turn.record.strict else selector.data()

    @contextmanager
    def element(self, given: str, need: str, seconds: float, **params: Any) -> Iterator[Hit]:
        """Wait until the element that `given` selects is as `need` says; inside the block its frame is current.

        Raises:
            ElementNotFound, NotActionable, StaleRef, InvalidArgument: It did not come to that in time.
        """
        try:
            facts = self._await(given, "ready", seconds, need=need, **params)
            self._mark()
            yield Hit(given, facts)
        finally:
            self._frames.back()

    @contextmanager
    def located(self, given: str | None, method: str, seconds: float, **params: Any) -> Iterator[dict[str, Any]]:
        """Ask a method of the engine once its element is there; inside the block its frame is current."""
        try:
            yield self._as_page(self._await(given, method, seconds, **params))
        finally:
            self._frames.back()

    def locate(self, given: str | None, method: str, seconds: float, **params: Any) -> dict[str, Any]:
        """Ask a method of the engine, once its element is there."""
        with self.located(given, method, seconds, **params) as answer:
            return answer

    def poll(
        self, method: str, deadline: Deadline, locator: Mapping[str, Any] | None = None, **params: Any
    ) -> dict[str, Any]:
        """Ask the page in slices until the answer is ok or the time is up; the last answer is returned."""
        try:
            return self._as_page(self._poll(method, deadline, locator, **params))
        finally:
            self._frames.back()

    @contextmanager
    def frame(self, path: Sequence[int | str]) -> Iterator[None]:
        """Make a frame below the current one current for a block, by the way that leads to it."""
        with self._frames.below(Hop(tuple(path), "")):
            yield

    @contextmanager
    def home(self) -> Iterator[tuple[Locator, ...]]:
        """Make the frame that the session has switched to current for a block.

        Yields the locators that lead there from the document whose engine answers there.
        """
        rest: tuple[Locator, ...] = ()
        way: Hop | None = None
        try:
            for ref in self._turn.record.frame:
                found = self._page.call("frameWay", locator=Locator("current", ref).data())
                if found.get("reason") == "frame_gone":
                    raise self._left()
                way, rest = Hop.of(found), (*rest, Locator("current", ref))
                if found["closed"]:
                    self._frames.switch((*self._frames.hops, way))
                    way, rest = None, ()
            if way:
                self._frames.switch((*self._frames.hops, way))
            yield rest
        finally:
            self._frames.back()

    def _await(self, given: str | None, method: str, seconds: float, **params: Any) -> dict[str, Any]:
        selector, deadline = self.read(given), Deadline(seconds)
        locator = None if selector == WHOLE else self.locator(selector)
        answer = self._poll(method, deadline, locator, **params)
        if not answer.get("ok", True):
            raise unmet(selector, answer, self._turn.record, deadline)
        return answer

    def _poll(
        self, method: str, deadline: Deadline, locator: Mapping[str, Any] | None, **params: Any
    ) -> dict[str, Any]:
        """Ask in slices; the frame in which the answer was found is current afterwards."""
        answer: dict[str, Any] = {"ok": False, "reason": "not_found", "detail": "the page is navigating"}
        asked = {**params, "locator": locator} if locator else params
        longest = _FIRST_SLICE
        while True:
            self._turn.check()
            # In the tab that takes the place of one that is gone it is looked for, too.
            with suppress(Interrupted, PlaceGone):
                self._frames.switch(())
                answer = self._search(method, {**asked, "slice": deadline.slice_ms(longest)})
            if answer.get("reason") == "frame_gone":
                raise self._left()
            if answer.get("ok", True) or answer.get("reason") in _FINAL or not deadline.left:
                return answer
            longest = _SLICE_WITH_FRAMES if answer.get("frames") else SLICE
            # Where the engine did not wait itself: it has nothing to wait with while a page is being replaced.
            time.sleep(min(_PAUSE, deadline.left))

    def _search(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask here; then, where the element may be in a frame of another origin, ask there."""
        answer = self._page.call(method, **params)
        if "crossOrigin" in answer:
            return self._go_on(method, params, answer["crossOrigin"])
        if (
            "ok" not in answer
            or not answer.get("frames")
            or answer.get("reason") in {"ambiguous", "invalid", "frame_gone"}
        ):
            return answer
        here, nearest = self._frames.hops, answer
        frames = [(Hop.of(frame), bool(frame["entered"])) for frame in answer["frames"]]
        for place, (hop, entered) in enumerate(frames, 1):
            self._frames.switch((*here, hop))
            found = _with_page(answer, self._search(method, _inside(params, entered=entered)))
            if found.get("matches", 1) or (found.get("ok") and _of_text(params)):
                if found.get("ok", True):
                    more = [((*here, other), entered) for other, entered in frames[place:]]
                    return self._alone(found, more, params) if _is_strict(params) else found
                nearest = found if nearest is answer else nearest
        return {**nearest, "frames": answer["frames"]}

    def _go_on(self, method: str, params: Mapping[str, Any], way: Mapping[str, Any]) -> dict[str, Any]:
        """Ask in the frame of another origin that the locator names; the page around it tells what only it can."""
        asked = {} if params.get("not") else params.get("conditions", {})
        of_page = {name: value for name, value in asked.items() if name in _OF_PAGE}
        around = self._page.call(method, conditions=of_page, slice=0) if of_page else {}
        *frames, last = way["rest"]
        self._frames.switch((*self._frames.hops, Hop.of(way)))
        inner = _inside(params) if of_page else params
        return _with_page(around, self._search(method, {**inner, "locator": {**last, "frames": frames}}))

    def _left(self) -> StaleRef:
        """The frame that the session had switched to is gone: it is at the top again."""
        ref = self._turn.record.frame[-1]
        self._turn.change(frame=())
        return StaleRef(
            f"The frame {ref} that switch_frame went to is gone; the session is at the top of the page again.",
            hint="Look with get_visible_elements, then call switch_frame again or go on at the top.",
        )

    def _alone(
        self, found: dict[str, Any], more: list[tuple[tuple[Hop, ...], bool]], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What a strict locator found in a frame, unless frames beside it have more of it."""
        here, total = self._frames.hops, int(found.get("matches", 1))
        for hops, entered in more:
            self._frames.switch(hops)
            asked = {"locator": {**params["locator"], "strict": False}, "conditions": {"count": 0}, "slice": 0}
            total += int(self._search("wait", _inside(asked, entered=entered)).get("matches", 0))
        self._frames.switch(here)
        if total == int(found.get("matches", 1)):
            return found
        lines = {"candidates": [found["line"]]} if "line" in found else {}
        return {"ok": False, "reason": "ambiguous", "matches": total, "detail": f"{total} elements match", **lines}

    def _mark(self) -> None:
        """Before something is done in a frame of another origin: have it remembered as it is, by all who watch."""
        here = self._frames.hops
        for name, marked in self.marked.items() if here else ():
            if here not in marked:
                self._page.call("mark", name=name)
                marked.add(here)

    def _as_page(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer with the page's address and title, wherever it was found."""
        if self.at_top or "url" not in answer:
            return answer
        here = self._frames.hops
        place: Mapping[str, Any] = {"url": self._turn.record.url or "", "title": self._turn.record.title or ""}
        with suppress(Interrupted):
            self._frames.switch(())
            place = self._page.call("state")
        self._frames.back(here)
        return {**answer, "url": place["url"], "title": place["title"]}


def _of_text(params: Mapping[str, Any]) -> bool:
    return "pageText" in params.get("conditions", {})


def _inside(params: Mapping[str, Any], *, entered: bool = False) -> dict[str, Any]:
    """What is asked in a frame: without waiting there, and without what only the page itself can tell."""
    inner = {**params, "slice": 0}
    if entered and "locator" in params:
        inner["locator"] = {**params["locator"], "frames": []}
    if "conditions" in params and not params.get("not"):
        inner["conditions"] = {name: value for name, value in params["conditions"].items() if name not in _OF_PAGE}
    return inner


def _is_strict(params: Mapping[str, Any]) -> bool:
    return bool(params.get("locator", {}).get("strict"))


def _with_page(around: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What a frame answered, together with what does not hold of the page around it."""
    unmet = [one for one in around.get("failed") or () if one["condition"] in _OF_PAGE]
    return {**found, "ok": False, "failed": [*unmet, *(found.get("failed") or ())]} if unmet else found
