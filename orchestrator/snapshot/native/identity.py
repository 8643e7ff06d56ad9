"""Makes out which element of a later source is the same one, from what the platforms tell of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from orchestrator.snapshot.native.node import Node

_MOSTLY, _NEARLY_ALL = 0.5, 0.9
"""The share of elements that must be gone for another screen: where the title is another one, and where it is not."""


def identify(nodes: list[Node]) -> dict[int, Node]:
    """Give each node its key; the nodes by key.

    An element with an id is known by it, whatever it shows. One without is known by its words, and by its place among
    those with the same words. A row of a list, and each of several wrappers alike, is known by the first words in it
    even if it has an id, and all that is inside belongs to it: a row that is used again for other content is another.
    """
    counts: Counter[Hashable] = Counter()
    alike = Counter((node.parent.index, node.kind) for node in nodes if node.parent is not None)
    rows = [0] * len(nodes)
    by_key: dict[int, Node] = {}
    for node in nodes:
        above, row = (0, 0) if node.parent is None else (node.parent.key, rows[node.parent.index])
        is_one_of_many = (
            bool(node.children) and node.parent is not None and alike[node.parent.index, node.kind] > 1 and not node.id
        )
        facts: tuple[Hashable, ...]
        if node.role == "listitem" or is_one_of_many:
            facts = (above, node.kind, node.id, node.lead)
        elif node.id:
            facts = (row, node.kind, node.id)
        else:
            facts = (above, node.kind, _words(node))
        counts[facts] += 1
        node.key = hash((facts, counts[facts]))
        rows[node.index] = node.key if node.role == "listitem" or is_one_of_many else row
        by_key[node.key] = node
    return by_key


def _words(node: Node) -> str:
    """What a node without an id is known by; wrappers have no words: what is inside comes and goes."""
    if node.role == "":
        return ""
    return node.name if node.is_named_by_content else node.label


def is_other_screen(before: list[Node], after: list[Node], *, same_title: bool) -> bool:
    """Whether most of what was listed is gone: a new screen, of which every line is new."""
    were, are = {node.key for node in before}, {node.key for node in after}
    if not were:
        return bool(are)
    gone = len(were - are) / len(were)
    return gone > (_NEARLY_ALL if same_title else _MOSTLY)
