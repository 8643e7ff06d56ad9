"""The command line of the long runs: number of repetitions, seed, and summary."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tests.servers.geckodriver import GECKODRIVER


class LongRun(Protocol):
    """A run that can be repeated by its seed; its text is a summary."""

    def run(self, times: int, /) -> None:
        """Run this often."""
        ...


def run_by_hand(
    start: Callable[..., AbstractContextManager[LongRun]],
    what: str,
    default: int,
    description: str,
    browsers: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> None:
    """Read `--WHAT N` and `--seed N`, run in a home of its own, and print the summary.

    `start` gets the folder, the seed, one of `browsers`, if there are any (`--browser` chooses it), and the `sizes` by
    their names, each with an option and a default.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(f"--{what}", dest="times", type=int, default=default)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    if browsers:
        parser.add_argument("--browser", choices=browsers, default=browsers[0])
    for name, size in (sizes or {}).items():
        parser.add_argument(f"--{name}", type=int, default=size)
    options = parser.parse_args()
    os.environ["PATH"] += f"{os.pathsep}{GECKODRIVER}"
    chosen = [options.browser] if browsers else []
    chosen_sizes = {name: getattr(options, name) for name in sizes or {}}
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="wc-", ignore_cleanup_errors=True) as folder:
        with start(Path(folder), options.seed, *chosen, **chosen_sizes) as run:
            run.run(options.times)
        print(run)
