"""The cost of a context in a running browser, compared with a browser of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks import pages
from tests.benchmarks.measure import Figure, elapsed, in_turns, pss
from tests.benchmarks.server import Server
from tests.servers.site import Site


def figures(site: Site, folder: Path, rounds: int) -> Iterator[Figure]:
    """Start time and memory of each, with a page open; all of them stay open until the end."""
    names = itertools.count()
    with Server(folder) as server:

        def start(begins: str) -> tuple[float, float]:
            name = f"{begins}{next(names)}"
            before = pss(server.process.children(recursive=True))
            took = elapsed(lambda: server.call("start_browser", sessionId=name))
            server.call("navigate", url=site.url(pages.LOGIN), sessionId=name)
            used = pss(server.process.children(recursive=True)) - before
            server.call("close_session", sessionId=name)
            return took, used

        server.call("start_browser", sessionId="shop")
        ours, theirs = in_turns(rounds, partial(start, "shop:c"), partial(start, "own"))
    (took, used), (their_took, their_used) = zip(*ours, strict=True), zip(*theirs, strict=True)
    yield Figure("start of a context (a browser of its own)", took, their_took, 0.5)
    if any(their_used):
        yield Figure("memory of a context with a page (PSS)", used, their_used, 0.5, "MB")
