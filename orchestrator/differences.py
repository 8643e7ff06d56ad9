"""What one session shows and another does not: lines, compared as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Self

from pydantic import Field

from orchestrator.actions.outline import Outline
from orchestrator.actions.scene import Scene
from orchestrator.models import SessionType, Wire

_LINES = 40
"""Lines of a difference that a result lists, each way."""
_EVERYTHING = 1_000_000
_STRUCTURE = frozenset({
    "article", "banner", "complementary", "contentinfo", "form", "generic", "group", "heading", "list", "listitem",
    "main", "navigation", "region", "row", "rowgroup", "search", "table", "toolbar",
})  # fmt: skip
"""Roles that say how things are put together, which each platform does in its own way; Android knows no headings."""


class Difference(Wire):
    """How one session differs from the first one.

    `missing` are lines of the first one that it lacks, `added` those that it has instead or besides; `ratio` is the
    share of pixels that differ, and `path` a picture of where.
    """

    session_id: str
    missing: list[str] = Field(default_factory=list)
    added: list[str] = Field(default_factory=list)
    more: int | None = Field(default=None, description="How many further lines differ.")
    ratio: float | None = None
    path: str | None = None

    def lines(self, base: str) -> list[str]:
        """The difference as text."""
        if self.ratio is not None:
            where = f", shown in {self.path}" if self.path else ""
            return [f"{self.session_id}: {self.ratio:.2%} of the pixels differ from {base}{where}."]
        told = [f"{self.session_id} differs from {base}:"]
        told += [f"- only in {base}: {line}" for line in self.missing]
        told += [f"- only in {self.session_id}: {line}" for line in self.added]
        return [*told, *([f"… {self.more} more lines differ."] if self.more else [])]


def difference(name: str, base: Sequence[str], other: Sequence[str]) -> Difference | None:
    """How the lines of the session `name` differ from those of the base; None where they are the same."""
    missing: list[str] = []
    added: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, base, other).get_opcodes():
        if kind != "equal":
            missing += base[a:b]
            added += other[c:d]
    if not missing and not added:
        return None
    more = max(0, len(missing) - _LINES) + max(0, len(added) - _LINES)
    return Difference(session_id=name, missing=missing[:_LINES], added=added[:_LINES], more=more or None)


def named(elements: Iterable[Mapping[str, Any]]) -> list[str]:
    """The elements by role and name alone, as every platform has them: without those that only group others."""
    return [_said(element) for element in elements if element["role"] not in _STRUCTURE]


def _said(element: Mapping[str, Any]) -> str:
    return f'{element["role"]} "{element["name"]}"' if element["name"] else str(element["role"])


@dataclass(frozen=True)
class Listing:
    """What a session shows, by role and name: all that says something, and that part which every platform has."""

    kind: SessionType
    every: tuple[str, ...]
    portable: tuple[str, ...]

    @classmethod
    def of(cls, scene: Scene) -> Self:
        """Everything that a session shows now."""
        elements = elements_of(scene)
        every = [_said(one) for one in elements if one["name"] or one["role"] not in _STRUCTURE]
        return cls(scene.record.type, tuple(every), tuple(named(elements)))


def comparable(listings: Mapping[str, Listing]) -> dict[str, tuple[str, ...]]:
    """The lines by which these sessions can be compared: all where they are of one kind."""
    mixed = len({one.kind for one in listings.values()}) > 1
    return {name: one.portable if mixed else one.every for name, one in listings.items()}


def elements_of(scene: Scene, *, ignore: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Every element that the session shows, without what `ignore` locates."""
    every = {"scope": "page", "offset": 0, "limit": _EVERYTHING, "json": True, "ignore": list(ignore)}
    return Outline.read(scene, every, None).elements_found or []
