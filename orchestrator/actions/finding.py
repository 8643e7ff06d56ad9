"""Finds the element that a selector means, waits until it can be acted on, and goes into frames for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from orchestrator.errors import (
    DialogOpen,
    ElementNotFound,
    InvalidArgument,
    NotActionable,
    OrchestratorError,
    StaleRef,
    quoted,
)
from orchestrator.models import SessionRecord
from orchestrator.selector import Selector, parse
from orchestrator.snapshot.page import Interrupted, Page
from orchestrator.webdriver.remote import Remote

SLICE = 1.0
"""Seconds that one wait inside the page may take: a running classic command cannot be interrupted."""
_SLICE_WITH_FRAMES = 0.2
"""While frames of other origins are searched in turn."""

_PAUSE = 0.02


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


class Deadline:
    """A point in time until which something may take."""

    def __init__(self, seconds: float) -> None:
        self.started = time.monotonic()
        self._end = self.started + seconds

    @property
    def left(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since it was set."""
        return round((time.monotonic() - self.started) * 1000)

    def slice_ms(self, longest: float = SLICE) -> int:
        """The next slice of waiting, in milliseconds."""
        return round(min(self.left, longest) * 1000)


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
        self._path: list[int] = []

    @property
    def at_top(self) -> bool:
        """Whether the top document is current, and not a frame of another origin."""
        return not self._path

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
            return self._await(given, method, seconds, **params)
        finally:
            self._switch([])

    def poll(self, method: str, deadline: Deadline, selector: Selector | None = None, **params: Any) -> dict[str, Any]:
        """Ask the page in slices until the answer is ok or the time is up; the last answer is returned."""
        answer: dict[str, Any] = {"ok": False, "reason": "not_found", "detail": "the page is navigating"}
        locator = {"locator": selector.data()} if selector else {}
        longest = SLICE
        while True:
            self._turn.check()
            try:
                self._switch([])
                answer = self._search(method, {**locator, **params, "slice": deadline.slice_ms(longest)})
            except Interrupted:
                self._path = [-1]
            if answer.get("ok", True) or answer.get("reason") in {"invalid", "stale"} or not deadline.left:
                return answer
            if answer.get("frames"):
                longest = _SLICE_WITH_FRAMES
            # Where the engine did not wait itself: it has nothing to wait with while a page is being replaced.
            time.sleep(min(_PAUSE, deadline.left))

    @contextmanager
    def frame(self, path: list[int]) -> Iterator[None]:
        """Make a frame below the current one current, by its window indexes, for a block."""
        before = list(self._path)
        self._switch([*before, *path])
        try:
            yield
        finally:
            self._switch(before)

    def from_top(self) -> bool:
        """Make the top document current, wherever somebody else stopped; False while a dialog is in the way."""
        try:
            self._remote.execute("switchToFrame", id=None)
        except DialogOpen:
            return False
        return True

    def _await(self, given: str, method: str, seconds: float, **params: Any) -> dict[str, Any]:
        selector, deadline = parse(given), Deadline(seconds)
        answer = self.poll(method, deadline, selector, **params)
        if not answer.get("ok", True):
            raise unmet(selector, answer, self._turn.record, deadline)
        return answer

    def _search(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask here; then, where the element may be in a frame of another origin, ask there."""
        answer = self._page.call(method, **params)
        while "crossOrigin" in answer:
            *frames, last = answer["crossOrigin"]["rest"]
            self._switch([*self._path, *answer["crossOrigin"]["path"]])
            params = {**params, "locator": {**last, "frames": frames}}
            answer = self._page.call(method, **params)
        if answer.get("reason") not in {"not_found", "stale"}:
            return answer
        here = list(self._path)
        # No indexes lead to a frame inside a shadow tree.
        for frame in filter(lambda one: one["path"] is not None, answer.get("frames") or ()):
            self._switch([*here, *frame["path"]])
            found = self._search(method, {**params, "slice": 0})
            if found.get("ok", True):
                return found
        return answer

    def _switch(self, path: list[int]) -> None:
        if path == self._path:
            return
        self._remote.execute("switchToFrame", id=None)
        for index in path:
            self._remote.execute("switchToFrame", id=index)
        self._path = path


def unmet(
    selector: Selector, answer: Mapping[str, Any], record: SessionRecord, deadline: Deadline
) -> OrchestratorError:
    """The error for an element that did not come to what was needed."""
    given, reason, detail = selector.given, answer.get("reason"), str(answer.get("detail") or "")
    candidates = list(answer.get("candidates") or [])
    near: dict[str, Any] = {"candidates": candidates} if candidates else {}
    if reason == "invalid":
        return InvalidArgument(f"{quoted(given)} is not a valid selector: {detail}.", hint="Mend the selector.")
    if reason == "stale":
        never = selector.ref is not None and selector.ref >= record.ref_next
        what = "was never given in this session" if never else "no longer names an element of this page"
        return StaleRef(
            f"Ref {quoted(given)} {what}.", hint="Call get_visible_elements and use a ref from its outline."
        )
    if reason == "not_found":
        return ElementNotFound(
            f"No element matches {quoted(given)} (waited {deadline.elapsed_ms} ms).",
            hint="Call get_visible_elements to see what is there.",
            **near,
        )
    return NotActionable(
        f"{quoted(given)} cannot be acted on: {detail or reason}.", hint=_MENDS.get(str(reason), ""), **near
    )


_MENDS = {
    "covered": "Close or move what covers it, or scroll.",
    "disabled": "Do first what enables it, or wait_for it with state enabled.",
    "hidden": "Do first what shows it.",
    "moving": "Wait for the animation to end, or raise timeout.",
    "readonly": "It takes no input.",
    "not_editable": "set_value fills text fields and selects; use click_element for the rest.",
    "no_option": "Give the value or label of one of its options.",
    "ambiguous": "Use a selector that finds one element only.",
}
