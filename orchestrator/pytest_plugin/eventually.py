"""Waiting for what a function of the test checks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")


def eventually(function: Callable[[], ResultT], *, timeout: float = 5.0, every: float = 0.05) -> ResultT:
    """Call a function until it returns something true, and return that; assertions in it may fail meanwhile.

    Args:
        function: What is called; errors other than of assertions end the wait at once.
        timeout: Seconds.
        every: Seconds between two calls.

    Raises:
        AssertionError: The time is up: the last one of the function, or one that says what it returned.
    """
    __tracebackhide__ = True
    deadline = time.monotonic() + timeout
    while True:
        try:
            result = function()
            if result:
                return result
            failure = AssertionError(f"After {timeout:g} s it still returns {result!r}.")
        except AssertionError as error:
            failure = error
        if time.monotonic() >= deadline:
            raise failure
        time.sleep(every)
