"""Waits for the browser that has a persistent profile open to release it."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.system.deadline import Deadline, poll_until

_ENDING = 3.0
"""Seconds that an ending browser may take to release its profile."""
_INTERVAL = 0.05


def await_release(find_user: Callable[[], str], check: Callable[[], None]) -> str:
    """Return the user that still has the profile open once an ending one was waited for; empty if nobody has.

    Args:
        find_user: Returns the browser that has it open, as a person may know it; empty without one.
        check: Called before each look; raises to end the wait.
    """
    user = ""

    def is_free() -> bool:
        nonlocal user
        check()
        user = find_user()
        return not user

    poll_until(is_free, Deadline(_ENDING), every=_INTERVAL)
    return user
