"""Times between users: measured in their pages, right whatever their clocks say; orders of steps by a seed."""

from __future__ import annotations

import shlex
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator import sync
from orchestrator.errors import ExpectationFailed, InvalidArgument
from orchestrator.execution.timing import Latency
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine, needed_switches
from tests.e2e.harness import NAMESPACE, Home
from tests.servers.clock import SOURCE, missing
from tests.servers.site import Site, Visit
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.full

PATIENCE_MS = 30_000
AHEAD = 5
"""Seconds by which the clock of one user is ahead."""
CLOSE = 15
"""Milliseconds by which a reported latency may miss the true one."""

SEED = 2
"""A seed whose order has no race."""

SENDER = """<title>sender</title><button onclick="
  const age = performance.now() - event.timeStamp;
  fetch(`/send?age=${age}`).then(() => { trip = performance.now() - event.timeStamp; });
">Send</button><a href=/send-and-go>Go</a>"""
READER = """<title>reader</title><ul></ul><p>never</p><script>(async () => {
  for (;;) {
    const text = await (await fetch('/next')).text();
    document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: text }));
    fetch('/shown');
  }
})()</script>"""


class SlowChat:
    """A chat with a known delay, which stamps what it receives, sends and hears to be shown."""

    def __init__(self, site: Site) -> None:
        self.delay = 0.0
        self.received = self.sent = self.shown = 0.0
        self.age = 0.0
        self._due: list[float] = []
        self._count = 0
        self._changed = threading.Condition()
        self._closed = False
        site.page("/send", self._send)
        site.page("/send-and-go", self._send)
        site.page("/next", self._next)
        site.page("/shown", self._show)
        self.sender, self.reader = site.page("/sender", SENDER), site.page("/reader", READER)

    def close(self) -> None:
        """Let those go who wait for a message."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _send(self, visit: Visit) -> str:
        with self._changed:
            self.received, self.age = visit.began, float(visit.query.get("age", 0))
            self._due.append(visit.began + self.delay / 1000)
            self._changed.notify_all()
        return "<title>sent</title>sent"

    def _next(self, visit: Visit) -> str:
        del visit
        with self._changed:
            self._changed.wait_for(lambda: self._due or self._closed, PATIENCE)
            if self._closed:
                return "closed"
            due = self._due.pop()
            self._count += 1
        time.sleep(max(0.0, due - time.monotonic()))
        self.sent = time.monotonic()
        return f"message {self._count}"

    def _show(self, visit: Visit) -> str:
        self.shown = visit.began
        return ""

    def wait_shown(self) -> None:
        """Wait until the reader has told that it shows the last message."""
        until(lambda: self.shown >= self.sent, "the shown message")


class Users:
    """Two users in browsers of their own; the clock of the second one is wrong."""

    def __init__(self, orchestrator: sync.Orchestrator, chat: SlowChat) -> None:
        self.orchestrator = orchestrator
        self.chat = chat
        self.count = 0

    def expectation(self, ms: int, of: str = "ann/send") -> dict[str, Any]:
        """The reader's step that expects the next message."""
        self.count += 1
        return {"action": "expect", "selector": f"text=message {self.count}", "within": {"ms": ms, "of": of}}


BRIEF = 200
"""Milliseconds that a reader's page gets to come to rest, which it never does: a request of it is always in flight."""
SEND = {"action": "click_element", "selector": "text=Send", "name": "send"}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    """The users, each on their page of the chat."""
    if lacking := missing():
        pytest.skip(lacking)
    with chatting(tmp_path_factory.mktemp("clock")) as users:
        yield users


@contextmanager
def chatting(folder: Path) -> Iterator[Users]:
    """Start both users, each on their page of a chat."""
    here = LocalMachine.this()
    chromium, driver = here.browser("chrome"), here.driver(here.browser("chrome"))
    late = {"binary": str(_late_browser(folder, chromium)), "args": ["--headless=new", *needed_switches(Settings())]}
    home = Home(folder)
    with Site() as site:
        chat = SlowChat(site)
        wanted = Settings(home=home.folder, namespace=NAMESPACE, edge_binary=chromium, msedgedriver=driver)
        with sync.Orchestrator(wanted) as orchestrator:
            orchestrator.start_browser("ann", navigation_url=chat.sender)
            browser = {"browserName": "chrome", "goog:chromeOptions": late}
            orchestrator.start_browser("ben", browser="edge", capabilities=browser, navigation_url=chat.reader)
            yield Users(orchestrator, chat)
            chat.close()


def _late_browser(folder: Path, chromium: Path | None) -> Path:
    """Write a program that starts Chromium with a clock which is ahead."""
    library, offset, program = folder / "stepped.so", folder / "offset", folder / "chromium"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
    offset.write_bytes(struct.pack("d", AHEAD))
    environ = f"LD_PRELOAD={shlex.quote(str(library))} CLOCK_OFFSET={shlex.quote(str(offset))}"
    program.write_text(f'#!/bin/sh\n{environ} exec {shlex.quote(str(chromium))} "$@"\n')
    program.chmod(0o755)
    return program


def send_and_time(users: Users) -> Latency:
    """Let Ann send a message, and Ben's page tell how long after her click it was there."""
    result = users.orchestrator.execute_sequence(
        [{"sessionId": "ann", **SEND}, {"sessionId": "ben", **users.expectation(PATIENCE_MS)}],
        stability_timeout_ms=BRIEF,
    )
    assert result.latencies is not None
    [latency] = result.latencies
    assert f"Step 1 was so {latency.latency_ms:.0f} ms after 'ann/send'" in "\n".join(result.lines())
    return latency


def true_latency(users: Users, measured_from: str = "event") -> tuple[float, float]:
    """Return the least and the most that the last latency can be, by the server's stamps of the same message."""
    chat = users.chat
    chat.wait_shown()
    if measured_from == "event":
        trip = users.orchestrator.session("ann").execute_script("return trip").value
    else:
        trip = 1000 * (chat.shown - chat.received)
    least = (chat.sent - chat.received) * 1000 + chat.age
    return least, (chat.shown - chat.received) * 1000 + trip


def check_latency(users: Users, latency: Latency, measured_from: str = "event") -> None:
    """Compare a latency with the server's stamps: what it adds on its way is no one's guess."""
    least, most = true_latency(users, measured_from)
    allowed = max(CLOSE, latency.uncertainty_ms)
    assert least - allowed <= latency.latency_ms <= most + allowed, (least, latency, most)
    assert latency.measured_from == measured_from


@pytest.mark.parametrize("delay", [50, 300, 1000])
def test_a_latency_is_right_although_a_users_clock_is_wrong(users: Users, delay: int) -> None:
    """Ben's page shows Ann's message as long after her click as the server held it back, and what is in between."""
    users.chat.delay = delay
    ann, ben = (users.orchestrator.session(name) for name in ("ann", "ben"))
    apart = ben.execute_script("return Date.now()").value - ann.execute_script("return Date.now()").value
    assert apart > (AHEAD - 1) * 1000
    latency = send_and_time(users)
    assert (latency.index, latency.of) == (1, "ann/send")
    check_latency(users, latency)


def test_repeated_parallel_runs_answer_percentiles(users: Users) -> None:
    """Nobody waits at a sync: her step waits until his page is watched. Each run's number stands in its steps."""
    users.chat.delay = 20
    first, users.count = users.count, users.count + 3
    result = users.orchestrator.execute_parallel(
        [
            {"sessionId": "ann", "actions": [SEND]},
            {
                "sessionId": "ben",
                "actions": [
                    {"action": "execute_script", "script": "return {{run}}"},
                    {
                        "action": "expect",
                        "selector": "li",
                        "count": first + 1,
                        "not": False,
                        "within": {"ms": PATIENCE_MS, "of": "ann/send"},
                    },
                    {"action": "execute_script", "script": "document.querySelector('li').remove()"},
                ],
            },
        ],
        repeat=3,
        verbose=True,
        stability_timeout_ms=BRIEF,
    )
    assert result.runs is not None
    assert result.runs["count"] == 3
    [(name, spread)] = result.runs["latencyMs"].items()
    assert name == "ben 1 after ann/send"
    assert 15 < spread["min"] <= spread["p50"] <= spread["p95"] <= spread["max"] < PATIENCE_MS
    assert result.results["ben"]["steps"][0]["result"]["value"] == 3
    assert f"Latency of {name}: " in "\n".join(result.lines())


def test_a_step_that_leads_to_a_new_document_is_timed_from_its_navigation(users: Users) -> None:
    """The click's own document is gone by then; the new one knows when its navigation began."""
    users.chat.delay = 200
    result = users.orchestrator.execute_sequence(
        [
            {"sessionId": "ann", "action": "click_element", "selector": "text=Go", "name": "go"},
            {"sessionId": "ben", **users.expectation(PATIENCE_MS, "go")},
        ],
        stability_timeout_ms=BRIEF,
    )
    assert result.latencies is not None
    check_latency(users, result.latencies[0], "document")
    users.orchestrator.session("ann").navigate(users.chat.sender)


def test_what_comes_too_late_or_not_after_the_step_says_so(users: Users) -> None:
    """Too late, with the true time; already so before; never so; each is its own sentence."""
    users.chat.delay = 300

    def send_and_expect(**expected: Any) -> None:
        expecting = {"sessionId": "ben", "action": "expect", "timeout": 500, **expected}
        users.orchestrator.execute_sequence([{"sessionId": "ann", **SEND}, expecting], stability_timeout_ms=BRIEF)

    too_late = r"It was so \d+ ms \(±\d+\) after 'ann/send', not within 100 ms"
    with pytest.raises(ExpectationFailed, match=too_late) as late:
        send_and_expect(**users.expectation(100), timeout=PATIENCE_MS)
    assert late.value.details["actual"]["latencyMs"] > 300 - CLOSE
    within = {"ms": 100, "of": "ann/send"}
    users.count += 2
    with pytest.raises(ExpectationFailed, match="It was already so before 'ann/send'"):
        send_and_expect(selector="p", text="never", within=within)
    with pytest.raises(ExpectationFailed, match="'p': text should be 'now' but is 'never'"):
        send_and_expect(selector="p", text="now", within=within)
    twice = [{"action": "get_text", "name": "a"}, {"action": "get_text", "name": "a"}]
    timed = {"action": "expect", "selector": "p", "within": {"ms": 1, "of": "a"}}
    with pytest.raises(InvalidArgument, match="Step 2: within: several steps are named 'a'"):
        users.orchestrator.execute_sequence([*twice, timed], session_id="ben")
    with pytest.raises(InvalidArgument, match="Step 0: within: step 'b' does not come before it"):
        users.orchestrator.execute_sequence([{**timed, "within": {"ms": 1, "of": "b"}, "name": "b"}], session_id="ben")


def test_a_race_is_found_by_an_order_of_steps_that_its_seed_brings_back(users: Users) -> None:
    """Two users read a number and write the next one: most orders of these steps lose one of both."""
    count = {"value": "0"}

    def counted(visit: Visit) -> str:
        count["value"] = visit.query.get("value", count["value"])
        return count["value"]

    with Site() as site:
        site.page("/count", counted)
        page = site.page("/counter", "<title>counter</title><output></output>")

        def steps(begin: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
            return [
                {"action": "navigate", "url": page},
                script(begin),
                {"action": "sync", "name": "begin"},
                script("seen = +await (await fetch('/count')).text()"),
                script("await fetch(`/count?value=${seen + 1}`)"),
                {"action": "sync", "name": "end"},
                *more,
            ]

        show = script("document.querySelector('output').value = await (await fetch('/count')).text()")
        both = {"action": "expect", "selector": "output", "text": "2", "timeout": 100}
        lists = [
            {"sessionId": "ann", "actions": steps("await fetch('/count?value=0')", show, both)},
            {"sessionId": "ben", "actions": steps("seen = 0")},
        ]
        run = users.orchestrator.execute_parallel
        with pytest.raises(ExpectationFailed, match=r"Order: .*ann 3.* Again: interleave") as found:
            run(lists, interleave={"seed": SEED, "tries": 20}, stability_timeout_ms=300)
        hint = found.value.hint
        seed = int(hint.partition('"seed": ')[2].partition(",")[0])
        assert seed > SEED, "an order that loses nothing came first"
        with pytest.raises(ExpectationFailed) as again:
            run(lists, interleave={"seed": seed, "tries": 1}, stability_timeout_ms=300)
        assert again.value.hint == hint
        passed = run(lists, interleave={"seed": SEED, "tries": 1}, stability_timeout_ms=300)
        assert passed.runs is not None
        assert passed.runs["seed"] == SEED
        with pytest.raises(InvalidArgument, match="Give only one of lockstep, repeat and interleave"):
            run(lists, interleave={"seed": seed}, repeat=2)
    ann, ben = (users.orchestrator.session(name) for name in ("ann", "ben"))
    ann.navigate(users.chat.sender)
    ben.navigate(users.chat.reader)


def script(text: str) -> dict[str, Any]:
    """Return a step that runs JavaScript."""
    return {"action": "execute_script", "script": text}
