"""A short run of `tests.crash`: each kind of part is killed once, while four sessions are at work."""

from __future__ import annotations

import os
import random

import pytest

from tests.crash import VICTIMS, Crash
from tests.e2e.harness import Home

KILLS = int(os.environ.get("CRASH_KILLS", len(VICTIMS)))
SEED = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(10**6)))


@pytest.mark.timeout(60 * (KILLS + 5))
def test_kills_at_random_moments(home: Home, capsys: pytest.CaptureFixture[str]) -> None:  # B1 B30 B34 O12
    """Whatever is killed: what lives answers, what is lost is said to be, records are true, in the end all is gone."""
    with capsys.disabled():
        print(f"\ntests.crash: {KILLS} kills, seed {SEED}")
    with Crash(home.folder, SEED) as crash:
        crash.run(KILLS)
    assert sum(crash.killed.values()) == KILLS
