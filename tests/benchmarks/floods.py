"""The calls of a neighbour while the page of another session floods the server, beside those while it is quiet."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.benchmarks.measure import Figure, elapsed, in_turns
from tests.benchmarks.server import Server

FLOODS = {
    "console": "for (let i = 0; i < 200; i++) console.log('x'.repeat(200), i, {a: [i]})",
    "requests": "for (let i = 0; i < 20; i++) fetch('quiet.html?' + i)",
    "messages": "for (let i = 0; i < 200; i++) postMessage('x'.repeat(2000), '*')",
    "changes": "for (let i = 0; i < 200; i++) document.body.append(i, document.createElement('p'))",
    "dialogs": "alert('Once more')",
}
"""What a page does again and again, every ten milliseconds."""
_CALLS = 15
"""Calls of the neighbour in a sample, the first of them while the flood begins."""
_BESIDE = 1500
"""Milliseconds for which a call runs in the session with the flood."""
_GOAL = 2


def figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """Measure each flood in turns with a quiet page, in the same two sessions."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    (pages / "quiet.html").write_text("<title>Quiet</title><p>A few words.</p>", "utf-8")
    for name, script in FLOODS.items():
        flood = f"<title>Flood</title><p>A flood.</p><script>setInterval(() => {{{script}}}, 10)</script>"
        (pages / f"{name}.html").write_text(flood, "utf-8")
    with _serving(pages) as site, Server(folder / "home") as server:
        server.call("start_browser", sessionId="neighbour", navigationUrl=f"{site}/quiet.html")
        server.call("start_browser", sessionId="other")
        server.call("set_policy", sessionId="other", dialogs="accept")
        beside = partial(_calls_beside, server)
        for name in FLOODS:
            flooded, quiet = in_turns(
                rounds, partial(beside, f"{site}/{name}.html"), partial(beside, f"{site}/quiet.html"), warm_up=1
            )
            ours, theirs = ([call for calls in samples for call in calls] for samples in (flooded, quiet))
            yield Figure(f"get_text beside a flood of {name} (beside a quiet page)", ours, theirs, _GOAL)


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """Serve a folder from a process of its own, so that no flood of requests slows the process that measures."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        port = re.search(r"port (\d+)", process.stdout.readline())
        assert port
        yield f"http://127.0.0.1:{port[1]}"
    finally:
        process.terminate()
        process.wait()


def _calls_beside(server: Server, url: str) -> list[float]:
    """Return the times of the neighbour's calls while the other session waits on a page, which may hold its calls."""
    place = {"sessionId": "other", "url": url, "waitUntil": "none"}
    server.ask("tools/call", name="navigate", arguments=place)  # a dialog may hold it
    server.begin("wait_for", sessionId="other", text="nothing such", timeout=_BESIDE)
    return [elapsed(partial(server.call, "get_text", sessionId="neighbour")) for _ in range(_CALLS)]
