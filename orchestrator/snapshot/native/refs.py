"""Gives the elements of a screen their numbers: one for as long as they live."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from orchestrator.snapshot.native.identity import is_other_screen
from orchestrator.snapshot.native.node import Node
from orchestrator.snapshot.native.tree import Tree

_MOST = 20_000
"""Elements that are remembered while a screen is the same: an endless list makes ever new ones."""


class RefRange(Protocol):
    """The numbers that this session may give to elements, `next` up to but not including `end`."""

    next: int
    end: int

    def more(self, n: int) -> None:
        """Reserve at least `n` numbers beyond `next`."""


class Refs:
    """Which number each element has, by the key that tells it from others in every source."""

    def __init__(self, reserved: RefRange) -> None:
        self._reserved = reserved
        self._numbers: dict[int, int] = {}
        self._keys: dict[int, int] = {}
        self._seen: Tree | None = None

    def see(self, tree: Tree) -> None:
        """Take note of the screen as it is now: on another one, only what looks just the same is still the same."""
        before, self._seen = self._seen, tree
        if before is None or tree is before:
            return
        if tree.modal or before.modal:
            # The screen behind a dialog comes back, even where the platform tells nothing of it meanwhile.
            self._seen = before if tree.modal else tree
            return
        if is_other_screen(listed(before), listed(tree), same_title=before.title == tree.title):
            self._keep({key for key in self._numbers if _is_same(key, before, tree)})
        elif len(self._numbers) > _MOST:
            self._keep(self._numbers.keys() & tree.by_key.keys())

    def _keep(self, keys: Collection[int]) -> None:
        self._numbers = {key: number for key, number in self._numbers.items() if key in keys}
        self._keys = {number: key for key, number in self._numbers.items()}

    def ref(self, node: Node) -> str:
        """The element's ref."""
        number = self._numbers.get(node.key)
        if number is None:
            if self._reserved.next >= self._reserved.end:
                self._reserved.more(1)
            number = self._reserved.next
            self._reserved.next += 1
            self._numbers[node.key] = number
            self._keys[number] = node.key
        return f"e{number}"

    def node(self, ref: str, tree: Tree) -> Node | None:
        """The element of a ref while it is on the screen."""
        key = self._keys.get(int(ref[1:]))
        return None if key is None else tree.by_key.get(key)


def listed(tree: Tree) -> list[Node]:
    """The elements that a line could stand for."""
    return [node for node in tree.nodes if node.role and not node.left_out]


def _is_same(key: int, before: Tree, after: Tree) -> bool:
    """Whether an element of another screen is that of the one before: a tab of the bar below, say."""
    was, now = before.by_key.get(key), after.by_key.get(key)
    return was is not None and now is not None and (was.name, was.box) == (now.name, now.box)
