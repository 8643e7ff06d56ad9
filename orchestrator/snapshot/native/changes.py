"""Tells what became different since a mark, and knows when a screen has come to rest."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from typing import Any

from orchestrator.snapshot.native.identity import is_other_screen
from orchestrator.snapshot.native.lines import line
from orchestrator.snapshot.native.look import Look
from orchestrator.snapshot.native.node import Node
from orchestrator.snapshot.native.outline import Entry
from orchestrator.snapshot.native.words import quoted

MOST = 40
"""Lines of a change at most, unless the caller says otherwise."""


class Mark:
    """A screen as it was when something began: every line without ref and focus, by the element that it stands for.

    Without a look it is nothing yet: all is new.
    """

    def __init__(self, look: Look | None) -> None:
        self._title = ""
        self._nodes: list[Node] = []
        self._lines: dict[int, str] = {}
        self._in_front: dict[int, str] = {}
        if look is None:
            return
        self._title = look.title
        screen = look.behind or look
        self._nodes = [entry.node for entry in screen.entries]
        self._lines = _lines(screen)
        self._in_front = {} if look.tree.modal is None else _lines(look)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._in_front or self._lines)

    def delta(self, now: Look, limit: int | None) -> dict[str, Any]:
        """What differs now; on another screen, what it shows. What a dialog stands in front of is not gone."""
        same, before, gone = True, self._lines, list(self._in_front.values())
        keys = {entry.node.key for entry in now.entries}
        if now.tree.modal is not None:
            before, gone = self._in_front, [text for key, text in self._in_front.items() if key not in keys]
        elif is_other_screen(
            self._nodes, [entry.node for entry in now.entries], same_title=self._title == now.title
        ):  # fmt: skip
            same, before, gone = False, {}, []
        else:
            gone += [text for key, text in before.items() if key not in keys]
        appeared = [entry for entry in now.entries if entry.node.key not in before]
        changed = [entry for entry in now.entries if before.get(entry.node.key, _bare(entry)) != _bare(entry)]
        return {
            "sameDocument": same, "now": now.place, "url": None,
            "title": {"from": self._title, "to": now.title} if same and self._title != now.title else None,
            **_bounded(now, appeared, changed, gone, MOST if limit is None else limit),
        }  # fmt: skip


def _lines(look: Look) -> dict[int, str]:
    return {entry.node.key: _bare(entry) for entry in look.entries}


def _bare(entry: Entry) -> str:
    return line(entry.node, "", focus=False)


def _bounded(
    look: Look, appeared: list[Entry], changed: list[Entry], gone: list[str], most: int
) -> dict[str, Any]:  # fmt: skip
    """At most `most` lines in all: what appeared first, then what changed, then what went."""
    total = len(appeared) + len(changed) + len(gone)
    first = [look.line(entry.node) for entry in appeared[:most]]
    second = [look.line(entry.node) for entry in changed[: most - len(first)]]
    third = gone[: most - len(first) - len(second)]
    return {
        "appeared": first, "disappeared": third, "changed": second, "more": total - most if total > most else None,
    }  # fmt: skip


class Rest:
    """Watches one look after the other for the moment from which nothing changes any more."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._changed = 0.0
        self._signature: dict[int, Hashable] = {}
        self._look: Look | None = None
        self._culprit = ""

    def see(self, look: Look, since: float | None) -> None:
        """Take note of a look; quiet counts from the first one with this `since`."""
        # The same source, or another one of the same screen.
        signature = self._signature if look is self._look else _signature(look.tree.nodes)
        self._look = look
        if since != self._since:
            self._since, self._changed, self._culprit = since, time.monotonic(), ""
        elif signature != self._signature:
            self._changed = time.monotonic()
            self._culprit = _culprit(look, self._signature, signature)
        self._signature = signature

    @property
    def quiet(self) -> int:
        """Milliseconds without a change."""
        return round((time.monotonic() - self._changed) * 1000)

    def unrest(self, look: Look, stability: int) -> str | None:
        """What keeps the screen from being at rest, in words; None where nothing does."""
        busy = next((node for node in look.tree.nodes if node.busy and node.is_visible), None)
        if busy is not None:
            return f"progressbar {quoted(busy.name)} is visible" if busy.name else "progressbar is visible"
        if self.quiet < stability:
            return self._culprit or "the screen has just changed"
        return None


def _signature(nodes: Iterable[Node]) -> dict[int, Hashable]:
    return {
        node.key: (node.box, node.label, node.value, node.text, node.enabled, node.shown, node.selected, node.checked)
        for node in nodes
        if not node.left_out
    }


def _culprit(look: Look, before: dict[int, Hashable], after: dict[int, Hashable]) -> str:
    """What changed last, in words."""
    for node in reversed(look.tree.nodes):
        if node.key in after and before.get(node.key) != after[node.key]:
            if look.tree.keyboard is not None and node.within(look.tree.keyboard):
                return "the keyboard is moving"
            named = node if node.role and node.name else next((each for each in node.around() if each.name), node)
            told = line(named, "", focus=False) if named.role else named.kind.rpartition(".")[2]
            return f"the screen keeps changing ({told})"
    return "the screen keeps changing"
