"""Durations as people write them: seconds, or text such as `30m`."""

from __future__ import annotations

import re
from typing import Any

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 36_500 * 86_400.0
"""Longest duration, in seconds: any time plus this can still be written as a date."""


def parse_duration(value: Any) -> Any:
    """Read a duration in seconds, from a number or from text such as `30m`, `1.5h` or `500ms`.

    A value of another type is returned unchanged, for pydantic to refuse.

    Raises:
        ValueError: It is not a duration, or too long.
    """
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if isinstance(value, bool) or (isinstance(value, str) and match is None):
        raise ValueError(f"{value!r} is not a duration; use seconds or text such as 30s, 15m, 2h")
    seconds = float(match[1]) * _SECONDS[(match[2] or "s").lower()] if match else value
    if isinstance(seconds, int | float) and not seconds <= _LONGEST:  # `not <=` refuses NaN, too
        raise ValueError("the longest duration is 36500d")
    return seconds
