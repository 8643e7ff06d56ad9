"""Calls over HTTP beside many recorded sessions: our own share of one, and what following a resource costs."""

from __future__ import annotations

import http.client
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from orchestrator.models.session import SessionState
from tests.benchmarks.classic import Commands
from tests.benchmarks.measure import Figure, elapsed
from tests.benchmarks.records import write_sessions
from tests.servers.http_mcp import MODERN, HttpServer, http_server, last_message, make_request

RECORDED = 1_000
NAMESPACE = "one"
LEAST_SAMPLES = 200
"""Samples of a call: a ninety-ninth percentile of fewer says nothing."""
WATCHED = 10.0
"""Seconds for which the server's processor time is taken."""
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Caller:
    """A client that keeps its connection, and speaks JSON-RPC by hand in the 2026 protocol."""

    def __init__(self, server: HttpServer, token: str) -> None:
        self._link = http.client.HTTPConnection(urlsplit(server.url).netloc)
        self._own = {**_HEADERS, "Authorization": f"Bearer {token}"}

    def begin(self, method: str, params: dict[str, Any]) -> http.client.HTTPResponse:
        """Send a request; returns the answer, which is still to be read."""
        named = {"Mcp-Name": params["name"]} if "name" in params else {}
        body = json.dumps(make_request(method, params))
        self._link.request("POST", "/mcp", body, {**self._own, **MODERN, "Mcp-Method": method, **named})
        return self._link.getresponse()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; returns its data."""
        answer = self.begin("tools/call", {"name": tool, "arguments": arguments})
        result = last_message(answer.read())["result"]
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content'][0]['text']}")
        data: dict[str, Any] = result["structuredContent"]
        return data

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


def figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """Call over HTTP in turns with the bare command at the driver; then follow a resource."""
    home = folder / "over-http"
    write_sessions(home, RECORDED, SessionState.PARKED, NAMESPACE, ())
    with http_server(home) as server, ExitStack() as stack:
        token = server.token("bench", calls_per_minute=1_000_000)
        caller = Caller(server, token)
        stack.callback(caller.close)
        caller.call("start_browser", sessionId="bench")
        stack.callback(server.call, token, "close_session", {"sessionId": "bench"})
        yield from _own_share(server, caller, max(rounds, LEAST_SAMPLES))
        yield from _following(server, token)


def _own_share(server: HttpServer, caller: Caller, rounds: int) -> Iterator[Figure]:
    [row] = [row for row in caller.call("list_sessions", prefix="bench")["sessions"] if row["sessionId"] == "bench"]
    driver = urlsplit(row["remoteUrl"])
    bare = Commands(driver.port or 0, row["remoteSessionId"], driver.path)
    process, ours, theirs = psutil.Process(server.process.pid), [], []
    before = sum(process.cpu_times()[:2])
    for _ in range(rounds + 5):
        ours.append(elapsed(lambda: caller.call("execute_script", sessionId="bench", script="return 1")))
        theirs.append(elapsed(lambda: bare.script("return 1")))
    taken = 1000 * (sum(process.cpu_times()[:2]) - before) / len(ours)
    bare.close()
    ours, theirs = ours[5:], theirs[5:]
    yield Figure(f"execute_script over HTTP beside {RECORDED:,} sessions", ours, theirs)
    own = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    yield Figure("own share of it, median", own, (), 5)
    yield Figure("own share of it, 99th percentile", [statistics.quantiles(own, n=100)[-1]], (), 50)
    yield Figure("processor time of the server for each of these calls", [taken])


def _following(server: HttpServer, token: str) -> Iterator[Figure]:
    """Yield the server's share of a processor while nobody calls, without and with a client that follows a resource."""
    process = psutil.Process(server.process.pid)
    quiet = _busy(process)
    follower = Caller(server, token)
    follower.begin("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["session://bench/outline"]}})
    followed = _busy(process)
    follower.close()
    yield Figure(f"a processor's share of a server at rest beside {RECORDED:,} sessions", [quiet], (), None, "%")
    yield Figure("the same while a client follows a resource", [followed], (), None, "%")


def _busy(process: psutil.Process) -> float:
    """Return the percentage of one processor that a process takes for a while."""
    began, before = time.monotonic(), sum(process.cpu_times()[:2])
    time.sleep(WATCHED)
    return 100 * (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - began)
