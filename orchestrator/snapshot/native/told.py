"""Remembers what each caller was told of an app's elements: role and name by ref."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.snapshot.native.node import Node
from orchestrator.snapshot.native.text import quoted, shorten

_MOST_CALLERS = 16
_MOST = 20_000
"""Elements remembered for each caller."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Thing:
    """The role and the name of an element, as a line shows them."""

    role: str
    name: str

    @classmethod
    def of(cls, node: Node) -> Thing:
        """Return what an element is now."""
        return cls(node.role or "generic", shorten(node.name))

    @property
    def kind(self) -> tuple[str, str]:
        """Role and name but for digits."""
        return self.role, _DIGITS.sub("#", self.name)

    def describe(self) -> str:
        """Return role and name as a line begins with them."""
        return f"{self.role} {quoted(self.name)}"


@dataclass
class _Caller:
    """The knowledge of a caller: `known` from answers of earlier calls, `fresh` from this one's.

    `acted` are the numbers of what it acted on since it was told of it, `acting` those of this call.
    """

    known: dict[int, Thing]
    fresh: dict[int, Thing]
    acted: set[int]
    acting: set[int]


class ToldThings:
    """Things that were told of each ref, by caller; an answer is read when its call is over."""

    def __init__(self) -> None:
        self._callers: dict[str, _Caller] = {}
        self._anyone: dict[int, Thing] = {}
        self._reader = self._get_caller("")

    def begin_call(self, caller: str) -> None:
        """Note whose call begins: what the answers of the one before told is known from now on."""
        reader = self._reader
        reader.acted = (reader.acted - reader.fresh.keys()) | reader.acting
        reader.acting = set()
        reader.known |= reader.fresh
        self._anyone |= reader.fresh
        reader.fresh = {}
        for known in (reader.known, self._anyone):
            for number in [*known][:-_MOST]:
                del known[number]
        self._reader = self._get_caller(caller)

    def tell(self, number: int, node: Node) -> None:
        """Note that an answer shows an element with its ref."""
        self._reader.fresh[number] = Thing.of(node)

    def note_act(self, number: int) -> None:
        """Note that the caller acts on an element: what this makes of it is still the same thing."""
        self._reader.acting.add(number)

    def find_change(self, number: int, node: Node, others: Iterable[Node]) -> Thing | None:
        """Return what the caller was told of an element that is another thing now; None if it is the same thing."""
        was, now = self._reader.known.get(number) or self._anyone.get(number), Thing.of(node)
        if was is None or was == now:
            return None
        things = [Thing.of(other) for other in others if other is not node and other.is_visible]
        then = [thing for other, thing in self._anyone.items() if other != number]
        is_counter = was.kind == now.kind and all(thing.kind != was.kind for thing in (*things, *then))
        is_acted = number in self._reader.acted | self._reader.acting
        return None if is_counter or (is_acted and (was in then or was not in things)) else was

    def _get_caller(self, key: str) -> _Caller:
        if key not in self._callers:
            for oldest in [*self._callers][: 1 - _MOST_CALLERS]:
                del self._callers[oldest]
            self._callers[key] = _Caller({}, {}, set(), set())
        return self._callers[key]
