"""Figures of flows through applications of others: calls, and bytes of what a model reads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Figure
from tests.e2e.flows.flows import FLOWS
from tests.servers.applications import missing
from tests.servers.mcp import served


def figures(folder: Path) -> Iterator[Figure]:
    """Do each flow once; nothing if the applications are not installed."""
    if lack := missing():
        print(lack, file=sys.stderr)
        return
    for number, flow in enumerate(FLOWS):
        with served(home=str(folder / f"flow-{number}")) as server:
            agent = flow.run(server)
        yield Figure(f"{flow.name}: calls", [agent.calls], (), flow.calls, "")
        yield Figure(f"{flow.name}: bytes of answers", [agent.size], (), flow.size, "B")
