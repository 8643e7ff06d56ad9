"""A snapshot of a screen: its source as a tree, with the session's refs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from orchestrator.snapshot.answers import PageAddress
from orchestrator.snapshot.native import text
from orchestrator.snapshot.native.locating import FindRemotely, NodeFinder, Refusal, describe_locator
from orchestrator.snapshot.native.node import Node
from orchestrator.snapshot.native.outline import OutlineEntry, collect_entries
from orchestrator.snapshot.native.refs import Refs
from orchestrator.snapshot.native.remote_locators import RemoteLocators
from orchestrator.snapshot.native.text import WITHOUT_REF, quoted
from orchestrator.snapshot.native.told import Thing
from orchestrator.snapshot.native.tree import Tree

_CANDIDATES = 5
_LEAST_LIKE, _SAME_ROLE = 0.4, 0.5
"""The likeness from which a line is one that the caller may have meant, and what the same role adds to it."""


class ScreenSnapshot:
    """A screen at the moment when its source was fetched.

    `behind` is the last snapshot before a dialog opened: some platforms leave out what a dialog covers.
    """

    def __init__(
        self, tree: Tree, platform: str, refs: Refs, find_remotely: FindRemotely, behind: ScreenSnapshot | None
    ) -> None:
        self.tree = tree
        self.behind = behind
        self.refs = refs
        self._finder = NodeFinder(tree, platform, refs, find_remotely)

    @property
    def location(self) -> PageAddress:
        """The title of the screen; it has no URL."""
        return {"url": "", "title": self.title}

    @property
    def title(self) -> str:
        """The title of the screen, also while a dialog is in front of it."""
        return self.tree.title or ("" if self.behind is None else self.behind.title)

    @cached_property
    def entries(self) -> list[OutlineEntry]:
        """The lines of the whole screen, those beyond its edges included."""
        return collect_entries(self.tree)

    @cached_property
    def remote_locators(self) -> RemoteLocators:
        """The locators by which the remote end finds each element."""
        return RemoteLocators(self.tree.nodes)

    def line(self, node: Node) -> str:
        """Return a node's line, with its ref if the outline shows one."""
        return text.format_line(node, "" if node.role in WITHOUT_REF else self.refs.tell(node))

    def line_with_ref(self, node: Node) -> str:
        """Return a node's line for an error: with a ref even if the outline shows none."""
        return text.format_line(node, self.refs.tell(node))

    def check_told(self, node: Node, ref: str) -> None:
        """Refuse the ref of an element that is another thing than the caller was told.

        Raises:
            Refusal: The answer has the ref of the one element that is now what was told.
        """
        nodes = [each for each in self.tree.nodes if each.role and not each.left_out]
        was = self.refs.told.find_change(int(ref[1:]), node, nodes)
        if was is None:
            return
        now, places = Thing.of(node), [each for each in nodes if each.is_visible and Thing.of(each) == was]
        became = quoted(now.name) if now.role == was.role else now.describe()
        refusal = Refusal("changed", f"{ref} was {was.describe()} and is {became} now", matches=1)
        if len(places) == 1:
            refusal.answer["instead"] = self.refs.tell(places[0])
        raise refusal

    def locate(self, locator: Mapping[str, Any]) -> list[Node]:
        """Return all elements that match; for a strict locator at most one.

        Raises:
            Refusal: It cannot be used on this screen, its ref is stale, or it is strict and there are several.
        """
        found = self._finder.find(locator)
        if locator.get("strict") and len(found) > 1:
            shown = [self.line_with_ref(node) for node in found[:_CANDIDATES]]
            raise Refusal("ambiguous", f"{len(found)} elements match", matches=len(found), candidates=shown)
        return found

    def must_find(self, locator: Mapping[str, Any]) -> list[Node]:
        """Return all elements that match, at least one.

        Raises:
            Refusal: As `locate`, or there is none.
        """
        found = self.locate(locator)
        if not found:
            raise Refusal("not_found", f"nothing matches {describe_locator(locator)}")
        return found

    def candidates(self, locator: Mapping[str, Any]) -> list[str]:
        """Return lines that the caller may have meant: of the same role, or with much the same text."""
        is_named = locator["by"] in {"role", "line"}
        given = str(locator.get("name") or "") if is_named else "" if locator["by"] == "ref" else str(locator["value"])
        entries = [entry for entry in self.entries if entry.has_ref]
        return self.lines_like(entries, given, role=str(locator["value"]) if is_named else "")

    def lines_like(self, entries: Sequence[OutlineEntry], sought: str, *, role: str = "") -> list[str]:
        """Return the lines that are most like a text, the nearest first, and those of a role."""
        scored: list[tuple[float, OutlineEntry]] = []
        for entry in entries:
            node = entry.node
            words = (
                f"{node.name or node.label} {text.value_of(node)} {node.id.rpartition('/')[2]} {node.accessibility_id}"
            )
            likeness = text.resemblance(sought, words)
            if likeness >= _LEAST_LIKE or node.role == role:
                scored.append((likeness + (_SAME_ROLE if node.role == role else 0), entry))
        scored.sort(key=lambda pair: -pair[0])
        return [self.line(entry.node) for _, entry in scored[:_CANDIDATES]]
