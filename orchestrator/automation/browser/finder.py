"""Finds the element of a selector, in frames too, and waits until it can be acted on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, cast

from orchestrator.automation.browser.element_errors import element_error
from orchestrator.automation.browser.frames import FramePath, Frames, FrameStep
from orchestrator.automation.browser.locator import Locator
from orchestrator.automation.browser.record_access import RecordAccess
from orchestrator.automation.browser.selector import WHOLE, Selector, parse_selector
from orchestrator.automation.browser.sites import is_same_site
from orchestrator.errors import PlaceGone, StaleRef
from orchestrator.snapshot.answers import CrossOriginStep, PageAddress, ReadyAnswer, RefusedAnswer
from orchestrator.snapshot.methods import (
    FRAME_WAY,
    READY,
    STATE,
    WAIT,
    FoundT,
    LocatingMethod,
    is_cross_origin,
    is_refused,
)
from orchestrator.snapshot.view import View
from orchestrator.snapshot.web.page import INTERRUPTS, Interrupted, NavigationPending
from orchestrator.system.deadline import SLICE, Deadline

_FIRST_SLICE = 0.05
"""Seconds of the first slice: short, since the element may be in a frame of another origin."""
_SLICE_WITH_FRAMES = 0.2
"""Seconds of a slice while frames of other origins are searched in turn."""
_PAUSE = 0.02
"""Seconds between two polls."""

_FINAL = frozenset(
    {"ambiguous", "bad_value", "changed", "drawn", "invalid", "is_file", "no_field", "other_site", "stale"}
)
"""Reasons that waiting does not change."""
_TYPED_INTO = frozenset({"fill", "focus", "files"})
"""Needs of what puts the caller's words or files into an element: never into another site's frame by itself."""
_PAGE_CONDITIONS = frozenset({"url", "title"})
"""Conditions that hold of the page as a whole, and not of a frame in it."""


def count_matches(found: Mapping[str, Any]) -> int | None:
    """The number of elements that an answer of the page or screen is about, if more than one."""
    matches = int(found.get("matches") or 1)
    return matches if matches > 1 else None


@dataclass(frozen=True)
class FoundElement:
    """An element that can be acted on.

    Its point is in CSS pixels of the current viewport; on an app's screen, in the driver's coordinates.
    """

    given: str
    facts: ReadyAnswer

    @property
    def matches(self) -> int | None:
        """The number of elements that the selector found, if more than one."""
        return count_matches(self.facts)

    @property
    def point(self) -> tuple[int, int]:
        """The clickable point."""
        return self.facts["x"], self.facts["y"]

    @property
    def kind(self) -> str:
        """The kind of control, such as text, password, select or checkbox."""
        return self.facts["kind"]


class FrameObserver(Protocol):
    """Observes the frames of other origins in which something is done."""

    def enter_frame(self, path: FramePath, page: View) -> None:
        """Note that something is about to be done in the current frame, which `path` leads to."""
        ...


class Finder:
    """Finds elements in the current view; in a page, in the top document and in frames of other origins.

    Same-origin frames and open shadow roots are searched by the engine itself, in one call. While the session has
    switched to a frame, selectors other than refs, and calls without a selector, are about that frame. An app's screen
    has no frames.

    Attributes:
        frames: Switches between frames.
        report: Tells the caller of an element that was found in another site's frame, which no selector named.
        frame_observers: Called before something is done in a frame of another origin; by name.
    """

    def __init__(
        self, view: Callable[[], View], frames: Frames, turn: RecordAccess, report: Callable[[str], None]
    ) -> None:
        self._view = view
        self._report = report
        self._turn = turn
        self.frames = frames
        self.frame_observers: dict[str, FrameObserver] = {}

    @property
    def _page(self) -> View:
        """The current view: a step can lead from an app's screen into a web view and back."""
        return self._view()

    @property
    def at_top(self) -> bool:
        """True while the top document is current, and not a frame of another origin."""
        return not self.frames.current_path

    @property
    def is_inside_frame(self) -> bool:
        """True while the session has switched to a frame."""
        return bool(self._turn.record.frame)

    def parse_selector(self, given: str | None) -> Selector:
        """Parse a selector, inside the frame that the session has switched to; None is the whole document."""
        selector = WHOLE if given is None else parse_selector(given)
        return selector.inside(tuple(Locator("current", ref) for ref in self._turn.record.frame))

    def build_locator(self, selector: Selector) -> dict[str, Any]:
        """Make the engine's locator of a selector; in a strict session it must find one element only."""
        return {**selector.data(), "strict": True} if self._turn.record.strict else selector.data()

    @contextmanager
    def element(self, given: str, need: str, seconds: float, **params: Any) -> Iterator[FoundElement]:
        """Wait until the element that `given` selects fulfils `need`; inside the block its frame is current.

        Raises:
            ElementNotFound, NotActionable, StaleRef, InvalidArgument: It did not in time.
        """
        try:
            facts = self._await(given, READY, seconds, need=need, **params)
            self._announce_frame()
            yield FoundElement(given, facts)
        finally:
            self.frames.switch_back()

    @contextmanager
    def querying_element(
        self, given: str | None, method: LocatingMethod[FoundT], seconds: float, **params: Any
    ) -> Iterator[FoundT]:
        """Call a method of the engine once its element is there; inside the block its frame is current."""
        try:
            yield self._as_page(self._await(given, method, seconds, **params))
        finally:
            self.frames.switch_back()

    def query_element(self, given: str | None, method: LocatingMethod[FoundT], seconds: float, **params: Any) -> FoundT:
        """Call a method of the engine once its element is there."""
        with self.querying_element(given, method, seconds, **params) as answer:
            return answer

    def poll(
        self,
        method: LocatingMethod[FoundT],
        deadline: Deadline,
        locator: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> FoundT | RefusedAnswer:
        """Call a method of the engine in slices until its answer is ok or the time is up; return the last answer."""
        try:
            answer = self._poll(method, deadline, locator, **params)
            return self._as_page(answer)
        finally:
            self.frames.switch_back()

    @contextmanager
    def in_frame(self, path: Sequence[int | str]) -> Iterator[None]:
        """Make a frame below the current one current for a block."""
        with self.frames.in_frame(FrameStep(tuple(path), "")):
            yield

    @contextmanager
    def in_session_frame(self) -> Iterator[tuple[Locator, ...]]:
        """Make the frame that the session has switched to current for a block.

        Yields the locators that lead there from the document whose engine answers there.
        """
        rest: tuple[Locator, ...] = ()
        step: FrameStep | None = None
        try:
            for ref in self._turn.record.frame:
                found = self._page.call(FRAME_WAY, locator=Locator("current", ref).data())
                if is_refused(found) or is_cross_origin(found):
                    raise self._leave_gone_frame()
                step, rest = FrameStep.from_facts(found), (*rest, Locator("current", ref))
                if found["closed"]:
                    self.frames.switch((*self.frames.current_path, step))
                    step, rest = None, ()
            if step:
                self.frames.switch((*self.frames.current_path, step))
            yield rest
        finally:
            self.frames.switch_back()

    def _await(self, given: str | None, method: LocatingMethod[FoundT], seconds: float, **params: Any) -> FoundT:
        selector, deadline = self.parse_selector(given), Deadline(seconds)
        locator = None if selector == WHOLE else self.build_locator(selector)
        answer = self._poll(method, deadline, locator, **params)
        if is_refused(answer):
            raise element_error(selector, answer, self._turn.record, deadline)
        return answer

    def _poll(
        self, method: LocatingMethod[FoundT], deadline: Deadline, locator: Mapping[str, Any] | None, **params: Any
    ) -> FoundT | RefusedAnswer:
        """Call in slices; the frame in which the answer was found is current afterwards."""
        answer: dict[str, Any] = {"ok": False, "reason": "not_found", "detail": INTERRUPTS, "matches": 0}
        asked = {**params, "locator": locator} if locator else params
        longest = _FIRST_SLICE
        while True:
            self._turn.check()
            # The tab that replaces a closed one is searched, too.
            with suppress(Interrupted, PlaceGone):
                self.frames.switch(())
                try:
                    answer = self._search(method, {**asked, "slice": deadline.slice_ms(longest)})
                except NavigationPending as waits:
                    answer = {"ok": False, "reason": "leaving", "detail": waits.reason, "matches": 0}
            if answer.get("reason") == "frame_gone":
                raise self._leave_gone_frame()
            if answer.get("ok", True) or _is_final(answer, asked) or not deadline.seconds_left:
                return cast("FoundT | RefusedAnswer", answer)
            if "settled" in answer:
                asked = {**asked, "again": True}
            longest = _SLICE_WITH_FRAMES if answer.get("frames") else SLICE
            # The engine cannot wait while its page is being replaced.
            time.sleep(min(_PAUSE, deadline.seconds_left))

    def _search(self, method: LocatingMethod[Any], params: Mapping[str, Any]) -> dict[str, Any]:
        """Call the engine here; then, where the element may be in a frame of another origin, in that frame."""
        answer = cast("dict[str, Any]", self._page.call(method, **params))
        if "crossOrigin" in answer:
            return self._search_named_frame(method, params, answer["crossOrigin"])
        if (
            "ok" not in answer
            or not answer.get("frames")
            or answer.get("reason") in {"ambiguous", "changed", "invalid", "frame_gone"}
        ):
            return answer
        here, nearest = self.frames.current_path, answer
        frames = [(FrameStep.from_facts(frame), bool(frame["entered"])) for frame in answer["frames"]]
        for place, (step, entered) in enumerate(frames, 1):
            frame = answer["frames"][place - 1]
            self.frames.switch((*here, step))
            found = _with_page(answer, self._search(method, _params_inside_frame(params, entered=entered)))
            if found.get("matches", 1) or (found.get("ok") and _asks_for_text(params)):
                if found.get("ok", True) and (other := self._refuse_unnamed_frame(frame, found, params)):
                    nearest = other
                elif found.get("ok", True):
                    more = [((*here, other), entered) for other, entered in frames[place:]]
                    return self._check_unique(found, more, params) if _is_strict(params) else found
                else:
                    nearest = found if nearest is answer else nearest
        return {**nearest, "frames": answer["frames"]}

    def _refuse_unnamed_frame(
        self, frame: Mapping[str, Any], found: dict[str, Any], params: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return why an element in a frame that no selector named is not typed into; None if it may be acted on.

        A frame of another site can show any field. Acting otherwise is reported.
        """
        around, inner = frame.get("around", ""), found.get("origin", "")
        if "need" not in params or params["locator"]["by"] == "ref" or is_same_site(around, inner):
            return None
        if params["need"] not in _TYPED_INTO:
            self._report(f"The element is in a frame of another site, {inner}.")
            return None
        reason = "other_site" if frame.get("complete") else "other_site_so_far"
        detail = f"it is only in a frame of another site, {inner}"
        return {"ok": False, "reason": reason, "detail": detail, "matches": 1, "candidates": [found["line"]]}

    def _search_named_frame(
        self, method: LocatingMethod[Any], params: Mapping[str, Any], way: CrossOriginStep
    ) -> dict[str, Any]:
        """Call the engine in the frame of another origin that the locator names, and in the page for its conditions."""
        asked = {} if params.get("not") else params.get("conditions", {})
        of_page = {name: value for name, value in asked.items() if name in _PAGE_CONDITIONS}
        around: Mapping[str, Any] = self._page.call(method, conditions=of_page, slice=0) if of_page else {}
        *frames, last = way["rest"]
        self.frames.switch((*self.frames.current_path, FrameStep.from_facts(way)))
        inner = _params_inside_frame(params) if of_page else _without_acting(params)
        return _with_page(around, self._search(method, {**inner, "locator": {**last, "frames": frames}}))

    def _leave_gone_frame(self) -> StaleRef:
        """Go back to the top, since the frame that the session had switched to is gone; the error for it."""
        ref = self._turn.record.frame[-1]
        self._turn.change(frame=())
        return StaleRef(
            f"The frame {ref} that switch_frame went to is gone; the session is at the top of the page again.",
            hint="Look with get_visible_elements, then call switch_frame again or go on at the top.",
        )

    def _check_unique(
        self, found: dict[str, Any], more: list[tuple[FramePath, bool]], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what a strict locator found in a frame, or that other frames have further matches."""
        here, total = self.frames.current_path, int(found.get("matches", 1))
        for path, entered in more:
            self.frames.switch(path)
            asked = {"locator": {**params["locator"], "strict": False}, "conditions": {"count": 0}, "slice": 0}
            total += int(self._search(WAIT, _params_inside_frame(asked, entered=entered)).get("matches", 0))
        self.frames.switch(here)
        if total == int(found.get("matches", 1)):
            return found
        lines = {"candidates": [found["line"]]} if "line" in found else {}
        return {"ok": False, "reason": "ambiguous", "matches": total, "detail": f"{total} elements match", **lines}

    def _announce_frame(self) -> None:
        """Tell the observers that something is about to be done here, in a frame of another origin."""
        if not self.at_top:
            for observer in self.frame_observers.values():
                observer.enter_frame(self.frames.current_path, self._page)

    def _as_page(self, answer: FoundT) -> FoundT:
        """Replace a frame's URL and title in an answer by the page's."""
        if self.at_top or not isinstance(answer, dict) or "url" not in answer:
            return answer
        here = self.frames.current_path
        place: PageAddress = {"url": self._turn.record.url or "", "title": self._turn.record.title or ""}
        with suppress(Interrupted):
            self.frames.switch(())
            place = self._page.call(STATE)
        self.frames.switch_back(here)
        return cast("FoundT", {**answer, "url": place["url"], "title": place["title"]})


def _is_final(answer: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """True for a refusal that waiting does not change; `patient` is who asked to wait for longer than is usual."""
    return answer.get("reason") in _FINAL or bool(answer.get("settled") and not asked.get("patient"))


def _asks_for_text(params: Mapping[str, Any]) -> bool:
    return "pageText" in params.get("conditions", {})


def _params_inside_frame(params: Mapping[str, Any], *, entered: bool = False) -> dict[str, Any]:
    """Parameters for a frame: without waiting there, and without the page's own conditions."""
    inner = {**_without_acting(params), "slice": 0}
    if entered and "locator" in params:
        inner["locator"] = {**params["locator"], "frames": []}
    if "conditions" in params and not params.get("not"):
        inner["conditions"] = {
            name: value for name, value in params["conditions"].items() if name not in _PAGE_CONDITIONS
        }
    return inner


def _without_acting(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for a frame of another origin: nothing is done in it before observers know."""
    return {name: value for name, value in params.items() if name != "inserts"}


def _is_strict(params: Mapping[str, Any]) -> bool:
    return bool(params.get("locator", {}).get("strict"))


def _with_page(around: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Merge a frame's answer with the unmet conditions of the page around it."""
    unmet = [one for one in around.get("failed") or () if one["condition"] in _PAGE_CONDITIONS]
    return {**found, "ok": False, "failed": [*unmet, *(found.get("failed") or ())]} if unmet else found
