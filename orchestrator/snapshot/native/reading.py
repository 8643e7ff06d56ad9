"""Reads the text of a screen, and its source with nothing secret in it."""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy

from orchestrator.snapshot.native.node import NAMED_BY_CONTENT, TOGGLES, Node
from orchestrator.snapshot.native.outline import everything
from orchestrator.snapshot.native.tree import Tree
from orchestrator.snapshot.native.words import MASK

_READ = frozenset({"text", "status"}) | NAMED_BY_CONTENT | {"listitem", "generic"}
"""Roles of which something is written for reading; a field's value and a picture's name are not text of the screen."""


def text_of(tree: Tree, node: Node | None = None, ignored: Collection[Node] = ()) -> str:
    """What is written on the screen, or in an element, a line for each piece; the caption of a toggle only once."""
    entries = everything(tree, node, ignored)
    if not entries and node is not None:
        return node.text
    captions = {entry.node.label for entry in entries if entry.node.role == "text"}
    found = [entry.node for entry in entries if entry.node.role not in TOGGLES or entry.node.name not in captions]
    return "\n".join(text for each in found if (text := _written(each)))


def _written(node: Node) -> str:
    """What a line says that can be read: a developer's id that stands for a missing name cannot."""
    if node.role not in _READ:
        return ""
    return node.text or (node.name if node.is_named_by_content and node.lead else "")


def masked(tree: Tree, node: Node) -> str:
    """A node's part of the source, with the values of password fields masked."""
    from lxml import etree  # noqa: PLC0415 — loads with the first screen, not with the server

    element = tree.element(node)
    secrets = [each for each in tree.inside(node) if each.secret and each.value]
    if secrets:
        element = deepcopy(element)
        places = list(element.iter())
        for each in secrets:
            for name in ("value", "text"):
                if name in each.attributes:
                    places[each.index - node.index].set(name, MASK)
    return etree.tostring(element, encoding="unicode", with_tail=False)
