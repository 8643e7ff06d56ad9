"""Waiting for a condition, the one way of all tests; how long is a guard against hanging and proves nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import anyio

ResultT = TypeVar("ResultT")

PATIENCE = 60.0
"""Seconds after which a test gives up waiting."""
_PAUSE = 0.05


def until(look: Callable[[], ResultT | None], what: str, patience: float = PATIENCE) -> ResultT:
    """Look every 50 ms until the look returns something true; return it.

    Args:
        look: What to look at.
        what: What is waited for, for the failure.
        patience: Seconds until the test fails.
    """
    deadline = time.monotonic() + patience
    while not (seen := look()):
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(_PAUSE)
    return seen


async def until_async(look: Callable[[], ResultT | None], what: str) -> ResultT:
    """Look every 50 ms, while other tasks run, until the look returns something true; return it."""
    deadline = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < deadline, f"never came: {what}"
        await anyio.sleep(_PAUSE)
    return seen
