"""The current screen of an app session, with the methods that the page engine has."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from orchestrator.errors import AppEnded, RemoteFailure
from orchestrator.snapshot.answers import (
    HeldAnswer,
    ReadyAnswer,
    RefusedAnswer,
    ScrolledAnswer,
    ScrollInfoAnswer,
    ShotAnswer,
    SourceAnswer,
    StateAnswer,
    TextAnswer,
    UnmetCondition,
    ViewAnswer,
    WaitAnswer,
)
from orchestrator.snapshot.change_answers import DeltaAnswer, MarkAnswer, SettleAnswer
from orchestrator.snapshot.methods import AnswerT, PageMethod
from orchestrator.snapshot.native.actionability import (
    FINAL,
    ActionabilityCheck,
    find_actionable,
    holds_value,
    shown_value,
)
from orchestrator.snapshot.native.changes import ScreenBaseline, StabilityTracker
from orchestrator.snapshot.native.conditions import assess
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.node import Node
from orchestrator.snapshot.native.queries import (
    boxes,
    interactive_boxes,
    locate_all,
    masked,
    snapshot,
    text_of,
)
from orchestrator.snapshot.native.refs import NativeRefRange
from orchestrator.snapshot.native.remote_elements import RemoteElements
from orchestrator.snapshot.native.remote_locators import RemoteLocator
from orchestrator.snapshot.native.screen_reader import LONGEST_PAUSE, SHORTEST_PAUSE, STILL_AFTER, ScreenReader
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot
from orchestrator.snapshot.native.scrolling import ScrollMovement, scroll_info, scroller_for
from orchestrator.webdriver.remote import Remote

_EMPTY_BASELINE = ScreenBaseline(None)

ResultT = TypeVar("ResultT")


class Screen:
    """The screen of one app session, read through Get Page Source.

    It is used by one thread at a time. Other processes know the refs from the session's record: `restore_refs` before a
    call and `pack_refs` after it.

    Args:
        remote: The session's remote end.
        platform: `ios` or `android`.
        refs: The source of numbers for new refs.
    """

    def __init__(self, remote: Remote, platform: str, refs: NativeRefRange) -> None:
        self._elements = RemoteElements(remote, platform)
        self._reader = ScreenReader(remote, platform, self._elements, refs)
        self._ready_element: tuple[int, str | bool | None] | None = None
        self._baselines: dict[str, ScreenBaseline] = {}
        self._stability = StabilityTracker()
        self._scroll: ScrollMovement | None = None
        self._readings: dict[str, Callable[..., Any]] = {
            "state": self._state, "snapshot": snapshot, "text": self._text, "source": self._source,
            "verify": self._verify, "mark": self._mark, "delta": self._delta, "boxes": boxes,
            "marked": interactive_boxes, "scrollInfo": self._scroll_info,
        }  # fmt: skip
        self._waits: dict[str, Callable[..., Any]] = {
            "ready": self._ready, "wait": self._wait, "settle": self._settle, "shot": self._shot,
            "scrolled": self._scrolled,
        }  # fmt: skip

    def call(self, method: PageMethod[AnswerT], **params: Any) -> AnswerT:
        """Call a method on the screen as it is now; a refusal is an answer with `ok: false` and a `reason`.

        Methods and their parameters; the answers are in `orchestrator.snapshot.answers`:
            state(), marked(), verify(value?), mark(name?), delta(limit?, name?), boxes(locators)
            snapshot(scope, locator?, query?, roles?, limit?, offset, json, ignore?)
            text(locator?, ignore?), source(locator?), shot(locator?, slice)
            ready(locator, need, slice, value?, force?, handle?): Needs are present, visible, enabled, point, fill,
                focus and options.
            wait(conditions, not, slice, locator?, since?)
            settle(stability, slice, since?, name?, limit?)
            scrollInfo(locator?, direction), scrolled(direction, slice)

        Raises:
            SourceFault: The page source cannot be read.
            ValueError: There is no such method.
        """
        # Each method returns the type that its `PageMethod` declares; the two meet by the name on the wire.
        return cast("AnswerT", self._call(method.name, params))

    def _call(self, name: str, params: dict[str, Any]) -> Any:
        if name in self._waits:
            return _answered(functools.partial(self._waits[name], **params))
        if name not in self._readings:
            raise ValueError(f"a screen has no method {name}")
        reading, slice_ms = self._readings[name], params.pop("slice", 0)

        def attempt(screen: ScreenSnapshot) -> Any:
            return _answered(functools.partial(reading, screen, **params))

        try:
            return self._reader.retry(slice_ms, attempt, lambda answer: answer.get("reason") != "not_found")
        except AppEnded:
            if name != "mark":
                raise
            # The call that starts the app again is watched as well: all that the app then shows is new.
            self._baselines[params.get("name", "")] = _EMPTY_BASELINE
            return MarkAnswer(url="", title="", lines=0)

    def restore_refs(self, packed: str) -> None:
        """Take the refs of the session's record, if another process has given some since the last call here."""
        self._reader.restore_refs(packed)

    def begin_call(self, caller: str) -> None:
        """Note whose call begins: what its answers tell of elements, this caller knows once the call is over."""
        self._reader.begin_call(caller)

    def pack_refs(self) -> str:
        """Return the refs as the session's record keeps them; empty before the first look."""
        return self._reader.pack_refs()

    def handle(self) -> dict[str, str]:
        """Return the remote end's reference to the element that `ready` found last, as `PageEngine.handle` does.

        Raises:
            RemoteFailure: It is gone.
        """
        screen = self._reader.last or self._reader.take_snapshot()  # `ready` has just fetched it
        for _ in range(3):
            locator, node = self._address(screen)
            reference = self._elements.find(locator, node)
            if reference is not None:
                return reference
            screen = self._reader.take_snapshot()
        raise RemoteFailure(
            "The element kept moving while it was looked up.", hint="Try again.", error="stale element reference"
        )

    def _address(self, screen: ScreenSnapshot) -> tuple[RemoteLocator, Node]:
        node = self._ready_node(screen)
        if node is None:
            raise RemoteFailure(
                "The element is no longer on the screen.", hint="Look with get_visible_elements.",
                error="stale element reference",
            )  # fmt: skip
        return screen.remote_locators.locator_for(node), node

    def _ready_node(self, screen: ScreenSnapshot) -> Node | None:
        return None if self._ready_element is None else screen.tree.by_key.get(self._ready_element[0])

    def _state(self, screen: ScreenSnapshot) -> StateAnswer:
        return {**screen.location, "readyState": "complete"}

    def _text(
        self,
        screen: ScreenSnapshot,
        locator: Mapping[str, Any] | None = None,
        ignore: Sequence[Mapping[str, Any]] | None = None,
    ) -> TextAnswer:
        found = screen.must_find(locator) if locator else []
        text = text_of(screen.tree, found[0] if found else None, set(locate_all(screen, ignore or ())))
        return {"text": text, "matches": max(1, len(found)), "more": False, "frames": [], **screen.location}

    def _source(self, screen: ScreenSnapshot, locator: Mapping[str, Any] | None = None) -> SourceAnswer:
        found = screen.must_find(locator) if locator else screen.tree.nodes[:1]
        source = masked(screen.tree, found[0])
        return {"source": source, "more": False, "matches": len(found), **screen.location}

    def _ready(
        self,
        locator: Mapping[str, Any],
        need: str = "visible",
        slice: int | None = 0,  # noqa: A002 (the parameter's name on the wire)
        value: object = "",
        *,
        force: bool | None = False,
        handle: bool = False,
        **_: Any,
    ) -> ReadyAnswer | RefusedAnswer:
        def attempt(screen: ScreenSnapshot) -> ReadyAnswer | RefusedAnswer:
            check = ActionabilityCheck(need, str(value), self._reader.is_still, force=bool(force))
            node, answer = find_actionable(screen, locator, check)
            if not answer["ok"]:
                return {**answer, "candidates": [] if answer["matches"] else screen.candidates(locator)}
            if node is not None:
                self._ready_element = node.key, check.wanted
            return {**answer, "handle": True} if handle else answer

        return self._reader.retry(slice, attempt, lambda answer: answer["ok"] or answer["reason"] in FINAL)

    def _verify(self, screen: ScreenSnapshot, value: str | None = None) -> HeldAnswer:
        node = self._ready_node(screen)
        if node is None or self._ready_element is None:
            return {"same": False, "gone": True, "value": "", "url": "", "title": screen.title}
        wanted = self._ready_element[1] if value is None else value
        same = wanted is not None and holds_value(node, wanted)
        return {"same": same, "value": shown_value(node), "checked": node.checked, "url": "", "title": screen.title}

    def _wait(
        self,
        conditions: Mapping[str, Any],
        slice: int | None = 0,  # noqa: A002 (the parameter's name on the wire)
        locator: Mapping[str, Any] | None = None,
        since: float | None = None,
        **more: Any,
    ) -> WaitAnswer:
        negate = bool(more.get("not"))
        rest = {name: value for name, value in conditions.items() if name != "quiet"}

        def attempt(screen: ScreenSnapshot) -> WaitAnswer:
            answer = assess(screen, rest, locator, negate=negate)
            return self._judge_quiet(screen, answer, conditions["quiet"], since) if "quiet" in conditions else answer

        return self._reader.retry(slice, attempt, lambda answer: answer["ok"])

    def _judge_quiet(self, screen: ScreenSnapshot, answer: WaitAnswer, quiet: int, since: float | None) -> WaitAnswer:
        """Add to an answer whether nothing has changed on the screen for so many ms."""
        self._stability.observe(screen, since)
        reason = self._stability.explain_instability(screen, quiet)
        if reason is None:
            return answer
        unmet: UnmetCondition = {"condition": "quiet", "expected": quiet, "actual": reason}
        return {**answer, "ok": False, "failed": [*answer["failed"], unmet]}

    def _mark(self, screen: ScreenSnapshot, name: str = "", **_: Any) -> MarkAnswer:
        baseline = self._baselines[name] = ScreenBaseline(screen)
        return MarkAnswer(url=screen.location["url"], title=screen.location["title"], lines=baseline.count)

    def _delta(self, screen: ScreenSnapshot, limit: int | None = None, name: str = "") -> DeltaAnswer:
        return self._baselines.get(name, _EMPTY_BASELINE).delta(screen, limit)

    def _settle(
        self,
        stability: int,
        slice: int | None = 0,  # noqa: A002 (the parameter's name on the wire)
        since: float | None = None,
        name: str = "",
        limit: int | None = None,
    ) -> SettleAnswer:
        end = time.monotonic() + (slice or 0) / 1000
        while True:
            screen = self._reader.take_snapshot()
            self._stability.observe(screen, since)
            reason = self._stability.explain_instability(screen, stability)
            if reason is None:
                return self._settled(screen, name, limit)
            now = time.monotonic()
            if now >= end:
                return {"settled": False, "reason": reason, "quietFor": self._stability.quiet_ms}
            left = (stability - self._stability.quiet_ms) / 1000
            time.sleep(max(0.0, min(left if left > 0 else SHORTEST_PAUSE, LONGEST_PAUSE, end - now)))

    def _settled(self, screen: ScreenSnapshot, name: str, limit: int | None) -> SettleAnswer:
        quiet_ms, began = self._stability.quiet_ms, time.monotonic()
        if not limit:
            return {"settled": True, "quietFor": quiet_ms}
        delta = self._delta(screen, limit, name)
        return {
            "settled": True, "quietFor": quiet_ms, "delta": delta,
            "deltaMs": round((time.monotonic() - began) * 1000),
        }  # fmt: skip

    def _scroll_info(
        self, screen: ScreenSnapshot, direction: str, locator: Mapping[str, Any] | None = None
    ) -> ScrollInfoAnswer:
        scroller = scroller_for(screen, direction, locator)
        self._scroll = None if scroller is None else ScrollMovement(screen, scroller)
        return scroll_info(screen, scroller)

    def _scrolled(
        self,
        direction: str,
        slice: int | None = 0,  # noqa: A002 (the parameter's name on the wire)
    ) -> ScrolledAnswer:
        scroll = self._scroll
        if scroll is None:
            return {"moved": 0, "atEnd": True}
        rest = StabilityTracker()
        since = time.monotonic()

        def attempt(screen: ScreenSnapshot) -> ScrolledAnswer:
            rest.observe(screen, since)
            return scroll.measure_distance(screen, direction)

        return self._reader.retry(slice, attempt, lambda _: rest.quiet_ms >= STILL_AFTER * 1000)

    def _shot(
        self,
        locator: Mapping[str, Any] | None = None,
        slice: int | None = 0,  # noqa: A002 (the parameter's name on the wire)
        **_: Any,
    ) -> ViewAnswer | ShotAnswer | RefusedAnswer:
        if locator is None:
            screen = self._reader.take_snapshot()
            return {"ok": True, "view": list(screen.tree.window.size), "scroll": [0, 0], "ratio": 1, **screen.location}
        answer = self._ready(locator, "visible", slice)
        if not answer["ok"]:
            return answer
        screen = self._reader.last or self._reader.take_snapshot()
        node = self._ready_node(screen)
        if node is None:
            raise Refusal("not_found", "the element is no longer on the screen")
        return {
            **answer, "box": node.box.sides(), "part": node.visible_box.sides(), "view": list(screen.tree.window.size),
            "scroll": [0, 0], "ratio": 1, **screen.location,
        }  # fmt: skip


def _answered(method: Callable[[], ResultT]) -> ResultT | RefusedAnswer:
    """Return the answer of a method, or its refusal."""
    try:
        return method()
    except Refusal as refusal:
        return refusal.answer
