"""The error of reported latencies, by the stamps of a server with a known delay; one user's clock is 5 s ahead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Figure
from tests.e2e.execution.test_latency import CLOSE, Users, chatting, send_and_time, true_latency
from tests.servers.clock import missing

_DELAYS = (50, 300, 1_000)


def figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """Measure the largest error at each delay; nothing without a compiler for the clock."""
    if lack := missing():
        print(lack, file=sys.stderr)
        return
    folder.mkdir()
    with chatting(folder) as users:
        for delay in _DELAYS:
            users.chat.delay = delay
            errors, widths = zip(*(_compare(users) for _ in range(1 + rounds)), strict=True)
            name = f"latency reported at a delay of {delay:,} ms"
            yield Figure(f"{name}, largest error of {rounds}", [max(errors[1:])], (), CLOSE)
            yield Figure(f"{name}, within which the server knows the true one", widths[1:])


def _compare(users: Users) -> tuple[float, float]:
    """Return the milliseconds by which a latency misses what the server saw, and those that the server leaves open."""
    latency = send_and_time(users)
    least, most = true_latency(users)
    return max(0.0, least - latency.latency_ms, latency.latency_ms - most), most - least
