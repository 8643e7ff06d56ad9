"""Requirements of tests on this machine."""

from __future__ import annotations

import os

import pytest


def needed(lack: str | None) -> None:
    """Skip the test for a missing program, if any, with the reason; fail instead where CI=true."""
    if lack:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(lack)
