"""Restoring a parked session, and what the keeper costs meanwhile."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psutil

from orchestrator.sessions.store import leases
from tests.benchmarks import pages
from tests.benchmarks.measure import Figure, elapsed
from tests.benchmarks.server import Server
from tests.servers.site import Site

_TTL = "60"
_REST = 10.0
"""Seconds for which the idle keeper is observed."""


def figures(site: Site, folder: Path, rounds: int) -> Iterator[Figure]:
    """Let one server after the other restore the same browser."""
    with Server(folder, park_ttl=_TTL) as server:
        server.call("start_browser", sessionId="one", navigationUrl=site.url(pages.LOGIN))
    answers: list[float] = []
    whole: list[float] = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        with Server(folder, park_ttl=_TTL) as server:
            _first(server)
            whole.append((time.perf_counter() - began) * 1000)
        with Server(folder, park_ttl=_TTL) as server:
            server.call("list_sessions")  # the first call waits until the server is loaded
            answers.append(elapsed(partial(_first, server)))
    keeper = _keeper(folder)
    began, before = time.monotonic(), sum(keeper.cpu_times()[:2])
    time.sleep(_REST)
    busy = (sum(keeper.cpu_times()[:2]) - before) / (time.monotonic() - began)
    memory = keeper.memory_info().rss / 1e6
    with Server(folder) as server:
        server.call("close_sessions", all=True)
    yield Figure("a parked session: from naming it to its first answer", answers[1:], (), 300)
    yield Figure("a parked session: from the server's start to its first answer", whole[1:])
    yield Figure("memory of the keeper (RSS)", [memory], (), 25, "MB")
    yield Figure("the keeper at rest, share of a processor", [busy * 100], (), 0.5, "%")


def _first(server: Server) -> None:
    if not server.call("get_text", sessionId="one").get("restored"):
        raise RuntimeError("The session was not parked.")


def _keeper(home: Path) -> psutil.Process:
    with closing(sqlite3.connect(home / "sessions.db")) as db:
        keeper = leases.keeper(db)
    if keeper is None:
        raise RuntimeError("There is no keeper.")
    return psutil.Process(keeper.pid)
