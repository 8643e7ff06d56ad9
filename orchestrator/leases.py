"""Until when a session lives that nobody looks after: what the store and the keeper decide alike.

The standard library alone: the keeper imports this. Fields have the names of `SessionRecord`, times are seconds since
the epoch. A lease begins when its caller went away, and it stands in the record: whoever finds it over may end the
session, in the transaction in which it looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STARTER_DIED = "the server that was starting it ended before it was ready"
NOBODY_CAME = "it was parked, and nobody came back to it in time"
NONE: dict[str, Any] = {"parked_at": None, "parked_until": None}
"""The fields of a session that somebody looks after."""


def begun(state: str, limits: Mapping[str, float], until: float | None, now: float) -> dict[str, Any]:
    """What changes in the record of a session whose caller is gone; a lease that runs already goes on."""
    fields: dict[str, Any] = {}
    if state == "starting":
        fields |= {"state": "lost", "lost_reason": STARTER_DIED}
    elif state == "active":
        fields |= {"state": "parked"}
    if until is None:
        fields |= {"parked_at": now, "parked_until": now + limits.get("park", 0)}
    return fields


def is_over(until: float | None, now: float) -> bool:
    """Whether a session's time without a caller is over."""
    return until is not None and until <= now
