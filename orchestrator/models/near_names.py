"""Suggestions for a name that is unknown."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_NEAR = 3
"""Names that an error about an unknown one offers at most."""
_FEW = 12
"""Known names that such an error lists if none of them is near."""
_CLOSE = 0.6
"""Resemblance from which a name is near."""
_NEXT = 0.85
"""Share of the best resemblance that further names must reach."""
_WORDS = 3
"""Words in common that count as much as equal names."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `Did you mean 'x'?` for the nearest known names, else all of a few, else the three that are least far."""
    names = sorted(known)
    ranked = sorted(names, key=lambda one: -_closeness(name, one))[:_NEAR]
    enough = max([_CLOSE, *(_NEXT * _closeness(name, one) for one in ranked)])
    near = [one for one in ranked if _closeness(name, one) >= enough]
    if not near and len(names) <= _FEW:
        return f"Known: {', '.join(names)}."
    *others, last = map(repr, near or ranked)
    choices = f"{', '.join(others)} or {last}" if others else last
    return f"Did you mean {choices}?" if near else f"The nearest are {choices}."


def _closeness(name: str, other: str) -> float:
    """Return how much two names resemble each other: by their letters, and by the words that they have in common."""
    common = {*name.lower().split("_")} & {*other.lower().split("_")}
    return SequenceMatcher(None, name.lower(), other.lower()).ratio() + len(common) / _WORDS
