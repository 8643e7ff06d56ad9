"""One look at a screen: its source as a tree, and what is told of it with the session's refs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from orchestrator.snapshot.native import lines
from orchestrator.snapshot.native.addresses import Addresses
from orchestrator.snapshot.native.lines import WITHOUT_REF
from orchestrator.snapshot.native.locating import Ask, Locating, Refusal, described
from orchestrator.snapshot.native.node import Node
from orchestrator.snapshot.native.outline import Entry, survey
from orchestrator.snapshot.native.refs import Refs
from orchestrator.snapshot.native.tree import Tree

_CANDIDATES = 5
_WORD = 3
"""Characters that a word has at least to tell one line from another."""


class Look:
    """What the screen showed when its source was fetched.

    `behind` is the last look at the screen before there was a dialog in front of it: some platforms tell nothing of
    what is behind one.
    """

    def __init__(self, tree: Tree, platform: str, refs: Refs, ask: Ask, behind: Look | None) -> None:
        self.tree = tree
        self.behind = behind
        self.refs = refs
        self._locating = Locating(tree, platform, refs, ask)

    @property
    def place(self) -> dict[str, str]:
        """Where the session is: a screen has no address."""
        return {"url": "", "title": self.title}

    @property
    def title(self) -> str:
        """The title of the screen, also while a dialog is in front of it."""
        return self.tree.title or ("" if self.behind is None else self.behind.title)

    @cached_property
    def entries(self) -> list[Entry]:
        """The lines of the whole screen, those beyond its edges included."""
        return survey(self.tree)

    @cached_property
    def addresses(self) -> Addresses:
        """How the remote end finds each element."""
        return Addresses(self.tree.nodes)

    def line(self, node: Node) -> str:
        """A node's line, with its ref where it has one."""
        return lines.line(node, "" if node.role in WITHOUT_REF else self.refs.ref(node))

    def line_of(self, node: Node) -> str:
        """What an error calls a node: its line, with a ref even where the outline shows none."""
        return lines.line(node, self.refs.ref(node))

    def locate(self, locator: Mapping[str, Any]) -> list[Node]:
        """All elements that match; of a strict locator one at most.

        Raises:
            Refusal: It means nothing here, its ref is stale, or it is strict and there are several.
        """
        found = self._locating.find(locator)
        if locator.get("strict") and len(found) > 1:
            shown = [self.line_of(node) for node in found[:_CANDIDATES]]
            raise Refusal("ambiguous", f"{len(found)} elements match", matches=len(found), candidates=shown)
        return found

    def must_find(self, locator: Mapping[str, Any]) -> list[Node]:
        """All elements that match, one at least.

        Raises:
            Refusal: As `locate`, or there is none.
        """
        found = self.locate(locator)
        if not found:
            raise Refusal("not_found", f"nothing matches {described(locator)}")
        return found

    def candidates(self, locator: Mapping[str, Any]) -> list[str]:
        """Lines that the caller may have meant: of the same role, or with a word in common."""
        is_named = locator["by"] in {"role", "line"}
        said = str(locator.get("name") or "") if is_named else str(locator["value"])
        words = [word for word in _words(said) if len(word) >= _WORD]
        scored: list[tuple[int, Entry]] = []
        for entry in self.entries:
            if entry.has_ref:
                name = entry.node.name.lower()
                score = 2 * sum(word in name for word in words) + (entry.node.role == locator["value"])
                if score:
                    scored.append((score, entry))
        scored.sort(key=lambda pair: -pair[0])
        return [self.line(entry.node) for _, entry in scored[:_CANDIDATES]]


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.lower()).split()
