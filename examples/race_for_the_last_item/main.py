"""Tests for a race: two shoppers click Buy at the same moment, and the shop has one teapot.

Run it with `.venv/bin/python examples/race_for_the_last_item/main.py`.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from orchestrator.sync import Orchestrator

PAGE = Path(__file__).with_name("shop.html").read_bytes()
SHOPPERS = ("ann", "ben")


class Shop(BaseHTTPRequestHandler):
    """Serves the page, and sells the teapot to the first buyer."""

    teapots = 1
    counter = threading.Lock()

    def do_GET(self) -> None:
        """Send the page."""
        self.answer(PAGE)

    def do_POST(self) -> None:
        """Sell the teapot if it is left; without the lock both shoppers could buy it."""
        name = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.counter:
            sold, Shop.teapots = Shop.teapots > 0, max(Shop.teapots - 1, 0)
        self.answer(f"The teapot is yours, {name}.".encode() if sold else f"Sold out. Sorry, {name}.".encode())

    def answer(self, body: bytes) -> None:
        """Send this body."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def steps(name: str) -> list[dict[str, Any]]:
    """Return the steps of a shopper; at `sync` each waits for the other."""
    return [
        {"action": "set_value", "selector": "label=Your name", "value": name},
        {"action": "sync", "name": "ready to buy"},
        {"action": "click_element", "selector": "role=button[name=Buy]"},
        {"action": "expect", "selector": "role=status", "containsText": name},
    ]


def race(url: str) -> None:
    """Run both, and print who got the teapot."""
    with Orchestrator() as orchestrator:
        for name in SHOPPERS:
            orchestrator.start_browser(name, navigation_url=url)
        race = orchestrator.execute_parallel([{"session_id": name, "actions": steps(name)} for name in SHOPPERS])
        # The change of the page is part of a sequence's result: here, the message of the shop.
        messages = {name: race.results[name]["stateChange"]["appeared"][-1] for name in SHOPPERS}
        for name in SHOPPERS:
            print(f"{name} reads {messages[name]!r}")
        print("Who has the teapot:", [name for name in SHOPPERS if "is yours" in messages[name]])


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as shop:
        threading.Thread(target=shop.serve_forever, daemon=True).start()
        race(f"http://127.0.0.1:{shop.server_port}/")
        shop.shutdown()
