"""The refs of a screen's elements: each keeps its number as long as it exists."""

from __future__ import annotations

import base64
import struct
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple, Protocol, Self

from orchestrator.snapshot.native.node import Node, digest, is_other_screen
from orchestrator.snapshot.native.told import ToldThings
from orchestrator.snapshot.native.tree import Tree

_MOST = 20_000
"""Elements remembered on one screen: an endless list makes ever new ones."""
_MOST_RECORDED = 2_000
"""Elements with refs, and of those without, in a record: the store reads it with every call."""
_HEAD = struct.Struct("<Q?")
"""In a record: the screen's title, and if it is a dialog."""
_ELEMENT = struct.Struct("<QII?")
"""In a record: an element's key, number or 0, look or 0 if it is not on the screen, and if it can have a line."""


class NativeRefRange(Protocol):
    """The numbers that this session may give to elements, from `next` up to but not including `end`."""

    next: int
    end: int

    def reserve(self, n: int) -> None:
        """Reserve at least `n` numbers beyond `next`."""


class SeenScreen(NamedTuple):
    """A screen as the next one is compared with it.

    Attributes:
        title: A digest of its title.
        is_modal: True if a dialog is in front.
        listed: Keys of the elements that can have a line.
        looks: Digests of name and place by key, never 0.
    """

    title: int
    is_modal: bool
    listed: AbstractSet[int]
    looks: Mapping[int, int]

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """Return it for a page source."""
        return cls(
            title=digest(tree.title),
            is_modal=tree.modal is not None,
            listed={node.key for node in tree.nodes if node.role and not node.left_out},
            looks={key: digest((node.name, *node.box), 4) or 1 for key, node in tree.by_key.items()},
        )

    def same_in(self, other: SeenScreen) -> set[int]:
        """Return the keys of elements that look the same on both screens, such as a tab of the bar below."""
        return {key for key, look in self.looks.items() if other.looks.get(key) == look}


class Refs:
    """The number of each element, by the key that identifies it in every source.

    Attributes:
        told: What callers of this process were told of the elements.
    """

    def __init__(self, reserved: NativeRefRange) -> None:
        self.told = ToldThings()
        self._reserved = reserved
        self._numbers: dict[int, int] = {}
        self._keys: dict[int, int] = {}
        self._seen: SeenScreen | None = None
        self._recorded = self._packed = ""
        self._has_changed = False

    def follow_screen(self, tree: Tree) -> None:
        """Note the current screen: on another screen only elements that look the same keep their numbers."""
        now = SeenScreen.of(tree)
        before, self._seen, self._has_changed = self._seen, now, True
        if before is None:
            return
        if now.is_modal or before.is_modal:
            # The screen behind a dialog comes back, even if the source leaves it out meanwhile.
            self._seen = before if now.is_modal else now
            return
        if is_other_screen(before.listed, now.listed, same_title=before.title == now.title):
            self._keep(before.same_in(now))
        elif len(self._numbers) > _MOST:
            self._keep(tree.by_key.keys())

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
            self._has_changed = True
        return f"e{number}"

    def tell(self, node: Node) -> str:
        """Return the ref of an element that an answer shows."""
        ref = self.ref(node)
        self.told.tell(int(ref[1:]), node)
        return ref

    def node(self, ref: str, tree: Tree) -> Node | None:
        """Return the element of a ref, or None if it is not on the screen."""
        key = self._keys.get(int(ref[1:]))
        return None if key is None else tree.by_key.get(key)

    def pack(self) -> str:
        """Return them and the screen as a record keeps them: digests, without any content."""
        if self._has_changed:
            self._packed, self._has_changed = self._pack(), False
        return self._packed

    def restore(self, packed: str) -> bool:
        """Replace them by those of the session's record; False if no other process has written them there."""
        is_own = packed in {self._recorded, self._packed}
        self._recorded = packed
        if is_own:
            return False
        self._packed, self._has_changed = packed, False
        self._numbers, self._seen = _unpack(packed)
        self._keys = {number: key for key, number in self._numbers.items()}
        return True

    def _keep(self, keys: Collection[int]) -> None:
        self._numbers = {key: number for key, number in self._numbers.items() if key in keys}
        self._keys = {number: key for key, number in self._numbers.items()}

    def _pack(self) -> str:
        if self._seen is None:
            return ""
        head = _HEAD.pack(self._seen.title, self._seen.is_modal)
        return base64.b64encode(head + b"".join(self._elements(self._seen))).decode("ascii")

    def _elements(self, seen: SeenScreen) -> Iterator[bytes]:
        """Yield the elements with the last numbers, and those without that tell the next screen from this one."""
        named = [*self._numbers.items()][-_MOST_RECORDED:]
        others = islice((key for key in seen.listed if key not in self._numbers), _MOST_RECORDED)
        for key, number in (*named, *((key, 0) for key in others)):
            yield _ELEMENT.pack(key, number, seen.looks.get(key, 0), key in seen.listed)


def _unpack(packed: str) -> tuple[dict[int, int], SeenScreen | None]:
    """Return numbers by key, and the screen."""
    if not packed:
        return {}, None
    content = base64.b64decode(packed)
    title, is_modal = _HEAD.unpack_from(content)
    elements = [*_ELEMENT.iter_unpack(content[_HEAD.size :])]
    listed = {key for key, _, _, is_listed in elements if is_listed}
    looks = {key: look for key, _, look, _ in elements if look}
    return {key: number for key, number, _, _ in elements if number}, SeenScreen(title, is_modal, listed, looks)
