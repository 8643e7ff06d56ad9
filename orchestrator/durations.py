"""Durations as people write them: seconds, or text such as `30m`."""

from __future__ import annotations

import re
from typing import Any

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 36_500 * 86_400.0
"""Seconds after which every time is still one that dates can say."""


def seconds(value: Any) -> Any:
    """A duration in seconds: a number is taken as it is, text such as `30m`, `1.5h` or `500ms` is read.

    Raises:
        ValueError: It is none, or too long; what has another type is left to whoever checks types.
    """
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if isinstance(value, bool) or (isinstance(value, str) and match is None):
        raise ValueError(f"{value!r} is not a duration; use seconds or text such as 30s, 15m, 2h")
    found = float(match[1]) * _SECONDS[(match[2] or "s").lower()] if match else value
    if isinstance(found, int | float) and not found <= _LONGEST:  # nor is it infinite, or no number
        raise ValueError("the longest duration is 36500d")
    return found
