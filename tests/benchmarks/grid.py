"""The cost of acting through a Selenium Grid, compared with bare selenium: time, and requests to the Grid."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from tests.benchmarks import pages
from tests.benchmarks.measure import Figure, elapsed, in_turns
from tests.benchmarks.server import Server
from tests.servers.grid import grid_end, missing
from tests.servers.site import Site
from tests.servers.webdriver import Relayed, relayed

_ANSWER, _KIND = "Long Acre", "Many"
_FORM: list[dict[str, Any]] = [
    *(
        step
        for number in range(1, pages.STEPS + 1)
        for step in (
            {"action": "expect", "title": f"Step {number}"},
            {"action": "set_value", "selector": "#answer", "value": _ANSWER},
            {"action": "select_option", "selector": "#kind", "values": [_KIND]},
            {"action": "click_element", "selector": "#next"},
        )
    ),
    {"action": "expect", "selector": "h1", "text": pages.DONE},
]


def figures(site: Site, folder: Path, rounds: int) -> Iterator[Figure]:
    """Signing in and a form of four steps; a message instead where no Grid can be started."""
    if lack := missing():
        print(f"No figures of Selenium Grid. {lack}", file=sys.stderr)
        return
    with grid_end(1, 2) as grid, Server(folder) as server, relayed(grid.port, Relayed()) as relay:
        for work in (
            _Work("login", site.url(pages.LOGIN), pages.SIGN_IN, _sign_in, (0.9, 1.2, 0.9)),
            _Work(f"form of {pages.STEPS} steps", site.url(pages.FORM), _FORM, _fill_in, (0.8, 1.0, 0.65)),
        ):
            yield from _of(work, server, grid.url, relay, rounds)


@dataclass(frozen=True)
class _Work:
    """A task as our steps and as selenium calls, with goals for action time, total time and requests."""

    name: str
    page: str
    steps: list[dict[str, Any]]
    by_hand: Callable[[webdriver.Remote], object]
    goals: tuple[float, float, float | None]


def _of(work: _Work, server: Server, url: str, relay: Relayed, rounds: int) -> Iterator[Figure]:
    ours, bare, name = _Ours(server, url, work.steps), _Bare(url, work.by_hand), f"{work.name} through a Grid"
    mine, theirs = in_turns(rounds, partial(ours.run, work.page), partial(bare.run, work.page), warm_up=1)
    without = [whole - wait for whole, wait in mine]
    yield Figure(f"{name}, stabilityWaitMs taken off (bare selenium)", without, theirs, work.goals[0])
    yield Figure(f"{name}, whole (bare selenium)", [whole for whole, _ in mine], theirs, work.goals[1])
    ours.close()
    bare.close()
    own = _requests(_Ours(server, relay.url, work.steps), work.page, relay)
    by_hand = _requests(_Bare(relay.url, work.by_hand), work.page, relay)
    yield Figure(f"{name}, requests to it (bare selenium)", [own], [by_hand], work.goals[2], "requests")


def _requests(way: _Ours | _Bare, page: str, relay: Relayed) -> float:
    """Count the Grid's requests for the task in a warmed-up session with the page open."""
    way.run(page)
    way.open(page)
    before = len(relay.requests)
    way.act()
    count = len(relay.requests) - before
    way.close()
    return float(count)


class _Ours:
    """Our session on the Grid, and the task's steps."""

    def __init__(self, server: Server, url: str, steps: list[dict[str, Any]]) -> None:
        self._server = server
        self._steps = steps
        place = {"platform": "browser", "provider": "selenium_grid", "options": {"url": url}}
        server.call("start_session", sessionId="far", **place)

    def open(self, url: str) -> None:
        self._server.call("navigate", sessionId="far", url=url)

    def act(self) -> float:
        """Do the task; return the milliseconds spent waiting for the page to settle."""
        answer = self._server.call("execute_sequence", sessionId="far", actions=self._steps)
        if answer["completed"] != len(self._steps):
            raise RuntimeError(f"Only {answer['completed']} steps were done.")
        return float(answer["stabilityWaitMs"])

    def run(self, url: str) -> tuple[float, float]:
        self.open(url)
        waits: list[float] = []
        whole = elapsed(lambda: waits.append(self.act()))
        return whole, waits[0]

    def close(self) -> None:
        self._server.call("close_session", sessionId="far")


class _Bare:
    """A session of selenium's own client on the Grid, and the task's calls."""

    def __init__(self, url: str, by_hand: Callable[[webdriver.Remote], object]) -> None:
        options = webdriver.ChromeOptions()
        options.page_load_strategy = "eager"
        options.add_argument("--headless=new")
        self._driver = webdriver.Remote(url, options=options)
        self._by_hand = by_hand

    def open(self, url: str) -> None:
        self._driver.get(url)

    def act(self) -> None:
        self._by_hand(self._driver)

    def run(self, url: str) -> float:
        self.open(url)
        return elapsed(self.act)

    def close(self) -> None:
        self._driver.quit()


def _sign_in(driver: webdriver.Remote) -> None:
    _fill(driver, "name", "alice")
    _fill(driver, "password", "correct horse")
    driver.find_element(By.ID, "go").click()
    _await(driver, (By.ID, "welcome"), pages.WELCOME)


def _fill_in(driver: webdriver.Remote) -> None:
    for number in range(1, pages.STEPS + 1):
        _await(driver, (By.TAG_NAME, "h1"), f"Step {number} of {pages.STEPS}")
        _fill(driver, "answer", _ANSWER)
        Select(driver.find_element(By.ID, "kind")).select_by_visible_text(_KIND)
        driver.find_element(By.ID, "next").click()
    _await(driver, (By.TAG_NAME, "h1"), pages.DONE)


def _fill(driver: webdriver.Remote, name: str, text: str) -> None:
    field = driver.find_element(By.ID, name)
    field.clear()
    field.send_keys(text)


def _await(driver: webdriver.Remote, where: tuple[str, str], text: str) -> None:
    # selenium's own interval of half a second would dominate the measurement.
    WebDriverWait(driver, 20, 0.02).until(expected_conditions.text_to_be_present_in_element(where, text))
