"""Every figure; each alternates samples of both ways."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from orchestrator.system.machine import LocalMachine
from tests.benchmarks import apps, contexts, floods, grid, pages, parked, records, screens, start_up
from tests.benchmarks.classic import Classic, Commands
from tests.benchmarks.measure import Figure, elapsed, in_turns, pss
from tests.benchmarks.server import Server
from tests.e2e.seeing.conformance import lack, name_cases, role_cases
from tests.servers.site import Site

LENGTHS = (1_000, 5_000)
USERS = ("ann", "bob", "cas", "dan")
_TYPED = ("12 Long Acre, WC2", "7 Rue du Bac, Paris")
_TEXT = "return document.body.innerText"


class Bench:
    """A benchmark run: a site, a folder, and the number of samples of each figure."""

    def __init__(self, site: Site, folder: Path, rounds: int) -> None:
        self._site = site
        self._folder = folder
        self._rounds = rounds
        pages.put(site, LENGTHS)

    def figures(self) -> Iterator[Figure]:
        """Yield every figure as soon as it is measured."""
        yield from start_up.figures(self._folder / "first", self._few())
        with ExitStack() as stack:
            server = stack.enter_context(Server(self._folder / "home"))
            yield from self._without_session(server)
            ours = {user: Ours(server, user, self._site) for user in USERS}
            classic = {user: stack.enter_context(Classic()) for user in USERS}
            one, other = ours[USERS[0]], classic[USERS[0]]
            yield from self._click(one, other)
            yield from self._set_value(one, other)
            yield from self._login(one, other)
            yield from self._side_by_side(server, list(ours.values()), list(classic.values()))
            yield from self._outlines(one, other)
            yield from self._conformance(one)
            yield from self._share(one, other)
        yield from self.firefox()
        yield from floods.figures(self._folder / "floods", self._few())
        yield from parked.figures(self._site, self._folder / "parked", self._few())
        yield from records.figures(self._folder, self._rounds)
        yield from screens.figures(self._rounds)
        yield from self._apps()
        yield from grid.figures(self._site, self._folder / "grid", max(3, self._rounds // 10))
        yield from self._session_start()
        yield from contexts.figures(self._site, self._folder / "contexts", self._few())

    def _apps(self) -> Iterator[Figure]:
        phones = apps.phones()
        if phones is not None:
            with phones, Server(self._folder / "apps", appium_url=phones.url) as server:
                yield from apps.figures(server, phones.url, self._few())

    def _few(self, least: int = 3) -> int:
        """The number of samples of a slow figure."""
        return max(least, self._rounds // 5)

    def _click(self, ours: Ours, classic: Commands, goal: float = 0.7) -> Iterator[Figure]:
        ours.open(pages.BUTTON)
        classic.open(self._site.url(pages.BUTTON))
        mine, theirs = in_turns(
            self._rounds,
            lambda: elapsed(lambda: ours.call("click_element", selector="#send", observe="none")),
            lambda: elapsed(lambda: classic.click("#send")),
        )
        _same(ours.call("execute_script", script="return sent")["value"], classic.script("return sent"))
        yield Figure("click_element, observe none (find, click)", mine, theirs, goal)

    def _set_value(self, ours: Ours, classic: Commands, goal: float = 0.4) -> Iterator[Figure]:
        ours.open(pages.FIELD)
        classic.open(self._site.url(pages.FIELD))
        texts = [text for _ in range(self._rounds + 2) for text in _TYPED]
        left, right = iter(texts), iter(texts)
        mine, theirs = in_turns(
            self._rounds,
            lambda: elapsed(lambda: ours.call("set_value", selector="#address", value=next(left))),
            lambda: elapsed(lambda: classic.fill("#address", next(right))),
        )
        held = "return document.querySelector('#address').value"
        _same(ours.call("execute_script", script=held)["value"], classic.script(held))
        yield Figure("set_value (find, clear, send keys)", mine, theirs, goal)

    def _login(self, ours: Ours, classic: Commands, goal: float = 0.5, whole: float | None = 1.2) -> Iterator[Figure]:
        mine, theirs = in_turns(self._rounds, partial(_our_login, ours), partial(_classic_login, classic, self._site))
        yield Figure("login, stabilityWaitMs taken off", [took - wait for took, wait in mine], theirs, goal)
        yield Figure("login, whole", [took for took, _ in mine], theirs, whole)

    def firefox(self) -> Iterator[Figure]:
        """Yield the figures of Firefox: its own bare protocol at the same session; nothing if it is not here."""
        here = LocalMachine.this()
        if not here.browser("firefox") or not here.program("geckodriver"):
            print("Firefox is not here: make firefox", file=sys.stderr)
            return
        with Server(self._folder / "firefox") as server:
            ours = Ours(server, "fox", self._site, browser="firefox")
            [row] = server.call("list_sessions")["sessions"]
            bare = Commands(urlsplit(row["remoteUrl"]).port or 80, row["remoteSessionId"])
            figures = chain(
                self._click(ours, bare, 0.6),
                self._set_value(ours, bare, 1.0),
                self._login(ours, bare, 0.8, None),
                self._outline(ours),
            )
            for figure in figures:
                yield replace(figure, name=f"Firefox: {figure.name}")
            bare.close()

    def _outline(self, ours: Ours) -> Iterator[Figure]:
        ours.open(pages.rows(LENGTHS[0]))
        call = partial(ours.call, "get_visible_elements", scope="page", limit=1_000_000)
        took = [elapsed(call) for _ in range(self._few() + 1)][1:]
        yield Figure(f"outline of {LENGTHS[0]:,} rows", took, (), 100)

    def _side_by_side(self, server: Server, ours: list[Ours], classic: list[Classic]) -> Iterator[Figure]:
        sequences = [{"sessionIds": [one.name for one in ours], "actions": pages.SIGN_IN}]

        def all_ours() -> tuple[float, float]:
            for one in ours:
                one.open(pages.LOGIN)
            answers: list[dict[str, Any]] = []
            whole = elapsed(lambda: answers.append(server.call("execute_parallel", sequences=sequences)))
            return whole, min(result["stabilityWaitMs"] for result in answers[0]["results"].values())

        def all_classic() -> float:
            for one in classic:
                one.open(self._site.url(pages.LOGIN))
            return elapsed(lambda: list(threads.map(_sign_in, classic)))

        with ThreadPoolExecutor(len(classic)) as threads:
            mine, theirs = in_turns(self._rounds, all_ours, all_classic)
        without = [whole - wait for whole, wait in mine]
        yield Figure("four logins side by side, shortest wait taken off", without, theirs, 0.6)
        yield Figure("four logins side by side, whole", [whole for whole, _ in mine], theirs, 1.0)

    def _outlines(self, ours: Ours, classic: Commands) -> Iterator[Figure]:
        found = []
        for count in LENGTHS:
            ours.open(pages.rows(count))
            classic.open(self._site.url(pages.rows(count)))
            mine, theirs = in_turns(
                self._few(),
                lambda: elapsed(lambda: ours.call("get_visible_elements", scope="page", limit=1_000_000)),
                lambda: elapsed(lambda: classic.script(_TEXT)),
                warm_up=1,
            )
            found.append((mine, theirs))
            yield Figure(f"outline of {count:,} rows (innerText)", mine, theirs, 10)
        (short, short_text), (long, long_text) = found
        times = LENGTHS[1] / LENGTHS[0]
        growth = statistics.median(long) / statistics.median(short) / times
        text_growth = statistics.median(long_text) / statistics.median(short_text) / times
        yield Figure("outline, growth against the rows' (1: linear)", [growth], (), 1.2, "x")
        yield Figure("innerText, growth against the rows'", [text_growth], (), None, "x")

    def _conformance(self, ours: Ours) -> Iterator[Figure]:
        if lack() is None:
            for name, cases, goal in (
                ("names of WPT", name_cases(ours.call, self._site), 8),
                ("roles of axe-core", role_cases(ours.call, self._site), 0),
            ):
                wrong = sum(not case.is_right for case in cases)
                yield Figure(f"{len(cases)} {name}: wrong", [wrong], (), goal, "")

    def _share(self, ours: Ours, classic: Commands) -> Iterator[Figure]:
        ours.open(pages.TINY)
        classic.open(self._site.url(pages.TINY))
        mine, theirs = in_turns(
            self._rounds * 3,
            lambda: elapsed(lambda: ours.call("get_text")),
            lambda: elapsed(lambda: classic.script(_TEXT)),
        )
        yield Figure("get_text of a tiny page (script)", mine, theirs)
        share = [whole - script for whole, script in zip(mine, theirs, strict=True)]
        yield Figure("a call's own share: get_text less the script", share, (), 4)

    def _without_session(self, server: Server) -> Iterator[Figure]:
        calls = [elapsed(lambda: server.call("list_sessions")) for _ in range(self._rounds * 3 + 5)][5:]
        yield Figure("a call's own share: list_sessions, none open", calls, (), 4)

    def _session_start(self) -> Iterator[Figure]:
        memory: list[tuple[float, float]] = []
        with_bidi: list[float] = []

        def our_start() -> float:
            took = elapsed(lambda: server.call("start_browser", sessionId="one"))
            server.call("navigate", url=login, sessionId="one")
            memory.append((pss(server.process.children(recursive=True)), 0.0))
            server.call("close_session", sessionId="one")
            return took

        def classic_start() -> float:
            began = time.perf_counter()
            with Classic(bidi=True):
                with_bidi.append((time.perf_counter() - began) * 1000)
            began = time.perf_counter()
            with Classic() as classic:
                took = (time.perf_counter() - began) * 1000
                classic.open(login)
                memory[-1] = (memory[-1][0], pss(classic.processes()))
            return took

        login = self._site.url(pages.LOGIN)
        with Server(self._folder / "start") as server:
            own = pss([server.process])
            mine, theirs = in_turns(self._few(), our_start, classic_start, warm_up=1)
        yield Figure("start of a session (New Session without BiDi)", mine, theirs)
        yield Figure("start of a session (New Session with BiDi)", mine, with_bidi[1:], 1.15)
        ours, classic = zip(*memory[1:], strict=True)
        if own:
            yield Figure("memory of a session with a page (PSS)", ours, classic, None, "MB")
            yield Figure("memory of the server itself (PSS)", [own], (), None, "MB")


class Ours:
    """A session of our server."""

    def __init__(self, server: Server, name: str, site: Site, **start: str) -> None:
        self._server = server
        self._site = site
        self.name = name
        server.call("start_browser", sessionId=name, **start)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool in the session."""
        return self._server.call(tool, sessionId=self.name, **arguments)

    def open(self, path: str) -> None:
        """Go to a page of the site."""
        self.call("navigate", url=self._site.url(path))


def _our_login(ours: Ours) -> tuple[float, float]:
    """Return the duration in ms, and the part of it spent waiting for the page to settle."""
    ours.open(pages.LOGIN)
    answers: list[dict[str, Any]] = []
    whole = elapsed(lambda: answers.append(ours.call("execute_sequence", actions=pages.SIGN_IN)))
    _same(answers[0]["completed"], len(pages.SIGN_IN))
    return whole, float(answers[0]["stabilityWaitMs"])


def _classic_login(classic: Commands, site: Site) -> float:
    classic.open(site.url(pages.LOGIN))
    return elapsed(lambda: _sign_in(classic))


def _sign_in(classic: Commands) -> None:
    classic.fill("#name", "alice")
    classic.fill("#password", "correct horse")
    classic.click("#go")
    classic.await_text("#welcome", pages.WELCOME)


def _same(mine: object, theirs: object) -> None:
    """Fail unless both ways had the same effect."""
    if mine != theirs:
        raise RuntimeError(f"The ways came to different ends: {mine!r} and {theirs!r}.")
