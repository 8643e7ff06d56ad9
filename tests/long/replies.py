"""Clicks whose replies come late and are drawn late, four sessions at a time: each result must have what was drawn.

`python -m tests.long.replies [--clicks N] [--seed N] [--browser firefox]`: the seed determines how the reply is read
and drawn, when it comes, and whether its head or only its body is late.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.long.by_hand import run_by_hand
from tests.servers.mcp import Served, served
from tests.servers.site import Gate, Reply, Site, Visit

SESSIONS = ("ann", "ben", "cleo", "dan")
DELAYS = (100, 2000)
"""The shortest and the longest time that a reply takes, in ms."""
STREAMED = 0.4
"""Share of that in which a body comes that is read as a stream: after a second it is not waited for any more."""
READS = {
    "json": "const found = await (await fetch(there)).json(); draw(found.left)",
    "text": "const text = await (await fetch(there)).text(); draw(JSON.parse(text).left)",
    "copy": "const found = await (await fetch(there)).clone().json(); draw(found.left)",
    "xhr": "const x = new XMLHttpRequest(); x.onload = () => draw(JSON.parse(x.response).left);"
    "x.open('GET', there); x.send()",
    "stream": "const reader = (await fetch(there)).body.getReader(); let text = ''; for (;;) {"
    "const {done, value} = await reader.read(); if (done) break; text += new TextDecoder().decode(value) }"
    "draw(JSON.parse(text).left)",
}
"""Scripts that read a reply."""
DRAWS = {
    "at once": "o.textContent = `left: ${n}`",
    "in the next frame": "requestAnimationFrame(() => { o.textContent = `left: ${n}` })",
    "a little later": "setTimeout(() => { o.textContent = `left: ${n}` }, 100)",
}
"""Scripts that draw what was read."""


def shelf(path: str, read: str, draw: str) -> str:
    """Return a page whose button reads the reply of a path in one way and draws it in another."""
    return (
        f"<button id=b>Look up</button><p id=o>nothing yet</p><script>const there = '{path}';"
        f"const draw = n => {{ {DRAWS[draw]} }}; b.onclick = async () => {{ {READS[read]} }}</script>"
    )


class Replies:
    """A server with four sessions, and the clicks so far."""

    def __init__(self, server: Served, site: Site, seed: int, browser: str) -> None:
        self.seed = seed
        self.done = 0
        self._browser = browser
        self._server = server
        self._site = site
        self._random = random.Random(seed)  # noqa: S311 — chance, no secret

    def run(self, clicks: int) -> None:
        """Click this often, in four sessions side by side."""
        for name in SESSIONS:
            self._server.ok("start_browser", sessionId=name, browser=self._browser)
        while self.done < clicks:
            asked = {name: self._show(name, self.done + number) for number, name in enumerate(SESSIONS)}
            running = {name: self._server.begin("click_element", sessionId=name, selector="#b") for name in SESSIONS}
            for number, name in enumerate(SESSIONS):
                change = running[name].result(60).data.get("stateChange", {}).get("changed")
                assert change == [f"text: left: {self.done + number}"], f"{asked[name]}: {change}"
            self.done += len(SESSIONS)
        self._server.ok("close_all_sessions")

    def _show(self, name: str, number: int) -> str:
        """Show a page in a session; return how its reply is read and drawn, and what of it is late."""
        read, draw = self._random.choice([*READS]), self._random.choice([*DRAWS])
        delay, late = self._random.randint(*DELAYS) / 1000, self._random.choice(["head", "body"])
        if (read, late) == ("stream", "body"):
            delay *= STREAMED

        def answer(_: Visit) -> Reply:
            body = f'{{"left": {number}}}'
            if late == "head":
                time.sleep(delay)  # the slow answer is intended
                return Reply(body, content_type="application/json")
            rest = Gate()
            threading.Timer(delay, rest.open).start()
            return Reply(body, content_type="application/json", rest=rest)

        self._site.page(f"/reply-{number}", answer)
        page = self._site.page(f"/page-{number}", shelf(f"/reply-{number}", read, draw))
        self._server.ok("navigate", sessionId=name, url=page)
        return f"{read}, {draw}, {late} after {delay} s"

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.done} clicks, each result had the late reply"


@contextmanager
def replies(folder: Path, seed: int, browser: str = "chrome") -> Iterator[Replies]:
    """Start the server and the site."""
    with Site() as site, served(home=str(folder / "home"), namespace="replies") as server:
        yield Replies(server, site, seed, browser)


if __name__ == "__main__":
    run_by_hand(replies, "clicks", 500, "Clicks whose replies come late, in four sessions.", ("chrome", "firefox"))
