"""Killed Firefoxes, killed geckodrivers and killed servers: as with Chromium, and nothing is left behind."""

from __future__ import annotations

import pytest

from tests.e2e.harness import Home, answered, kill, runs
from tests.servers.mcp import Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("needs_firefox"), pytest.mark.timeout(300)]

FORM = "<title>Form</title><label>Name <input id=name></label>"
VICTIMS = ("firefox", "geckodriver")


def start(server: Served, site: Site) -> None:
    """Start a Firefox at a page with a form, and fill that in."""
    server.ok("start_browser", browser="firefox", sessionId="fox", navigationUrl=site.page("/", FORM))
    server.ok("set_value", selector="#name", value="Ann", sessionId="fox")
    server.ok("execute_script", script="document.cookie = 'user=ann'; self.mark = 42", sessionId="fox")


def die(server: Served) -> None:
    """Kill a server."""
    kill(server.process)
    until(lambda: not runs(server.process), "the server to be gone")


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_firefox_or_geckodriver_killed_in_mid_call_is_session_lost_and_leaves_nothing(
    home: Home, site: Site, victim: str
) -> None:  # W11 X22 O12
    """The running call and the next one answer session_lost; closing ends the other one of the two as well."""
    site.page("/held", "held")
    gate = site.gate("/held")
    with home.serve() as server:
        start(server, site)
        running = server.begin("execute_script", script="await fetch('/held')", sessionId="fox")
        gate.wait_entered()
        kill(home.process("fox", victim))
        lost = answered(running)
        assert lost.code == "session_lost", lost.text
        assert "close_session" in lost.text
        assert server.call("get_text", sessionId="fox").code == "session_lost"
        assert server.ok("close_session", sessionId="fox") == {"closed": ["fox"], "detached": [], "failed": []}
        until(home.is_clean, "a clean home")
    gate.open()


def test_a_firefox_of_a_killed_server_is_restored_as_it_was(lasting: Home, site: Site) -> None:  # B6 B8 B20 B21
    """Its driver outlives the server: the next server has the page, what was typed, its refs and its variables."""
    with lasting.serve() as first:
        start(first, site)
        [before] = first.ok("get_visible_elements", format="json", sessionId="fox")["elements"]
        die(first)
    with lasting.serve() as second:
        answer = second.call("execute_script", script="return [self.mark, document.cookie]", sessionId="fox")
        assert answer.data["value"] == [42, "user=ann"], answer.text
        assert answer.data["restored"] is True
        assert "fox was parked for" in answer.text
        assert second.ok("expect", selector="#name", value="Ann", sessionId="fox")
        assert second.ok("set_value", selector=before["ref"], value="Bob", sessionId="fox")
        second.ok("close_session", sessionId="fox")
        until(lasting.is_clean, "a clean home")


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_parked_firefox_that_died_is_started_anew_with_its_cookies(
    lasting: Home, site: Site, victim: str
) -> None:  # B16 B18 B25
    """A server that ends saves cookies and storage; what was left alive of the old browser is ended."""
    with lasting.serve() as first:
        start(first, site)
    left = [lasting.process("fox", one) for one in VICTIMS]
    kill(lasting.process("fox", victim))
    with lasting.serve() as second:
        answer = second.call("navigate", url=site.url("/"), sessionId="fox")
        assert answer.data["restored"] is False, answer.text
        assert answer.data["recovered"] == "storage"
        assert "and its process" in answer.text
        cookie = second.ok("execute_script", script="return document.cookie", sessionId="fox")["value"]
        assert cookie == "user=ann"
        assert not any(map(runs, left))
        second.ok("close_session", sessionId="fox")
        until(lasting.is_clean, "a clean home")
