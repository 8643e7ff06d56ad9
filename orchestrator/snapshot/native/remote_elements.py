"""Finds elements at the remote end, and matches them with nodes of the page source."""

from __future__ import annotations

from typing import Any

from orchestrator.errors import RemoteFailure
from orchestrator.snapshot.native.locating import Refusal
from orchestrator.snapshot.native.node import Node, ScreenBox
from orchestrator.snapshot.native.remote_locators import RemoteLocator
from orchestrator.snapshot.native.text import quoted
from orchestrator.snapshot.native.tree import Tree
from orchestrator.webdriver.remote import Remote

_MOST = 50
"""Most elements that are looked up: each takes a command."""
_NEARLY = 1.5
"""Driver units by which two boxes of one element may differ: page source and Get Element Rect round separately."""
_REFUSED = frozenset({"invalid selector", "invalid argument"})
_GONE = frozenset({"no such element", "stale element reference"})
_CLASS = {"ios": "type", "android": "className"}


class RemoteElements:
    """The elements of one session at its remote end."""

    def __init__(self, remote: Remote, platform: str) -> None:
        self._remote = remote
        self._class = _CLASS[platform]

    def find(self, locator: RemoteLocator, node: Node) -> dict[str, str] | None:
        """Return the reference to a node (Find Element); None if it is gone or another element has taken its place."""
        try:
            found: dict[str, str] = self._remote.execute("findElement", using=locator.using, value=locator.value)
            if locator.is_positional and not _is_at(node, self._box(_id(found))):
                return None
        except RemoteFailure as error:
            if error.details.get("error") in _GONE:
                return None
            raise
        return found

    def nodes(self, tree: Tree, using: str, value: str) -> list[Node]:
        """Return the nodes that a strategy of the remote end finds (Find Elements), matched by box and class.

        Raises:
            Refusal: The remote end refuses the value.
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
            nodes = [node for node in tree.nodes if _is_at(node, box)]
            if len(nodes) > 1:
                kind = self._remote.execute("getElementAttribute", id=element, name=self._class)
                nodes = [node for node in nodes if node.class_name == kind] or nodes
        except RemoteFailure as error:
            if error.details.get("error") in _GONE:
                return None
            raise
        # Of nested elements with the same box the innermost one shows something.
        return nodes[-1] if nodes else None

    def _box(self, element: str) -> ScreenBox:
        rect: dict[str, Any] = self._remote.execute("getElementRect", id=element)
        x, y = float(rect["x"]), float(rect["y"])
        return ScreenBox(x, y, x + float(rect["width"]), y + float(rect["height"]))


def _is_at(node: Node, box: ScreenBox) -> bool:
    return all(abs(mine - its) <= _NEARLY for mine, its in zip(node.box, box, strict=True))


def _id(reference: dict[str, str]) -> str:
    return str(next(iter(reference.values())))
