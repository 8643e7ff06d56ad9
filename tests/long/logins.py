"""Logs in again and again, four users at a time: each session must show its own user, and no other.

`python -m tests.long.logins [--logins N] [--seed N] [--browser firefox]`: the form comes late, and so does the answer.
The seed determines names, selectors and delays.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.long.by_hand import run_by_hand
from tests.servers.mcp import Served, served
from tests.servers.site import Site, Visit

SESSIONS = ("ann", "ben", "cleo", "dan")
MOST_DELAY = 400
"""Maximum delay of the form and the answer, in ms."""
PAGE = """<!doctype html><title>Log in</title><main></main>
<script>
const wanted = new URLSearchParams(location.search);
const draw = () => {
  document.querySelector('main').innerHTML = `<form><label>Name <input name=name data-testid=name></label>
    <label>Password <input type=password name=password></label><button id=go>Log in</button></form>`;
  document.querySelector('form').onsubmit = async (event) => {
    event.preventDefault();
    const sent = new FormData(event.target);
    document.querySelector('main').innerHTML = '<p aria-busy=true>One moment …</p>';
    const answer = await fetch('/login', {method: 'POST', body: JSON.stringify({
      ...Object.fromEntries(sent), delay: wanted.get('delay')})});
    document.querySelector('main').innerHTML = `<h1>${await answer.text()}</h1><button>Log out</button>`;
    document.querySelector('button').onclick = () => location.reload();
  };
};
setTimeout(draw, Number(wanted.get('late')));
</script>"""
NAMES = ("label=Name", "testid=name", "input[name=name]", 'textbox "Name"')
BUTTONS = ("role=button[name=Log in]", "#go", 'button "Log in"', "text=Log in")


class Logins:
    """A server with four sessions, and the logins so far."""

    def __init__(self, server: Served, site: Site, seed: int, browser: str) -> None:
        self.seed = seed
        self._browser = browser
        self.done = 0
        self._server = server
        self._random = random.Random(seed)  # noqa: S311 — chance, no secret
        site.page("/login", self._answer)
        self._page = site.page("/", PAGE)

    def run(self, logins: int) -> None:
        """Log in this often, four users side by side."""
        for name in SESSIONS:
            self._server.ok("start_browser", sessionId=name, browser=self._browser)
        while self.done < logins:
            users = {name: f"{name} {self.done + number}" for number, name in enumerate(SESSIONS)}
            parts = [{"sessionId": name, "actions": self._steps(user)} for name, user in users.items()]
            results = self._server.ok("execute_parallel", sequences=parts)["results"]
            for name, user in users.items():
                assert "failed" not in results[name], f"{user}: {results[name]['failed']}"
                shown = self._server.ok("get_text", sessionId=name)["text"]
                assert shown.splitlines()[0] == f"Welcome, {user}", f"{user} sees {shown!r}"
            self.done += len(SESSIONS)
        self._server.ok("close_all_sessions")

    def _steps(self, user: str) -> list[dict[str, Any]]:
        late, delay = self._random.randrange(MOST_DELAY), self._random.randrange(MOST_DELAY)
        return [
            {"action": "navigate", "url": f"{self._page}?late={late}&delay={delay}"},
            {"action": "set_value", "selector": self._random.choice(NAMES), "value": user},
            {"action": "set_value", "selector": "label=Password", "value": "open sesame"},
            {"action": "click_element", "selector": self._random.choice(BUTTONS)},
            {"action": "expect", "selector": "h1", "text": f"Welcome, {user}"},
        ]

    def _answer(self, visit: Visit) -> str:
        sent = json.loads(visit.body)
        time.sleep(int(sent["delay"]) / 1000)  # the slow answer is intended
        return f"Welcome, {sent['name']}" if sent["password"] == "open sesame" else "Wrong password"

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.done} logins of {len(SESSIONS)} users side by side, each saw its own page"


@contextmanager
def logins(folder: Path, seed: int, browser: str = "chrome") -> Iterator[Logins]:
    """Start the server and the site."""
    with Site() as site, served(home=str(folder / "home"), namespace="logins") as server:
        yield Logins(server, site, seed, browser)


if __name__ == "__main__":
    run_by_hand(logins, "logins", 200, "Logs in again and again, four users at a time.", ("chrome", "firefox"))
