"""Times between sessions: how long after a step of one the page of another showed something."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from orchestrator.actions.waits import Expect
from orchestrator.automation.page_clock import PageClock, Span
from orchestrator.automation.scene import Scene
from orchestrator.errors import ExpectationFailed, InvalidArgument, OrchestratorError, Unsupported
from orchestrator.models.results import ConditionMet
from orchestrator.models.session import Wire
from orchestrator.snapshot.methods import WATCH
from orchestrator.snapshot.watch_answers import WatchAnswer
from orchestrator.snapshot.web.page import Interrupted
from orchestrator.system.deadline import Deadline

_ELSEWHERE = "It is so, but where nothing is watched: in a frame of another site, or since just now."

StepKey = tuple[str, int]
"""A step: the session of its list, empty where one list is for several sessions, and its index."""
MeasuredFrom = Literal["event", "document", "start"]
"""The moment of a step: its last click or key in the page, the navigation it began, or our command."""


class Within(Wire):
    """The most that may pass between the moment of another step and what is expected."""

    ms: int = Field(ge=1, le=3_600_000)
    of: str = Field(min_length=1, max_length=300)


class Latency(Wire):
    """The time from the moment of a step, `of`, until the page showed what step `index` expects.

    The true time lies within `uncertainty_ms` of `latency_ms`.
    """

    index: int
    of: str
    latency_ms: float
    uncertainty_ms: float
    measured_from: MeasuredFrom

    def line(self) -> str:
        """The latency as a sentence."""
        return f"Step {self.index} was so {self.latency_ms:.0f} ms after {self.of!r} (±{self.uncertainty_ms:.0f})."


class TimedConditionMet(ConditionMet):
    """A condition that was met in time after another step."""

    latency: Latency


@dataclass(frozen=True)
class Moment:
    """The time at which a step took place in its page."""

    span: Span
    measured_from: MeasuredFrom


@dataclass(frozen=True)
class WatchedStep:
    """An expectation that is timed; `key` is its name in the page, `of` the step that it is timed from."""

    key: str
    index: int
    of: StepKey
    within: Within
    expect: Expect

    def asked(self, scene: Scene) -> dict[str, Any]:
        """The condition that the page watches for."""
        return {"key": self.key, **self.expect.asked(scene)}


class Moments:
    """The moments of the steps of one call, which its sessions tell each other.

    Args:
        watchers: The sessions that watch for what each step causes.
    """

    def __init__(self, watchers: Mapping[StepKey, frozenset[str]]) -> None:
        self._changed = threading.Condition()
        self._watchers = watchers
        self._watching: set[str] = set()
        self._ended: set[str] = set()
        self._moments: dict[StepKey, Moment | None] = {}

    def note_watching(self, session: str) -> None:
        """Note that the page of a session is watched."""
        with self._changed:
            self._watching.add(session)
            self._changed.notify_all()

    def mark_ended(self, session: str) -> None:
        """Note that a session's list has ended."""
        with self._changed:
            self._ended.add(session)
            self._changed.notify_all()

    def record(self, step: StepKey, moment: Moment | None) -> None:
        """Tell the moment of a step; None if it failed."""
        with self._changed:
            self._moments[step] = moment
            self._changed.notify_all()

    def wait_for_watchers(self, step: StepKey, scene: Scene, deadline: Deadline) -> None:
        """Wait until all who time something from a step are watching their pages."""
        with self._changed:
            while self._watchers.get(step, frozenset()) - self._watching - self._ended and deadline.seconds_left:
                scene.wait_for_change(self._changed, deadline)

    def wait_for(self, step: StepKey, scene: Scene, deadline: Deadline) -> Moment | None:
        """Wait for the moment of a step; None if it did not take place."""
        with self._changed:
            while step not in self._moments and step[0] not in self._ended and deadline.seconds_left:
                scene.wait_for_change(self._changed, deadline)
            return self._moments.get(step)


class StepTiming:
    """The timed steps of one list, or of a part of it, in its session.

    Args:
        session: The session, as in the keys of its steps.
        moments: The moments of all steps of the call.
        watched: The expectations that are timed, by their indexes.
        marked: The indexes of the steps that something is timed from.

    Attributes:
        latencies: What was measured, also where it was too long.
    """

    def __init__(
        self, session: str, moments: Moments, watched: Mapping[int, WatchedStep], marked: frozenset[int]
    ) -> None:
        self.latencies: list[Latency] = []
        self._session = session
        self._moments = moments
        self._watched = watched
        self._marked = marked

    def begin(self, scene: Scene) -> None:
        """Watch the page from now on for all that is expected later."""
        begin_watching(scene, [*self._watched.values()])
        self._moments.note_watching(self._session)

    def after_step(self, index: int, scene: Scene) -> None:
        """Watch a new document as well, once a step may have led there."""
        if later := [one for one in self._watched.values() if one.index > index]:
            scene.run_deferred_queries()
            begin_watching(scene, later)

    @contextmanager
    def noting(self, index: int, scene: Scene, deadline: Deadline) -> Iterator[None]:
        """Note the moment of the step in the block if something is timed from it."""
        if index not in self._marked:
            yield
            return
        self._moments.wait_for_watchers((self._session, index), scene, deadline)
        moment = None
        try:
            scene.run_deferred_queries()
            before, started = _read_clock(scene), time.monotonic()
            yield
            scene.run_deferred_queries()
            moment = _find_moment(before, started, _read_clock(scene))
        finally:
            self._moments.record((self._session, index), moment)

    def is_timed(self, index: int) -> bool:
        """True for an expectation that is timed."""
        return index in self._watched

    def expect(self, index: int, scene: Scene, deadline: Deadline) -> TimedConditionMet:
        """Wait until the page has shown what is expected, and measure how long after the other step that was.

        Raises:
            ExpectationFailed: It was too late, or not at all, or already so before; or the other step failed.
            Unsupported: The session shows an app's own screen, in which nothing watches.
        """
        watched = self._watched[index]
        if scene.native:
            raise Unsupported(
                "An app's own screen has nothing that watches it.", hint="Omit within, or switch to a web view."
            )
        moment = self._moments.wait_for(watched.of, scene, deadline)
        if moment is None:
            raise ExpectationFailed(
                f"{watched.within.of!r} did not take place: nothing can be timed from it.",
                hint="Look at the result of that step.",
            )
        began = Deadline(max(scene.seconds(watched.expect.timeout), _least(watched, deadline)))
        answer, rise = _await_rise(scene, watched, moment, began)
        latency = _latency(watched, moment, rise)
        self.latencies.append(latency)
        if latency.latency_ms > watched.within.ms:
            raise ExpectationFailed(
                f"It was so {latency.latency_ms:.0f} ms (±{latency.uncertainty_ms:.0f}) after {latency.of!r}, "
                f"not within {watched.within.ms} ms.",
                hint="The times are those of the pages: the application took so long.",
                expected={"within": watched.within.ms},
                actual={"latencyMs": latency.latency_ms},
            )
        return TimedConditionMet(url=answer["url"], title=answer["title"], waited_ms=began.elapsed_ms, latency=latency)

    def end(self, scene: Scene) -> None:
        """Watch no longer."""
        if self._watched and not scene.native:
            with suppress(OrchestratorError, Interrupted):
                scene.page.call(WATCH, watches=[], drop=[one.key for one in self._watched.values()], slice=0, known=0)


UNTIMED = StepTiming("", Moments({}), {}, frozenset())
"""The timing of a list in which nothing is timed."""


def begin_watching(scene: Scene, steps: Sequence[WatchedStep]) -> None:
    """Watch the page of a session for what steps expect; what is watched already goes on.

    A page that does not answer now, because of a dialog for example, is watched later.
    """
    asked = []
    for step in steps if not scene.native else ():
        with suppress(InvalidArgument):  # the step itself tells it
            asked.append(step.asked(scene))
    if asked:
        with suppress(OrchestratorError, Interrupted):
            scene.page.call(WATCH, watches=asked, drop=[], slice=0, known=0)


def _read_clock(scene: Scene) -> PageClock | None:
    """Read the clock of the page; None for an app's own screen, and where a dialog or navigation is in the way."""
    if scene.native:
        return None
    with suppress(OrchestratorError, Interrupted):
        return PageClock.read(scene)
    return None


def _find_moment(before: PageClock | None, started: float, after: PageClock | None) -> Moment:
    """Find when a step took place in its page: between two readings of its clock, or at its start on ours."""
    if after is None:
        return Moment(Span(started, started), "start")
    acted, is_same = after.reading["acted"], before is not None and before.is_of(after.reading)
    if is_same and before is not None:
        after = before.narrowed(after)
        acted = acted if acted is not None and acted > before.reading["now"] else None
    if acted is not None:
        return Moment(after.place(acted, acted), "event")
    navigated = after.place(0, 0)
    if not is_same and navigated.high >= started:
        return Moment(navigated, "document")
    return Moment(Span(started, started), "start")


def _least(watched: WatchedStep, deadline: Deadline) -> float:
    """Seconds to wait at least: what is too late by a little is measured, too."""
    return min(watched.within.ms / 1000, deadline.seconds_left) if watched.expect.timeout is None else 0


def _await_rise(scene: Scene, watched: WatchedStep, moment: Moment, limit: Deadline) -> tuple[WatchAnswer, Span]:
    """Wait until the conditions began to hold after a moment."""
    clock, known = PageClock.read(scene), 0
    while True:
        scene.check()
        asked = [watched.asked(scene)]
        answer = scene.query_page(WATCH, watches=asked, drop=[], slice=limit.slice_ms(), known=known)
        clock = clock.narrowed(PageClock.read(scene))
        [state] = answer["states"]
        known = state["count"]
        if clock.is_of(answer):
            for rise in state["rises"]:
                span = clock.place(*rise)
                if span.high >= moment.span.low:
                    scene.record_url_and_title(answer)
                    return answer, span
        else:
            known = 0
        if not limit.seconds_left:
            raise _unmet(scene, watched, holds=state["holds"])


def _unmet(scene: Scene, watched: WatchedStep, *, holds: bool) -> OrchestratorError:
    """Return why nothing was measured."""
    of = watched.within.of
    if holds:
        return ExpectationFailed(
            f"It was already so before {of!r}: there is no time to measure.",
            hint="Expect what only that step brings about, such as its own text or a higher count.",
        )
    try:
        watched.expect.model_copy(update={"timeout": 1}).perform(scene)
    except OrchestratorError as error:
        return error
    return ExpectationFailed(f"{_ELSEWHERE} No time was measured from {of!r}.", hint="Raise timeout, or omit within.")


def _latency(watched: WatchedStep, moment: Moment, rise: Span) -> Latency:
    low, high = max(0.0, rise.low - moment.span.high), max(0.0, rise.high - moment.span.low)
    return Latency(
        index=watched.index,
        of=watched.within.of,
        latency_ms=round((low + high) * 500, 1),
        uncertainty_ms=round((high - low) * 500, 1),
        measured_from=moment.measured_from,
    )
