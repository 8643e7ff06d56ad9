"""Finds elements at the remote end, and which nodes of the page source they are."""

from __future__ import annotations

from typing import Any

from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.native.addresses import Address
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.node import Box, Node
from orchestrator.snapshot.native.tree import Tree
from orchestrator.snapshot.native.words import quoted
from orchestrator.webdriver.remote import Remote

_MOST = 50
"""Elements that are looked up one by one: each is a command."""
_NEARLY = 1.5
"""Driver units in which two boxes of one element may differ: page source and Get Element Rect round on their own."""
_REFUSED = frozenset({"invalid selector", "invalid argument"})
_GONE = frozenset({"no such element", "stale element reference"})
_CLASS = {"ios": "type", "android": "className"}


class RemoteElements:
    """The elements of one session as its remote end knows them."""

    def __init__(self, remote: Remote, platform: str) -> None:
        self._remote = remote
        self._class = _CLASS[platform]

    def find(self, address: Address, node: Node) -> dict[str, str] | None:
        """The reference to a node by its address (Find Element); None where it is gone, or another one is there now."""
        try:
            found: dict[str, str] = self._remote.execute("findElement", using=address.using, value=address.value)
            if address.counted and not _is_at(node, self._box(_id(found))):
                return None
        except RemoteFailure as error:
            if error.details.get("error") in _GONE:
                return None
            raise
        return found

    def nodes(self, tree: Tree, using: str, value: str) -> list[Node]:
        """The nodes that a strategy of the remote end finds (Find Elements), by where they are and their class.

        Raises:
            Refusal: The remote end cannot read the value.
        """
        try:
            elements = self._remote.execute("findElements", using=using, value=value)
        except RemoteFailure as error:
            if error.details.get("error") in _REFUSED:
                raise Refusal("invalid", f"{quoted(value)} was refused ({error.message.rstrip('.')})") from None
            raise
        found = [self._node(tree, _id(element)) for element in elements[:_MOST]]
        return list(dict.fromkeys(node for node in found if node is not None))

    def _node(self, tree: Tree, element: str) -> Node | None:
        try:
            box = self._box(element)
            there = [node for node in tree.nodes if _is_at(node, box)]
            if len(there) > 1:
                kind = self._remote.execute("getElementAttribute", id=element, name=self._class)
                there = [node for node in there if node.kind == kind] or there
        except RemoteFailure as error:
            if error.details.get("error") in _GONE:
                return None
            raise
        # Of wrappers in one place the innermost is the one that shows something.
        return there[-1] if there else None

    def _box(self, element: str) -> Box:
        rect: dict[str, Any] = self._remote.execute("getElementRect", id=element)
        x, y = float(rect["x"]), float(rect["y"])
        return Box(x, y, x + float(rect["width"]), y + float(rect["height"]))


def _is_at(node: Node, box: Box) -> bool:
    return all(abs(mine - its) <= _NEARLY for mine, its in zip(node.box, box, strict=True))


def _id(reference: dict[str, str]) -> str:
    return str(next(iter(reference.values())))
