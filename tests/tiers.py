"""The tiers of the tests: which of them decide whether a change is taken. README.md says what is in which."""

from __future__ import annotations

import pytest

TIERS = ("required", "full", "clock")
_DECIDING = {"core", "required", "smoke"}
"""Markers of functions that are required in a module of another tier."""


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test: a marker of its function wins over one of its module; unmarked is required."""
    nearest: dict[str, set[str]] = {}
    for node, mark in item.iter_markers_with_node():
        nearest.setdefault(node.nodeid, set()).add(mark.name)
    for names in nearest.values():
        for tier in ("clock", "full"):
            if tier in names:
                return tier
        if names & _DECIDING:
            break
    return "required"
