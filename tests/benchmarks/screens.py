"""What a screen of an app costs on top of fetching its page source: both through one remote end, in turns."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.snapshot.native.screen import Screen
from orchestrator.webdriver.remote import Remote
from tests.benchmarks.measure import Figure, elapsed, in_turns
from tests.snapshot.chromium import Numbers
from tests.snapshot.native.phone import long_list, phone

NODES = 2_000
_GOAL = 150


def figures(rounds: int) -> Iterator[Figure]:
    """The outline, and the elements with a unique selector each, of a screen that nothing is known of yet."""
    with phone() as device:
        for platform in ("ios", "android"):
            device.show(long_list(platform, NODES))
            remote = Remote(f"http://127.0.0.1:{device.server_port}", "1", name=platform, timeout=10)
            for what, json in (("outline", False), ("elements with selectors", True)):
                mine, theirs = in_turns(
                    rounds,
                    lambda json=json, platform=platform, remote=remote: elapsed(  # type: ignore[misc]
                        lambda: Screen(remote, platform, Numbers()).call("snapshot", scope="page", json=json)
                    ),
                    lambda remote=remote: elapsed(lambda: remote.execute("getPageSource")),  # type: ignore[misc]
                )
                share = [whole - fetch for whole, fetch in zip(mine, theirs, strict=True)]
                yield Figure(f"{what} of {NODES:,} nodes, {platform}, less Get Page Source", share, (), _GOAL)
