"""The cost of an app screen's outline on top of fetching its page source: both through one remote end, in turns."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.snapshot.methods import SNAPSHOT
from orchestrator.snapshot.native.screen import Screen
from orchestrator.webdriver.remote import Remote
from tests.benchmarks.measure import Figure, elapsed, in_turns
from tests.snapshot.native.phone import long_list, phone
from tests.snapshot.web.chromium import Numbers

NODES = 2_000
_GOAL = 150


def figures(rounds: int) -> Iterator[Figure]:
    """The outline of a new screen, and its elements with a unique selector each."""
    with phone() as device:
        for platform in ("ios", "android"):
            device.show(long_list(platform, NODES))
            remote = Remote(f"http://127.0.0.1:{device.server_port}", "1", name=platform, timeout=10)
            yield _share("outline", remote, rounds, json=False)
            yield _share("elements with selectors", remote, rounds, json=True)


def _share(what: str, remote: Remote, rounds: int, *, json: bool) -> Figure:
    def look() -> None:
        Screen(remote, remote.name, Numbers()).call(SNAPSHOT, scope="page", json=json)

    mine, theirs = in_turns(rounds, lambda: elapsed(look), lambda: elapsed(lambda: remote.execute("getPageSource")))
    share = [whole - fetch for whole, fetch in zip(mine, theirs, strict=True)]
    return Figure(f"{what} of {NODES:,} nodes, {remote.name}, less Get Page Source", share, (), _GOAL)
