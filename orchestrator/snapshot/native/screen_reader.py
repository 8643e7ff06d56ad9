"""Takes snapshots of an app's screen, with a memory for refs, positions and secrets."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TypeVar

from orchestrator.snapshot.native.node import FIELDS, Node, ScreenBox
from orchestrator.snapshot.native.refs import NativeRefRange, Refs
from orchestrator.snapshot.native.remote_elements import RemoteElements
from orchestrator.snapshot.native.screen_snapshot import ScreenSnapshot
from orchestrator.snapshot.native.tree import Tree
from orchestrator.webdriver.remote import Remote

STILL_AFTER = 0.05
"""Seconds for which an element must keep its position to be at rest."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.03, 0.25
"""Seconds between two snapshots: as long as a snapshot takes, within these limits."""

ResultT = TypeVar("ResultT")


class ScreenReader:
    """Fetches page sources (Get Page Source) and keeps refs, positions and secrets of their elements.

    Attributes:
        last: The last snapshot, None before the first.
    """

    def __init__(self, remote: Remote, platform: str, elements: RemoteElements, refs: NativeRefRange) -> None:
        self.last: ScreenSnapshot | None = None
        self._remote = remote
        self._platform = platform
        self._elements = elements
        self._refs = Refs(refs)
        self._positions: dict[int, tuple[float, ScreenBox]] = {}
        self._secrets: set[str] = set()

    def take_snapshot(self) -> ScreenSnapshot:
        """Fetch the source, and parse it unless it equals the last one.

        Raises:
            SourceFault: The page source cannot be read.
        """
        source = str(self._remote.execute("getPageSource") or "")
        last = self.last
        if last is None or last.tree.source != source:
            tree = Tree.read(source, self._platform)
            self._note_secrets(tree)
            self._refs.follow_screen(tree)
            find_remotely = functools.partial(self._elements.nodes, tree)
            behind = None if last is None or tree.modal is None else last.behind or last
            last = self.last = ScreenSnapshot(tree, self._platform, self._refs, find_remotely, behind)
        self._note_positions(last.tree)
        return last

    def restore_refs(self, packed: str) -> None:
        """Take the refs of the session's record, if another process has given some since the last call here."""
        if self._refs.restore(packed):
            self.last = None

    def begin_call(self, caller: str) -> None:
        """Note whose call begins."""
        self._refs.told.begin_call(caller)

    def pack_refs(self) -> str:
        """Return the refs as the session's record keeps them."""
        return self._refs.pack()

    def is_still(self, node: Node) -> bool:
        """True if the element has kept its position for a moment."""
        return time.monotonic() - self._positions[node.key][0] >= STILL_AFTER

    def retry(
        self, slice_ms: int | None, attempt: Callable[[ScreenSnapshot], ResultT], done: Callable[[ResultT], bool]
    ) -> ResultT:
        """Attempt on new snapshots until the result is done or `slice_ms` are over; return the last result."""
        end = time.monotonic() + (slice_ms or 0) / 1000
        while True:
            began = time.monotonic()
            result = attempt(self.take_snapshot())
            now = time.monotonic()
            if done(result) or now >= end:
                return result
            # An app whose source is fetched all the time gets nothing else done.
            time.sleep(min(max(now - began, SHORTEST_PAUSE), LONGEST_PAUSE, max(end - now, 0)))

    def _note_positions(self, tree: Tree) -> None:
        """Note since when each element has been where it is."""
        now = time.monotonic()
        before, self._positions = self._positions, {}
        for node in tree.nodes:
            earlier = before.get(node.key)
            self._positions[node.key] = earlier if earlier is not None and earlier[1] == node.box else (now, node.box)

    def _note_secrets(self, tree: Tree) -> None:
        """Keep password fields secret after a button has made their text visible."""
        for node in tree.nodes:
            name = node.id or node.label
            if node.secret:
                self._secrets.add(name)
            elif node.role in FIELDS and name in self._secrets:
                node.secret = True
