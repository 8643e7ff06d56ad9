"""A short run of `tests.long.kills`: each kind of part is killed once, while four sessions are at work."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Home
from tests.long.kills import VICTIMS, Crash

KILLS = len(VICTIMS)
SEED = 2026

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.timeout(600)]


def test_random_kills_leave_consistent_records_and_nothing_running(home: Home) -> None:  # B30 O12
    """Living sessions answer, lost ones report it, records are true, and in the end nothing is left."""
    with Crash(home.folder, SEED) as crash:
        crash.run(KILLS)
    assert sum(crash.killed.values()) == KILLS
