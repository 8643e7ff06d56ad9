"""Compares a page as a signed-in customer and as a guest see it.

Run it with `.venv/bin/python examples/logged_in_and_out/main.py`.
"""

from __future__ import annotations

import asyncio
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from orchestrator import Orchestrator


class Pages(SimpleHTTPRequestHandler):
    """Serves the files of this folder, without logging."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=str(Path(__file__).parent))

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


async def compare(url: str) -> None:
    """Sign in in one of two sessions, then compare both."""
    async with Orchestrator() as orchestrator:
        ann = await orchestrator.start_browser("ann", navigation_url=url)
        await orchestrator.start_browser("guest", navigation_url=url)
        await ann.set_value("label=Name", "Ann", submit=True)

        # The time at the foot of the page always differs: ignore it.
        text = await orchestrator.compare_sessions(["ann", "guest"], "text", ignore=["time"])
        for difference in text.differences:
            print("Only Ann sees:", difference.missing)
            print("Only a guest sees:", difference.added)

        picture = await orchestrator.compare_sessions(["ann", "guest"], "screenshot", ignore=["time"])
        for difference in picture.differences:
            print(f"Pixels that differ: {difference.ratio:.1%}, in red in {difference.path}")


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as shop:
        threading.Thread(target=shop.serve_forever, daemon=True).start()
        asyncio.run(compare(f"http://127.0.0.1:{shop.server_port}/shop.html"))
        shop.shutdown()
