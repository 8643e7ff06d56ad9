"""Helpers of the keeper's tests: processes that only sleep, and polling for the keeper's effects."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tests.e2e import harness

PATIENCE = 30.0
LONG = 1000.0
"""Seconds longer than any test."""
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def until(look: Callable[[], Any], what: str) -> Any:
    """Poll until the check returns something true; return it."""
    return harness.until(look, what, PATIENCE)
