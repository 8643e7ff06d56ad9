"""The refs of a screen's elements: each keeps its number as long as it exists."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from orchestrator.snapshot.native.node import Node, is_other_screen
from orchestrator.snapshot.native.tree import Tree

_MOST = 20_000
"""Elements remembered on one screen: an endless list makes ever new ones."""


class NativeRefRange(Protocol):
    """The numbers that this session may give to elements, from `next` up to but not including `end`."""

    next: int
    end: int

    def reserve(self, n: int) -> None:
        """Reserve at least `n` numbers beyond `next`."""


class Refs:
    """The number of each element, by the key that identifies it in every source."""

    def __init__(self, reserved: NativeRefRange) -> None:
        self._reserved = reserved
        self._numbers: dict[int, int] = {}
        self._keys: dict[int, int] = {}
        self._seen: Tree | None = None

    def follow_screen(self, tree: Tree) -> None:
        """Note the current screen: on another screen only elements that look the same keep their numbers."""
        before, self._seen = self._seen, tree
        if before is None or tree is before:
            return
        if tree.modal or before.modal:
            # The screen behind a dialog comes back, even if the source leaves it out meanwhile.
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
        """Return the element's ref."""
        number = self._numbers.get(node.key)
        if number is None:
            if self._reserved.next >= self._reserved.end:
                self._reserved.reserve(1)
            number = self._reserved.next
            self._reserved.next += 1
            self._numbers[node.key] = number
            self._keys[number] = node.key
        return f"e{number}"

    def node(self, ref: str, tree: Tree) -> Node | None:
        """Return the element of a ref, or None if it is not on the screen."""
        key = self._keys.get(int(ref[1:]))
        return None if key is None else tree.by_key.get(key)


def listed(tree: Tree) -> list[Node]:
    """Return the elements that can have a line."""
    return [node for node in tree.nodes if node.role and not node.left_out]


def _is_same(key: int, before: Tree, after: Tree) -> bool:
    """True if an element looks the same on both screens, such as a tab of the bar below."""
    was, now = before.by_key.get(key), after.by_key.get(key)
    return was is not None and now is not None and (was.name, was.box) == (now.name, now.box)
