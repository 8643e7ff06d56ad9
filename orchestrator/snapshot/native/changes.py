"""Compares a screen with a baseline, and tracks how long it has been stable."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable

from orchestrator.snapshot.change_answers import DeltaAnswer
from orchestrator.snapshot.native.node import Node, is_other_screen
from orchestrator.snapshot.native.outline import OutlineEntry
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot
from orchestrator.snapshot.native.text import format_line, quoted

MOST = 40
"""The default for the most lines of a change."""


class ScreenBaseline:
    """A screen before something was done to it: every line without ref and focus, by its element.

    A baseline without a screen is empty: everything differs from it.
    """

    def __init__(self, screen: ScreenSnapshot | None) -> None:
        self._title = ""
        self._lines: dict[int, str] = {}
        self._in_front: dict[int, str] = {}
        if screen is None:
            return
        self._title = screen.title
        whole = screen.behind or screen
        self._lines = _lines(whole)
        self._in_front = {} if screen.tree.modal is None else _lines(screen)

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self._in_front or self._lines)

    def delta(self, now: ScreenSnapshot, limit: int | None) -> DeltaAnswer:
        """Return what differs now; on another screen, all that it shows. What a dialog covers is not gone."""
        same, before, gone = True, self._lines, list(self._in_front.values())
        keys = {entry.node.key for entry in now.entries}
        if now.tree.modal is not None:
            before, gone = self._in_front, [text for key, text in self._in_front.items() if key not in keys]
        elif is_other_screen(before.keys(), keys, same_title=self._title == now.title):
            same, before, gone = False, {}, []
        else:
            gone += [text for key, text in before.items() if key not in keys]
        appeared = [entry for entry in now.entries if entry.node.key not in before]
        changed = [entry for entry in now.entries if before.get(entry.node.key, _bare(entry)) != _bare(entry)]
        most = MOST if limit is None else limit
        total = len(appeared) + len(changed) + len(gone)
        # At most so many lines in all: what appeared first, then what changed, then what went.
        first = [now.line(entry.node) for entry in appeared[:most]]
        second = [now.line(entry.node) for entry in changed[: most - len(first)]]
        return {
            "sameDocument": same, "now": now.location, "url": None, "redrawn": 0, "invalid": [],
            "title": {"from": self._title, "to": now.title} if same and self._title != now.title else None,
            "appeared": first, "changed": second, "disappeared": gone[: most - len(first) - len(second)],
            "more": total - most if total > most else None,
        }  # fmt: skip


def _lines(screen: ScreenSnapshot) -> dict[int, str]:
    return {entry.node.key: _bare(entry) for entry in screen.entries}


def _bare(entry: OutlineEntry) -> str:
    return format_line(entry.node, "", focus=False)


class StabilityTracker:
    """Measures over several snapshots for how long nothing has changed."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._changed = 0.0
        self._signature: dict[int, Hashable] = {}
        self._last: ScreenSnapshot | None = None
        self._culprit = ""

    def observe(self, screen: ScreenSnapshot, since: float | None) -> None:
        """Compare a snapshot with the one before; quiet counts from the first one with this `since`."""
        # Only another source can differ.
        signature = self._signature if screen is self._last else _signature(screen.tree.nodes)
        self._last = screen
        if since != self._since:
            self._since, self._changed, self._culprit = since, time.monotonic(), ""
        elif signature != self._signature:
            self._changed = time.monotonic()
            self._culprit = _culprit(screen, self._signature, signature)
        self._signature = signature

    @property
    def quiet_ms(self) -> int:
        """Milliseconds without a change."""
        return round((time.monotonic() - self._changed) * 1000)

    def explain_instability(self, screen: ScreenSnapshot, stability: int) -> str | None:
        """Return in words why the screen is not at rest, or None."""
        busy = next((node for node in screen.tree.nodes if node.busy and node.is_visible), None)
        if busy is not None:
            return f"progressbar {quoted(busy.name)} is visible" if busy.name else "progressbar is visible"
        if self.quiet_ms < stability:
            return self._culprit or "the screen has just changed"
        return None


def _signature(nodes: Iterable[Node]) -> dict[int, Hashable]:
    return {
        node.key: (node.box, node.label, node.value, node.text, node.enabled, node.shown, node.selected, node.checked)
        for node in nodes
        if not node.left_out
    }


def _culprit(screen: ScreenSnapshot, before: dict[int, Hashable], after: dict[int, Hashable]) -> str:
    """Name what changed last."""
    for node in reversed(screen.tree.nodes):
        if node.key in after and before.get(node.key) != after[node.key]:
            if screen.tree.keyboard is not None and node.within(screen.tree.keyboard):
                return "the keyboard is moving"
            named = node if node.role and node.name else next((each for each in node.ancestors() if each.name), node)
            name = format_line(named, "", focus=False) if named.role else named.class_name.rpartition(".")[2]
            return f"the screen keeps changing ({name})"
    return "the screen keeps changing"
