"""Waits until the page has settled after an action, and reports what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, Literal, NamedTuple, Protocol, Self

from orchestrator.automation.browser.finder import Finder
from orchestrator.automation.browser.frames import FramePath
from orchestrator.automation.browser.opening import NavigationWatch
from orchestrator.errors import DialogOpen, NavigationWaits, PageBusy, PlaceGone, TimedOut
from orchestrator.models.results import InvalidField, StateChange, ValueChange
from orchestrator.snapshot.answers import PageAddress
from orchestrator.snapshot.change_answers import DeltaAnswer, MarkAnswer, SettleAnswer
from orchestrator.snapshot.methods import DELTA, MARK, SETTLE, AnswerT, PageMethod
from orchestrator.snapshot.view import View
from orchestrator.snapshot.web.page import INTERRUPTS, Interrupted, NavigationPending
from orchestrator.system.deadline import Deadline

_NO_BASELINE = "elsewhere"
"""A name under which no view has a baseline."""
_LINES = 40
"""Lines of a change at most."""
_INVALID = 10
"""Invalid fields at most, as in the answer for one document."""
_LATE = 0.7
"""Seconds within which a menu or tooltip opens after the pointer came or the focus moved."""
_REDRAWN = "Refs now stale: {}, of elements that were drawn anew and look as before."
_KEPT = "New document: old refs are stale; {} lines as before."

Opener = Literal["pointer", "focus", "field"]
"""By what an action may open something: a pointer that came, a focus that moved, a focus that moved to a field."""


class ObservedScene(Protocol):
    """The parts of a scene that an observer uses."""

    finder: Finder
    navigations: NavigationWatch

    @property
    def page(self) -> View:
        """The current view."""
        ...

    @property
    def awaits_document(self) -> bool:
        """True while the page answers although it is about to be left."""
        ...

    def query_page(self, method: PageMethod[AnswerT], **params: Any) -> AnswerT:
        """Query the page without waiting."""
        ...

    def defer_query(self, method: PageMethod[AnswerT], on_answer: Callable[[AnswerT], None], **params: Any) -> None:
        """Query the page together with the next query, or before the next other command."""
        ...

    def run_deferred_queries(self) -> None:
        """Send the deferred queries now."""
        ...

    def check(self) -> None:
        """Raise if this call has to stop."""
        ...

    def record_url_and_title(self, place: PageAddress) -> None:
        """Keep the page's URL and title."""
        ...


class ChangeObserver:
    """Observes the page from one moment on, and reports the changes since then.

    Frames of other origins are observed from the first action inside them on.

    Args:
        name: The name of its baseline in the page; a step that observes inside a sequence has its own.
        scene: The scene to observe.
    """

    def __init__(self, name: str, scene: ObservedScene) -> None:
        self.name = name
        self._view = scene.page
        self._page_before: MarkAnswer = {"url": "", "title": "", "lines": 0}
        self._marked = False
        self._frames: set[FramePath] = set()
        self._opening: LateOpening | None = None
        self._open_by = _LATE

    @classmethod
    def start(cls, scene: ObservedScene, name: str) -> Self:
        """Observe from now on; the baseline is taken with the next query, before anything is done to the page."""
        observer = cls(name, scene)
        scene.defer_query(MARK, observer._note_page, name=name, keep=True)
        scene.finder.frame_observers[name] = observer
        return observer

    def enter_frame(self, path: FramePath, page: View) -> None:
        """Take a baseline in the current frame of another origin, which is about to be acted in."""
        if path not in self._frames:
            page.call(MARK, name=self.name)
            self._frames.add(path)

    def acted_in(self, path: FramePath | None) -> bool:
        """True if something was done in this frame of another origin; for None, if in no such frame."""
        return path in self._frames if path is not None else not self._frames

    def report_changes(
        self, scene: ObservedScene, *, stability: float, limit: float, opening: LateOpening | None = None
    ) -> dict[str, Any]:
        """Wait until the page has settled, and report the changes as fields of `Settled`, with `url` and `title`.

        Args:
            scene: The observed scene.
            stability: Seconds without a change that count as settled.
            limit: Seconds to wait for them at most.
            opening: The menu or the like that the last action may open late.
        """
        deadline = Deadline(limit)
        # Half of the limit at most: a page in which nothing opens has settled.
        self._opening, self._open_by = opening, min(_LATE, limit / 2)
        try:
            if not self._marked:
                scene.run_deferred_queries()
            settled = self._settle(scene, deadline, stability)
            waited = deadline.elapsed_ms - (settled.get("deltaMs", 0) if settled["settled"] else 0)
            delta = self._with_gone_lines(_delta_of(settled) or scene.query_page(DELTA, **self._page_baseline(scene)))
            place: PageAddress = {"url": delta["now"]["url"], "title": delta["now"]["title"]}
            in_frames = self._settle_frames(scene, deadline, stability)
        except DialogOpen as dialog:
            return {"warnings": [str(dialog)], "unread": True}
        except NavigationWaits as waits:
            return {"unread": True, **_unstable(deadline, f"{waits.reason}; wait_for goes on waiting")}
        except PageBusy as busy:
            return {"warnings": [busy.message], **_unstable(deadline, "the page is busy")}
        scene.record_url_and_title(place)
        deltas = [delta, *(frame_delta for _, frame_delta in in_frames)]
        change = StateChange(
            url=_value_change(self._page_before["url"], place["url"]),
            title=_value_change(self._page_before["title"], place["title"]),
            **_merge_lines(deltas),
        )
        answers = [settled, *(answer for answer, _ in in_frames)]
        reasons = [answer["reason"] for answer in answers if not answer["settled"]]
        fields: dict[str, Any] = {**place, "stability_wait_ms": waited, "stable": not reasons}
        if reasons:
            fields["unstable_reason"] = reasons[0]
        if redrawn := sum(delta["redrawn"] for delta in deltas):
            fields["warnings"] = [_REDRAWN.format(redrawn)]
        elif kept := delta.get("kept"):
            fields["warnings"] = [_KEPT.format(kept)]
        return {**fields, "state_change": None if change.empty else change}

    def _note_page(self, page: MarkAnswer) -> None:
        self._page_before, self._marked = page, True

    def _settle(self, scene: ObservedScene, deadline: Deadline, stability: float) -> SettleAnswer:
        """Wait until the page has settled; the engine's answer with the changes, or the reason why it has not."""
        params = {"stability": round(stability * 1000), "since": deadline.started, **self._page_baseline(scene)}
        reason = INTERRUPTS
        while True:
            scene.check()
            try:
                late = self._late(scene, deadline, None)
                coming = {"coming": True} if scene.awaits_document else {}
                answer = scene.page.call(SETTLE, slice=deadline.slice_ms(), **params, **late, **coming)
                if answer["settled"]:
                    return answer
                reason = answer["reason"]
            except PageBusy:
                raise
            except NavigationPending:
                if pending := scene.navigations.wait(deadline):
                    raise pending.error() from None
            except (Interrupted, PlaceGone, TimedOut):
                reason = INTERRUPTS
                # Between two dialogs in a row Firefox answers for a page whose script has not ended.
                params["since"] = Deadline(0).started
            if not deadline.seconds_left:
                return {"settled": False, "quietFor": 0, "reason": reason}

    def _settle_frames(
        self, scene: ObservedScene, deadline: Deadline, stability: float
    ) -> list[tuple[SettleAnswer, DeltaAnswer]]:
        """Wait in each observed frame of another origin; return answers and changes of those that are still there."""
        params = {"stability": round(stability * 1000), **self._baseline(scene)}
        answers = []
        for path in self._frames:
            with suppress(Interrupted, PlaceGone):
                try:
                    answers.append(self._settle_frame(scene, path, deadline, params))
                finally:
                    scene.finder.frames.switch_back()
        return answers

    def _settle_frame(
        self, scene: ObservedScene, path: FramePath, deadline: Deadline, params: Mapping[str, Any]
    ) -> tuple[SettleAnswer, DeltaAnswer]:
        scene.finder.frames.switch(path)
        while True:
            scene.check()
            answer = scene.page.call(SETTLE, slice=deadline.slice_ms(), **params, **self._late(scene, deadline, path))
            if answer["settled"] or not deadline.seconds_left:
                return answer, _delta_of(answer) or scene.page.call(DELTA, **self._baseline(scene))

    def _late(self, scene: ObservedScene, deadline: Deadline, path: FramePath | None) -> dict[str, Any]:
        """The parameters by which the top document, or a frame, awaits what the last action may open there."""
        opening = self._opening
        if opening is None or scene.page is not self._view or not opening.observer.acted_in(path):
            return {}
        within = max(0, round(self._open_by * 1000) - deadline.elapsed_ms)
        return {"late": {"name": opening.observer.name, "by": opening.by, "within": within}}

    def _baseline(self, scene: ObservedScene) -> dict[str, Any]:
        # After a change between a web view and the app's own screen everything is new.
        return {"name": self.name if scene.page is self._view else _NO_BASELINE, "limit": _LINES}

    def _page_baseline(self, scene: ObservedScene) -> dict[str, Any]:
        """The baseline, with what a new document needs in order to tell how it differs from this one."""
        baseline, before = self._baseline(scene), self._page_before
        if scene.page is not self._view or "digest" not in before:
            return baseline
        return {**baseline, "before": {"url": before["url"], "digest": before["digest"]}}

    def _with_gone_lines(self, delta: DeltaAnswer) -> DeltaAnswer:
        """Put the lines of the document before in place of their numbers, as far as they were kept."""
        saved, gone = self._page_before.get("saved", []), delta.get("gone", [])
        lines = [saved[place] for place in gone if place < len(saved)]
        more = (delta["more"] or 0) + len(gone) - len(lines)
        return {**delta, "disappeared": [*delta["disappeared"], *lines], "more": more or None}


class LateOpening(NamedTuple):
    """A menu or the like that an action may open late; `observer` has observed since before the action."""

    observer: ChangeObserver
    by: Opener


def _unstable(deadline: Deadline, reason: str) -> dict[str, Any]:
    return {"stable": False, "stability_wait_ms": deadline.elapsed_ms, "unstable_reason": reason}


def _delta_of(answer: SettleAnswer) -> DeltaAnswer | None:
    return answer.get("delta") if answer["settled"] else None


def _merge_lines(deltas: list[DeltaAnswer]) -> dict[str, Any]:
    """The changed lines of several documents, limited as those of one are."""
    lines: dict[str, list[str]] = {}
    invalid = [InvalidField(**field) for delta in deltas for field in delta["invalid"]]
    more, room = sum(delta["more"] or 0 for delta in deltas) + len(invalid[_INVALID:]), _LINES
    listings = {
        "appeared": [delta["appeared"] for delta in deltas],
        "changed": [delta["changed"] for delta in deltas],
        "disappeared": [delta["disappeared"] for delta in deltas],
    }
    for name, listing in listings.items():
        every = list(chain.from_iterable(listing))
        lines[name] = every[:room]
        more += len(every[room:])
        room -= len(lines[name])
    passed = [line for delta in deltas for line in delta.get("cameAndWent", ())]
    return {**lines, "invalid": invalid[:_INVALID] or None, "came_and_went": passed or None, "more": more or None}


def _value_change(before: str, after: str) -> ValueChange | None:
    return None if before == after else ValueChange(from_=before, to=after)
