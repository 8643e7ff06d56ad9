"""Answers for one session's current screen what the page engine answers for a web page."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.errors import AppEnded, RemoteFailure
from orchestrator.snapshot.native.addresses import Address
from orchestrator.snapshot.native.changes import Mark, Rest
from orchestrator.snapshot.native.conditions import assess
from orchestrator.snapshot.native.listing import boxes, marked, matches, shot, snapshot
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import FIELDS, Node
from orchestrator.snapshot.native.readiness import FINAL, Wish, held, holds, ready
from orchestrator.snapshot.native.reading import masked, text_of
from orchestrator.snapshot.native.refs import RefRange, Refs
from orchestrator.snapshot.native.remote_elements import RemoteElements
from orchestrator.snapshot.native.scrolling import Scroll, info, scroller_for
from orchestrator.snapshot.native.tree import Tree
from orchestrator.webdriver.remote import Remote

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.03, 0.25
"""Seconds between two looks: as long as a look takes, within these."""
_STILL_AFTER = 0.05
"""Seconds between two looks that must find an element in one place."""
_NO_MARK = Mark(None)

Answer = dict[str, Any]


class Screen:
    """The screen of one app session, looked at through Get Page Source.

    It is used by one thread at a time. Refs are kept here: another process does not know them and answers `stale`.

    Args:
        remote: The session's remote end.
        platform: `ios` or `android`.
        refs: Where the numbers of new refs come from.
    """

    def __init__(self, remote: Remote, platform: str, refs: RefRange) -> None:
        self.on_stopped: Callable[[str], None] | None = None
        self._platform = platform
        self._remote = remote
        self._elements = RemoteElements(remote, platform)
        self._refs = Refs(refs)
        self._last: Look | None = None
        self._places: dict[int, tuple[float, Any]] = {}
        self._acting: tuple[int, str | bool | None] | None = None
        self._marks: dict[str, Mark] = {}
        self._rest = Rest()
        self._secrets: set[str] = set()
        self._scroll: Scroll | None = None
        self._readings: dict[str, Callable[..., Answer]] = {
            "state": self._state, "snapshot": snapshot, "text": self._text, "source": self._source,
            "verify": self._verify, "mark": self._mark, "delta": self._delta, "boxes": boxes, "marked": marked,
            "scrollInfo": self._scroll_info,
        }  # fmt: skip
        self._waits: dict[str, Callable[..., Answer]] = {
            "ready": self._ready, "wait": self._wait, "settle": self._settle, "shot": self._shot,
            "scrolled": self._scrolled,
        }  # fmt: skip

    def call(self, method: str, **params: Any) -> Answer:
        """Ask about the screen as it is now; what is refused is an answer with `ok: false` and a `reason`.

        Methods, with what they take and answer beside `url` and `title`:
            state() → readyState.
            snapshot(scope, locator?, query?, roles?, limit?, offset, json, ignore?) → lines or elements, total, shown,
                outside.
            text(locator?, ignore?) → text, matches. source(locator?) → source, matches.
            ready(locator, need, slice, value?, force?, handle?) → ok with x, y, width, height, matches, ref, line,
                role, name, tag, kind, empty, checked and for a control `already`, `now`, `aim`; or ok false with
                reason, detail, matches, candidates, outside.
                Needs: present, visible, enabled, point, fill, focus, options.
            verify(value?) → same, value, checked, or gone.
            wait(conditions, not, slice, locator?) → ok, failed, matches, near.
            mark(name?) → lines. delta(limit?, name?) → appeared, disappeared, changed, more, sameDocument, now, title.
            settle(stability, slice, since?, name?, limit?) → settled, quietFor, reason; with `limit` delta, deltaMs.
            boxes(locators) → boxes. marked() → marks. shot(locator?, slice) → view, scroll, ratio, box, part.
            scrollInfo(locator?, direction) → x, y, page, box, ref of what scrolls there.
            scrolled(direction, slice) → moved since then, once it is at rest; atEnd where nothing did.

        Raises:
            SourceFault: The page source cannot be read.
            ValueError: There is no such method.
        """
        if method in self._waits:
            return _answered(self._waits[method], **params)
        if method not in self._readings:
            raise ValueError(f"a screen has no method {method}")
        read, slice_ = self._readings[method], params.pop("slice", 0)
        try:
            return self._retry(
                slice_, lambda look: _answered(read, look, **params), lambda answer: answer.get("reason") != "not_found"
            )
        except AppEnded:
            if method != "mark":
                raise
            # What starts it again is watched, too: all that it shows is new.
            self._marks[params.get("name", "")] = _NO_MARK
            return {"url": "", "title": "", "lines": 0}

    def element(self) -> Address:
        """How the remote end finds the element that `ready` found last: one unique locator, on the screen as it is now.

        Raises:
            RemoteFailure: It is gone, or `ready` found none.
        """
        return self._address(self._look())[0]

    def handle(self) -> dict[str, str]:
        """Return the element that `ready` found last as the remote end's reference to it, the twin of `Page.handle`.

        Raises:
            RemoteFailure: It is gone.
        """
        look = self._last or self._look()  # `ready` has just fetched it
        for _ in range(3):
            address, node = self._address(look)
            found = self._elements.find(address, node)
            if found is not None:
                return found
            look = self._look()
        raise RemoteFailure(
            "The element moved away while it was looked for.", hint="Try again.", error="stale element reference"
        )

    def _address(self, look: Look) -> tuple[Address, Node]:
        node = self._acting_on(look)
        if node is None:
            raise RemoteFailure(
                "The element is no longer on the screen.", hint="Look with get_visible_elements.",
                error="stale element reference",
            )  # fmt: skip
        return look.addresses.of(node), node

    def _look(self) -> Look:
        """Fetch the source, and read it unless it is the one that was read last."""
        source = str(self._remote.execute("getPageSource") or "")
        last = self._last
        if last is None or last.tree.source != source:
            tree = Tree.read(source, self._platform)
            self._note_secrets(tree)
            self._refs.see(tree)
            ask = functools.partial(self._elements.nodes, tree)
            behind = None if last is None or tree.modal is None else last.behind or last
            last = self._last = Look(tree, self._platform, self._refs, ask, behind)
        now = time.monotonic()
        were, self._places = self._places, {}
        for node in last.tree.nodes:
            was = were.get(node.key)
            self._places[node.key] = was if was is not None and was[1] == node.box else (now, node.box)
        return last

    def _note_secrets(self, tree: Tree) -> None:
        """What once was a password stays one: a button that shows it makes it a field like others."""
        for node in tree.nodes:
            named = node.id or node.label
            if node.secret:
                self._secrets.add(named)
            elif node.role in FIELDS and named in self._secrets:
                node.secret = True

    def _is_still(self, node: Node) -> bool:
        """Whether it has been where it is for a moment."""
        return time.monotonic() - self._places[node.key][0] >= _STILL_AFTER

    def _acting_on(self, look: Look) -> Node | None:
        return None if self._acting is None else look.tree.by_key.get(self._acting[0])

    def _retry(self, slice_: int | None, attempt: Callable[[Look], Answer], done: Callable[[Answer], bool]) -> Answer:
        """Attempt until the answer is done or `slice_` ms are over; what the last attempt answered."""
        end = time.monotonic() + (slice_ or 0) / 1000
        while True:
            began = time.monotonic()
            answer = attempt(self._look())
            now = time.monotonic()
            if done(answer) or now >= end:
                return answer
            # An app that is asked all the time gets nothing else done.
            time.sleep(min(max(now - began, _SHORTEST_PAUSE), _LONGEST_PAUSE, max(end - now, 0)))

    def _state(self, look: Look) -> Answer:
        return {**look.place, "readyState": "complete"}

    def _text(self, look: Look, locator: Mapping[str, Any] | None = None, ignore: Any = (), **_: Any) -> Answer:
        found = look.must_find(locator) if locator else []
        text = text_of(look.tree, found[0] if found else None, set(matches(look, ignore or ())))
        return {"text": text, "matches": max(1, len(found)), "frames": [], **look.place}

    def _source(self, look: Look, locator: Mapping[str, Any] | None = None, **_: Any) -> Answer:
        found = look.must_find(locator) if locator else look.tree.nodes[:1]
        return {"source": masked(look.tree, found[0]), "matches": len(found), **look.place}

    def _ready(
        self, locator: Mapping[str, Any], need: str = "visible", slice: int | None = 0, **asked: Any  # noqa: A002
    ) -> Answer:  # fmt: skip
        def attempt(look: Look) -> Answer:
            wish = Wish(need, str(asked.get("value", "")), self._is_still, force=bool(asked.get("force")))
            node, answer = ready(look, locator, wish)
            if node is not None:
                self._acting = node.key, wish.wanted
                return answer | ({"handle": True} if asked.get("handle") else {})
            return answer | {"candidates": [] if answer["matches"] else look.candidates(locator)}

        return self._retry(slice, attempt, lambda answer: answer["ok"] or answer["reason"] in FINAL)

    def _verify(self, look: Look, value: str | None = None) -> Answer:
        node = self._acting_on(look)
        if node is None or self._acting is None:
            return {"same": False, "gone": True, "value": "", **look.place}
        wanted = self._acting[1] if value is None else value
        same = wanted is not None and holds(node, wanted)
        return {"same": same, "value": held(node), "checked": node.checked, **look.place}

    def _wait(
        self, conditions: Mapping[str, Any], slice: int | None = 0, locator: Any = None, **asked: Any  # noqa: A002
    ) -> Answer:  # fmt: skip
        negate = bool(asked.get("not"))
        return self._retry(
            slice, lambda look: assess(look, conditions, locator, negate=negate), lambda answer: bool(answer["ok"])
        )

    def _mark(self, look: Look, name: str = "") -> Answer:
        mark = self._marks[name] = Mark(look)
        return {**look.place, "lines": mark.count}

    def _delta(self, look: Look, limit: int | None = None, name: str = "") -> Answer:
        return self._marks.get(name, _NO_MARK).delta(look, limit)

    def _settle(
        self, stability: int, slice: int | None = 0, since: float | None = None, name: str = "",  # noqa: A002
        limit: int | None = None,
    ) -> Answer:  # fmt: skip
        end = time.monotonic() + (slice or 0) / 1000
        while True:
            look = self._look()
            self._rest.see(look, since)
            reason = self._rest.unrest(look, stability)
            if reason is None:
                began = time.monotonic()
                delta = {"delta": self._marks.get(name, _NO_MARK).delta(look, limit)} if limit else {}
                took = {"deltaMs": round((time.monotonic() - began) * 1000)} if limit else {}
                return {"settled": True, "quietFor": self._rest.quiet, **delta, **took}
            now = time.monotonic()
            if now >= end:
                return {"settled": False, "reason": reason, "quietFor": self._rest.quiet}
            left = (stability - self._rest.quiet) / 1000
            time.sleep(max(0.0, min(left if left > 0 else _SHORTEST_PAUSE, _LONGEST_PAUSE, end - now)))

    def _scroll_info(self, look: Look, direction: str, locator: Mapping[str, Any] | None = None) -> Answer:
        scroller = scroller_for(look, direction, locator)
        self._scroll = None if scroller is None else Scroll(look, scroller)
        return info(look, scroller)

    def _scrolled(self, direction: str, slice: int | None = 0) -> Answer:  # noqa: A002
        scroll = self._scroll
        if scroll is None:
            return {"moved": 0, "atEnd": True}
        rest = Rest()
        since = time.monotonic()

        def attempt(look: Look) -> Answer:
            rest.see(look, since)
            return {**scroll.moved(look, direction), "still": rest.quiet >= _STILL_AFTER * 1000}

        answer = self._retry(slice, attempt, lambda answer: answer["still"])
        del answer["still"]
        return answer

    def _shot(self, locator: Mapping[str, Any] | None = None, slice: int | None = 0) -> Answer:  # noqa: A002
        if locator is None:
            return shot(self._look(), None) | {"ok": True}
        answer = self._ready(locator, "visible", slice)
        look = self._last
        if not answer["ok"] or look is None:
            return answer
        return answer | shot(look, self._acting_on(look))


def _answered(method: Callable[..., Answer], *looks: Look, **params: Any) -> Answer:
    """What a method answers, or why it refuses to."""
    try:
        return method(*looks, **params)
    except Refusal as refusal:
        return dict(refusal.answer)
