"""Figures of commands in a shell: a whole `orchestrator click`, beside the click in a process that is loaded."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from orchestrator import sync
from orchestrator.settings import Settings
from tests.benchmarks.measure import Figure, elapsed, in_turns
from tests.servers.site import Site

_NAMESPACE = "bench"
_CLICK = "text=Save"
_LEAST = 10
_GOAL = 350
"""Milliseconds that a command may cost beside its action."""


def figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """Measure both in turns, on one session: the difference is what a command costs beside its action."""
    home = folder / "shell"
    home.mkdir()
    environment = {**os.environ, "ORCHESTRATOR_HOME": str(home), "ORCHESTRATOR_NAMESPACE": _NAMESPACE}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def command(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "orchestrator", *words], env=environment, check=True, capture_output=True)

    def processor_time() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command("click", _CLICK, "-s", "one")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000

    with Site() as site, sync.Orchestrator(Settings(home=home, namespace=_NAMESPACE), park_on_exit=True) as loaded:
        session = loaded.start_browser("one", navigation_url=site.page("/", "<button>Save</button>"))
        ours, action = in_turns(
            max(_LEAST, rounds),
            lambda: elapsed(lambda: command("click", _CLICK, "-s", "one")),
            lambda: elapsed(lambda: session.click_element(_CLICK)),
            warm_up=1,
        )
        yield Figure("orchestrator click (the click in a loaded process)", ours, action)
        beside = [whole - alone for whole, alone in zip(ours, action, strict=True)]
        yield Figure("orchestrator click, without its action", beside, goal=_GOAL)
        yield Figure("orchestrator click, processor time", [processor_time() for _ in range(_LEAST)])
        session.close()
