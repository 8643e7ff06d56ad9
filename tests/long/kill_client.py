"""A client that works without pause, in a process that can be killed: `kill_client.py HOME TTL URL SESSION…`.

It works in its sessions side by side, restarts lost ones, and reports on its standard output: `server PID`,
`lost NAME`, `started NAME`, `restored NAME`, `round` after each round in which all answered, and `CODE NAME` for any
other failure; `asks TOOL NAME` comes before each call that looks after a failed one.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.server import Server

STEPS = [
    {"action": "set_value", "selector": "#name", "value": "Ann"},
    {"action": "click_element", "selector": "button"},
    {"action": "wait_for", "title": "Ann"},
    {"action": "navigate", "history": "reload"},
]
GONE = {"session_not_found", "no_session"}


def main(home: str, ttl: str, url: str, *names: str) -> None:
    """Work until the server or this process is gone."""
    server = Server(Path(home), park_ttl=ttl)
    say("server", str(server.process.pid))
    while True:
        part = {"sessionIds": names, "actions": STEPS}
        answer = server.ask("tools/call", name="execute_parallel", arguments={"sequences": [part]})
        results = answer["structuredContent"].get("results", {})
        wrong = [name for name in names if not settled(server, name, url, results.get(name, {}))]
        if not wrong:
            say("round", " ".join(names))


def settled(server: Server, name: str, url: str, result: dict[str, Any]) -> bool:
    """Return True if a session did its steps; restart a lost one."""
    if result.get("restored"):
        say("restored", name)
    if result and not code(result):
        return True
    say(code(result) or "unanswered", name)
    seen = call(server, "get_text", sessionId=name)
    if seen.get("restored"):
        say("restored", name)
    if code(seen) == "session_lost":
        say("lost", name)
        call(server, "close_session", sessionId=name)
    if code(seen) in {"session_lost", *GONE}:
        began = call(server, "start_browser", sessionId=name, navigationUrl=url)
        say(code(began) or "started", name)
    elif code(seen):
        say(code(seen), name)
    return False


def call(server: Server, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the data of a call, an error included."""
    say("asks", f"{tool} {arguments['sessionId']}")
    data: dict[str, Any] = server.ask("tools/call", name=tool, arguments=arguments)["structuredContent"]
    return data


def code(data: dict[str, Any]) -> str:
    """The code of an error; empty when it is none."""
    return str((data.get("error") or {}).get("code", ""))


def say(word: str, what: str) -> None:
    """Report to the parent process."""
    print(word, what, flush=True)


if __name__ == "__main__":
    with suppress(RuntimeError):  # its server is gone
        main(*sys.argv[1:])
