"""What a test needs of this machine."""

from __future__ import annotations

import os

import pytest


def needed(lack: str | None) -> None:
    """Skip what cannot run here for this lack, if any, and say so; where CI says that all must run, fail."""
    if lack:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(lack)
