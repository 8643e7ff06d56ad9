"""Compares our server with the classic way in one run.

Usage: `python tests/benchmarks/run.py [--start-up | --shell] [--rounds N] [--json FILE]`
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks import shell, start_up
from tests.benchmarks.figures import Bench
from tests.benchmarks.measure import Figure, table
from tests.servers.site import Site


def main() -> None:
    """Measure every figure, print the table, and write it to a file if requested."""
    options = _options()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, Site() as site:
        place = Path(folder)
        everything = Bench(site, place, options.rounds).figures()
        if options.start_up or options.shell:
            everything = (start_up if options.start_up else shell).figures(place, options.rounds)
        for figure in everything:
            figures.append(figure)
            print(f"{figure.name}: {' · '.join(filter(None, figure.cells()[1:]))}", file=sys.stderr, flush=True)
    print(table(figures))
    if options.json:
        facts = {"rounds": options.rounds, "cores": os.cpu_count(), "platform": platform.platform()}
        written = {**facts, "figures": [figure.data() for figure in figures]}
        options.json.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures us against raw W3C calls, both in one run.")
    parser.add_argument("--rounds", type=int, default=30, help="samples of each way; slow figures take fewer (30)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to this file, too")
    parser.add_argument("--shell", action="store_true", help="measure only what a command of the shell costs")
    parser.add_argument("--start-up", action="store_true", help="measure only how fast the server starts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
