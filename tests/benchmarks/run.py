"""Compares our server with the classic way in one run.

Usage: `python tests/benchmarks/run.py [CHOICE] [--rounds N] [--json FILE]`; `--help` lists the choices.
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

from tests.benchmarks import flows, latencies, over_http, shell, start_up, testers
from tests.benchmarks.figures import Bench
from tests.benchmarks.measure import Figure, table
from tests.servers.geckodriver import GECKODRIVER
from tests.servers.site import Site


def main() -> None:
    """Measure every figure, print the table, and write it to a file if requested."""
    options = _options()
    os.environ["PATH"] += f"{os.pathsep}{GECKODRIVER}"
    if getattr(os, "geteuid", int)() == 0:
        # Chromium has no sandbox for root; each first answer would have the bytes of a warning of that.
        os.environ.setdefault("ORCHESTRATOR_SANDBOX", "off")
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, Site() as site:
        place = Path(folder)
        bench = Bench(site, place, options.rounds)
        everything = bench.firefox() if options.firefox else bench.figures()
        if options.start_up or options.shell:
            everything = (start_up if options.start_up else shell).figures(place, options.rounds)
        elif options.http:
            everything = over_http.figures(place, options.rounds)
        elif options.flows:
            everything = flows.figures(place)
        elif options.latency:
            everything = latencies.figures(place / "latency", options.rounds)
        elif options.pytest:
            everything = testers.figures(site, place / "pytest", options.rounds)
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
    parser.add_argument("--firefox", action="store_true", help="measure only Firefox against its own bare protocol")
    parser.add_argument("--http", action="store_true", help="measure only calls over HTTP, and following a resource")
    parser.add_argument("--flows", action="store_true", help="measure only flows through applications of others")
    parser.add_argument("--latency", action="store_true", help="measure only how right reported latencies are")
    parser.add_argument("--pytest", action="store_true", help="measure only what the pytest plug-in costs")
    parser.add_argument("--start-up", action="store_true", help="measure only how fast the server starts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
