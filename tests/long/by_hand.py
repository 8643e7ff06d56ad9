"""The command line of the long runs: number of repetitions, seed, and summary."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol


class LongRun(Protocol):
    """A run that can be repeated by its seed; its text is a summary."""

    def run(self, times: int, /) -> None:
        """Run this often."""
        ...


def run_by_hand(
    start: Callable[[Path, int], AbstractContextManager[LongRun]], what: str, default: int, description: str
) -> None:
    """Read `--WHAT N` and `--seed N`, run in a home of its own, and print the summary."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(f"--{what}", dest="times", type=int, default=default)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="wc-", ignore_cleanup_errors=True) as folder:
        with start(Path(folder), options.seed) as run:
            run.run(options.times)
        print(run)
