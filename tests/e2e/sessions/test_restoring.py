"""Calls on a parked session: use it in any way, close it, or learn that it is gone."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import anyio
import pytest

from orchestrator import Orchestrator
from orchestrator.errors import ElementNotFound, SessionNotFound, StaleRef
from orchestrator.execution.compare import CompareSessions
from orchestrator.models.session import SessionState
from orchestrator.settings import Settings
from tests.e2e.doors.test_shell import shell
from tests.e2e.harness import NAMESPACE, Home, kill, remote, runs
from tests.servers.site import Site
from tests.waiting import until, until_async

pytestmark = pytest.mark.full

FORM = "<title>Form</title><label>Name <input id=name></label>"


@asynccontextmanager
async def server(home: Home, ttl: float = 100, *, adopt_orphans: bool = True) -> AsyncIterator[Orchestrator]:
    """Run an orchestrator like a server's without a client: it adopts sessions, and parks them at its end."""
    settings = Settings(home=home.folder, namespace=NAMESPACE, park_ttl=ttl)
    async with Orchestrator(settings, adopt_orphans=adopt_orphans, park_on_exit=True) as one:
        yield one


async def park(home: Home, *names: str, url: str | None = None, ttl: float = 100) -> None:
    """Start sessions and leave them parked."""
    async with server(home, ttl) as one:
        for name in names:
            await one.start_browser(name, navigation_url=url)


async def end(home: Home) -> None:
    """Close all sessions that a test has left."""
    async with server(home) as one:
        await one.close_sessions(all=True)


async def test_any_call_that_names_a_parked_session_restores_it(home: Home, site: Site) -> None:  # B1 B15 B2 B33 X41
    """Actions, sequences, parallel sequences and comparisons restore it; a failing action reports that as well."""
    page = site.page("/", FORM)
    await park(home, *"abcde", url=page)
    async with server(home) as one:
        assert (await one.list_sessions()).current_session is None
        assert (await (await one.session("a")).get_text()).restored
        assert (await one.execute_sequence([{"action": "get_text"}], "b")).restored
        both = await one.execute_parallel([{"sessionIds": ["c"], "actions": [{"action": "get_text"}]}])
        assert both.results["c"]["restored"]
        await one.compare(CompareSessions(session_ids=["a", "d"], of="text"))
        with pytest.raises(ElementNotFound) as failed:
            await (await one.session("e")).click_element("#nowhere", timeout=0)
        assert failed.value.details["restored"] is True
        assert "e was parked for" in failed.value.details["events"][0]
        assert {row.state for row in (await one.list_sessions()).sessions} == {SessionState.ACTIVE}
        assert (await (await one.session("e")).get_text()).restored is None
    await end(home)


async def test_parked_sessions_are_closed_like_open_ones(home: Home) -> None:  # O12
    """Parked sessions are closed by name, by prefix or all at once, without being restored first."""
    await park(home, "a", "b-1", "b-2", "c")
    async with server(home) as one:
        rows = (await one.list_sessions()).sessions
        assert {row.state for row in rows} == {SessionState.PARKED}
        assert all(row.parked_until for row in rows)
        assert (await one.close_session("a")).closed == ["a"]
        assert (await one.close_sessions(prefix="b")).closed == ["b-1", "b-2"]
        assert (await one.close_all_sessions()).closed == ["c"]
        await until_async(home.is_clean, "a clean home")


@pytest.mark.parametrize("victim", ["chromedriver", "chromium"])
async def test_a_parked_session_that_died_is_reported_as_not_restored(
    home: Home, site: Site, victim: str
) -> None:  # B16 X42
    """A session whose driver or browser died while parked names the ended process, and old refs are stale."""
    async with server(home) as one:
        session = await one.start_browser("a", navigation_url=site.page("/", FORM))
        seen = await session.get_visible_elements(format="json", roles=["textbox"])
        ref = seen.elements[0].ref if seen.elements else ""
    kill(home.process("a", victim))
    async with server(home) as one:
        session = await one.session("a")
        back = await session.get_text()
        assert back.restored is False
        assert re.search(r"it was parked for .* and its process .* ended", back.events[0])
        with pytest.raises(StaleRef):
            await session.set_value(ref, "Ann", timeout=0)
        assert (await session.close()).closed == ["a"]
        await until_async(home.is_clean, "a clean home")


@pytest.mark.parametrize("emptied", [["t1"], ["t1", "t2"]])
async def test_a_tab_that_comes_back_without_its_page_is_closed(
    home: Home, site: Site, emptied: list[str]
) -> None:  # B26 B27 B28 O16
    """Tabs that lost their page while parked are closed; with none left a fresh one opens in the same context."""
    async with server(home) as one:
        await one.start_browser("shop")
        session = await one.start_browser("shop:ann", navigation_url=site.page("/", FORM))
        await session.execute_script("document.cookie = 'user=ann'")
        await session.tabs("new", url=site.page("/other", "<title>Other</title>"))
    parked = home.record("shop:ann")
    driver = f"{parked.remote_url}/session/{parked.remote_session_id}"
    for tab in parked.tabs:
        if tab.name in emptied:
            remote("POST", f"{driver}/window", {"handle": tab.handle})
            remote("POST", f"{driver}/url", {"url": "about:blank"})
            await until_async(lambda: remote("GET", f"{driver}/url") == "about:blank", "an empty tab")
    async with server(home) as one:
        session = await one.session("shop:ann")
        back = await session.tabs("list")
        left = [("t3", "about:blank")] if len(emptied) == 2 else [("t2", site.url("/other"))]
        assert [(tab.tab, tab.url) for tab in back.tabs] == left
        assert f"Tab {emptied[0]} came back without its page and was closed" in " ".join(back.events)
        await session.navigate(site.url("/"))
        assert (await session.tabs("list")).tabs[0].title == "Form"
        assert (await session.execute_script("return document.cookie")).value == "user=ann"
        await one.close_sessions(all=True)


async def test_a_dialog_left_open_in_a_parked_session_can_be_answered_by_the_first_call(
    home: Home, site: Site
) -> None:  # X53
    """Answering the dialog restores the session that was parked with it."""
    page = site.page("/", "<button onclick=\"document.title = confirm('Sure?')\">Ask</button>")
    async with server(home) as one:
        session = await one.start_browser("a", navigation_url=page)
        await session.set_policy(dialogs="manual")
        await session.click_element("text=Ask")
    async with server(home) as one:
        answered = await (await one.session("a")).handle_dialog(accept=True)
        assert answered.restored
        assert answered.title == "true"
        assert (await one.close_sessions(all=True)).closed == ["a"]


async def test_parked_contexts_of_one_browser_are_restored_with_their_own_state(
    home: Home, site: Site
) -> None:  # B5 B11 B18 B7 B21
    """Two contexts keep their forms; when their browser dies a fresh one has the saved storage of each."""
    page, names = site.page("/", FORM), ("shop", "shop:ann")
    async with server(home) as one:
        for name in names:
            session = await one.start_browser(name, navigation_url=page)
            await session.set_value("#name", name)
            await session.execute_script("document.cookie = localStorage.me = `user=${args[0]}`", args=[name])
    async with server(home) as one:
        for name in names:
            assert (await (await one.session(name)).expect("#name", value=name)).restored
    browser = home.process("shop", "chromium")
    kill(browser)
    until(lambda: not runs(browser), "the end of the browser")
    async with server(home) as one:
        for name in names:
            session = await one.session(name)
            assert (await session.navigate(page)).recovered == "storage"
            kept = await session.execute_script("return [document.cookie, localStorage.me]")
            assert kept.value == [f"user={name}"] * 2
        assert len(home.drivers()) == 1
    await end(home)


async def test_an_expired_parked_session_says_why_it_is_closed(home: Home) -> None:  # B12
    """A session that expired while parked is closed with that reason, and its name is free."""
    await park(home, "a", ttl=0.5)
    until(lambda: not home.records(), "the end of the session")
    async with server(home) as one:
        with pytest.raises(SessionNotFound) as late:
            await one.session("a")
        assert "parked, and nobody came back to it in time" in str(late.value)
        await one.start_browser("a")
        await one.close_all_sessions()


async def test_an_unreadable_record_of_another_namespace_does_not_stop_a_server(home: Home) -> None:  # O14
    """A record of another version in another namespace does not prevent a start."""
    async with server(home):
        pass
    with closing(sqlite3.connect(home.folder / "sessions.db")) as db, db:
        db.execute("INSERT INTO sessions (namespace, id, state, owner, record) VALUES ('b', 'x', 'lost', 'me', '{}')")
    async with server(home) as one:
        await anyio.wait_all_tasks_blocked()
        assert (await one.list_sessions()).sessions == []
    with closing(sqlite3.connect(home.folder / "sessions.db")) as db, db:
        db.execute("DELETE FROM sessions WHERE namespace = 'b'")


async def test_an_unused_parked_session_keeps_its_expiry(home: Home) -> None:  # B12
    """Adopting a parked session without using it does not extend its time; a use restarts it."""
    await park(home, "a", "b")
    first = {record.id: record.parked_until or 0 for record in home.records()}
    async with server(home, ttl=200) as one:
        await (await one.session("b")).get_text()
        assert home.record("b").parked_until is None
    assert home.record("a").parked_until == first["a"]
    assert (home.record("b").parked_until or 0) > first["b"] + 50
    await end(home)


async def test_a_script_parks_again_the_session_that_it_did_not_start(home: Home, site: Site) -> None:  # B17
    """A script works in a parked session and parks it again; sessions that it started end with it."""
    await park(home, "left", "again", url=site.page("/", FORM))
    async with Orchestrator(Settings(home=home.folder, namespace=NAMESPACE)) as script:
        await (await script.session("again")).get_text()
        await script.close_session("again")
        await script.start_browser("again")
    async with Orchestrator(Settings(home=home.folder, namespace=NAMESPACE, park_ttl=0)) as script:
        await script.start_browser("own")
        assert (await (await script.session("left")).set_value("#name", "Ann")).restored
    assert [(record.id, record.state) for record in home.records()] == [("left", SessionState.PARKED)]
    async with server(home) as one:
        assert (await (await one.session("left")).expect("#name", value="Ann")).restored
    await end(home)


async def test_a_parked_session_can_be_used_from_the_command_line(home: Home, site: Site) -> None:  # B29
    """Commands list a parked session and act in it by name, with the output of the tool."""
    page = site.page("/", f"{FORM}<input id=word type=password oninput='document.title = value'>")
    await park(home, "shop", url=page)
    assert shell(home, "list").stdout.startswith("shop: parked")
    typed = shell(home, "fill", "#name", "Ann", "--submit", "-s", "shop")
    assert "Event: shop was parked for" in typed.stdout, typed.stderr
    told = shell(home, "expect", "#name", "--value", "Ann", "--json", "-s=shop")
    assert json.loads(told.stdout or "{}").get("title") == "Form", told.stderr
    until(lambda: home.record("shop").state is SessionState.PARKED, "the keeper to see that the command ended")
    hidden = shell(home, "fill", "#word", "hunter2-hunter2", "-s", "shop")
    assert "•••" in hidden.stdout, hidden.stderr
    assert "hunter2" not in hidden.stdout
    wrong = shell(home, "navigat", page, "-s", "shop")
    assert wrong.returncode == 2
    assert "Did you mean 'navigate'?" in wrong.stderr
    stray = shell(home, "navigate", page, "elsewhere", "-s", "shop")
    assert "unrecognized arguments: elsewhere" in stray.stderr
    assert shell(home, "close", "shop").stdout == "Closed: shop.\n"
