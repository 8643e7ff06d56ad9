"""Figures of a server's start: from the process to its list of tools, beside a bare server of the same SDK."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks import bare_server
from tests.benchmarks.measure import Figure, in_turns
from tests.benchmarks.server import OURS, Server

_BARE = (sys.executable, str(bare_server.__file__))
_LEAST = 10


def figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """Measure both in turns: wall clock, and processor time, which depends less on the machine's load."""
    ours, bare = in_turns(
        max(_LEAST, rounds), partial(_list_tools, folder, OURS), partial(_list_tools, folder, _BARE), warm_up=1
    )
    for place, clock in enumerate(("wall clock", "processor time")):
        name = f"server start to tools/list, {clock} (bare SDK server)"
        yield Figure(name, [one[place] for one in ours], [one[place] for one in bare], 1.25)
    calls = [_call_tool(folder) for _ in range(_LEAST + 1)][1:]
    yield Figure("server start to tools/list and a first call", calls)


def _list_tools(folder: Path, command: tuple[str, ...]) -> tuple[float, float]:
    """Start a server and list its tools; return the milliseconds of wall clock and of processor time."""
    began = time.perf_counter()
    with Server(folder, command=command) as server:
        server.ask("tools/list")
        wall = time.perf_counter() - began
        times = server.process.cpu_times()
        return wall * 1000, (times.user + times.system) * 1000


def _call_tool(folder: Path) -> float:
    began = time.perf_counter()
    with Server(folder) as server:
        server.ask("tools/list")
        server.call("list_sessions")
        return (time.perf_counter() - began) * 1000
