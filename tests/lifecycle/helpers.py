"""Values of the keeper's tests."""

from __future__ import annotations

import sys

LONG = 1000.0
"""Seconds longer than any test."""
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
