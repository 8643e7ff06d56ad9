"""The Python API, async and blocking: without any server, and beside a running one on the same sessions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator import Orchestrator, sync
from orchestrator.actions.keyboard import SetValue
from orchestrator.actions.pointer import ClickElement
from orchestrator.errors import ElementNotFound, InvalidArgument, NoSession, SessionNotFound
from orchestrator.machine import Machine, needed_switches
from orchestrator.settings import Settings
from tests.e2e.harness import NAMESPACE, Home, runs, until
from tests.site import Site

FORM = """<title>form</title><input id=name aria-label=Name>
<button id=send onclick="said.textContent = 'Thank you, ' + document.querySelector('#name').value">Send</button>
<p id=said></p>"""


@pytest.fixture
def page(site: Site) -> str:
    """A form that thanks."""
    return site.page("/", FORM)


def settings(home: Home) -> Settings:
    """Those of the test's home."""
    return Settings(home=home.folder, namespace=NAMESPACE)


async def test_a_script_needs_no_server(home: Home, page: str) -> None:
    """It starts a browser, acts, reads what changed; what it started ends with it."""
    async with Orchestrator(settings(home)) as orchestrator:
        alice = await orchestrator.start_browser("alice", navigation_url=page, viewport={"width": 900, "height": 600})
        await alice.set_value("label=Name", "Alice")
        acted = await alice.click_element("#send")
        assert acted.state_change is not None
        assert acted.state_change.appeared == ["text: Thank you, Alice"]
        assert (await alice.get_text("#said")).text == "Thank you, Alice"
        assert (await alice.execute_script("return [innerWidth, innerHeight]")).value == [900, 600]
        assert (await alice.expect(title="form", not_=False)).title == "form"
        assert alice.facts.capabilities["browserName"] == "chrome"
    assert home.is_clean()


def test_a_context_is_in_the_browser_that_its_instance_has(home: Home) -> None:  # F1
    """Which one that is need not be said again; another one that is said is refused.

    The instance is asked for as Edge, and its own capabilities have Chromium be started instead.
    """
    here = Machine.this()
    chromium, driver = here.browser("chrome"), here.driver(here.browser("chrome"))
    wanted = Settings(home=home.folder, namespace=NAMESPACE, edge_binary=chromium, msedgedriver=driver)
    options = {"binary": str(chromium), "args": ["--headless=new", *needed_switches({})]}
    with sync.Orchestrator(wanted) as orchestrator:
        orchestrator.start_browser(
            "shop", browser="edge", capabilities={"browserName": "chrome", "goog:chromeOptions": options}
        )
        ann = orchestrator.start_browser("shop:ann")
        assert [row.shared_with for row in orchestrator.list_sessions().sessions] == [[ann.id], ["shop"]]
        with pytest.raises(InvalidArgument, match="differs in browser"):
            orchestrator.start_browser("shop:ben", browser="chrome")


async def test_a_sequence_takes_mappings_and_actions(home: Home, page: str) -> None:
    """Both kinds of steps in one list; one that stops raises that step's error, with how far it came."""
    async with (
        Orchestrator(settings(home)) as orchestrator,
        await orchestrator.start_browser(navigation_url=page) as session,
    ):
        done = await session.execute_sequence(
            [{"action": "set_value", "selector": "#name", "value": "Bob"}, ClickElement(selector="#send")]
        )
        assert done.completed == 2
        assert done.state_change is not None
        assert "text: Thank you, Bob" in done.state_change.appeared
        with pytest.raises(ElementNotFound, match="'#nowhere'") as stopped:
            await session.execute_sequence(
                [
                    SetValue(selector="#name", value="Eve"),
                    {"action": "click_element", "selector": "#nowhere", "timeout": 0},
                ]
            )
        assert stopped.value.session_id == session.id
        assert stopped.value.details["result"]["completed"] == 1
        assert stopped.value.__notes__ == ["Step 1 (click_element); 1 were completed."]
        with pytest.raises(InvalidArgument, match="Step 0: 'clik_element' is not an action"):
            await session.execute_sequence([{"action": "clik_element"}])


async def test_sessions_run_side_by_side(home: Home, page: str) -> None:
    """One list a session, as mappings or as actions; a failure of one is its result, a failure of all is raised."""
    async with Orchestrator(settings(home)) as orchestrator:
        for name in ("ann", "ben"):
            await orchestrator.start_browser(name, navigation_url=page)
        both = await orchestrator.execute_parallel(
            [
                {"session_id": "ann", "actions": [SetValue(selector="#name", value="Ann"), {"action": "get_text"}]},
                {"session_id": "ben", "actions": [ClickElement(selector="#nowhere", timeout=0)]},
            ]
        )
        assert both.results["ann"]["completed"] == 2
        failed = both.results["ben"]["failed"]
        assert failed["error"]["code"] == "element_not_found"
        with pytest.raises(ElementNotFound):
            await orchestrator.execute_parallel(
                [{"session_ids": ["ann", "ben"], "actions": [ClickElement(selector="#nowhere", timeout=0)]}]
            )


async def test_a_wrong_argument_is_an_error_of_ours(home: Home) -> None:
    """The same sentences as over MCP, and nothing is started."""
    async with Orchestrator(settings(home)) as orchestrator:
        with pytest.raises(InvalidArgument, match="'headless' must be true or false"):
            await orchestrator.start_browser(headless="maybe")  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="'windows' is not a platform"):
            await orchestrator.start_session("local", "windows")
        with pytest.raises(NoSession):
            await orchestrator.session()
        with pytest.raises(SessionNotFound, match="No session: alice"):
            await orchestrator.session("alice")
        assert home.records() == []


def test_the_blocking_twin_says_the_same_without_await(home: Home, page: str) -> None:
    """One import is different, and no word."""
    with sync.Orchestrator(settings(home)) as orchestrator:
        with orchestrator.start_session("local", "Browser", "alice", navigation_url=page) as alice:
            alice.set_value("#name", "Alice")
            assert alice.click_element("#send").state_change is not None
            assert alice.get_text("#said").text == "Thank you, Alice"
            assert orchestrator.session().id == "alice"
            with pytest.raises(ElementNotFound) as failed:
                alice.click_element("#nowhere", timeout=0)
            told = [Path(frame.path).name for frame in failed.traceback]
            assert told[0] == Path(__file__).name
            assert "pointer.py" not in told, "where it was found out is no line of the caller's"
            assert [row.session_id for row in orchestrator.list_sessions().sessions] == ["alice"]
        assert orchestrator.list_sessions().sessions == []
        with pytest.raises(SessionNotFound):
            alice.refresh()
    assert home.is_clean()


def test_threads_drive_their_sessions_side_by_side(home: Home, site: Site) -> None:
    """A call of one thread that waits holds up no other thread."""
    page = site.page("/", FORM)
    site.page("/held", "held")
    gate = site.gate("/held")
    with sync.Orchestrator(settings(home)) as orchestrator, ThreadPoolExecutor(1) as threads:
        ann, ben = (orchestrator.start_browser(name, navigation_url=page) for name in ("ann", "ben"))
        waiting = threads.submit(ann.execute_script, "return (await fetch('/held')).status")
        gate.wait_entered()
        assert ben.get_text("button").text == "Send"
        assert not waiting.done()
        gate.open()
        assert waiting.result(60).value == 200


def test_an_exception_ends_the_blocking_twin_cleanly(home: Home) -> None:
    """What went wrong in the block comes out of it as it is, and nothing is left running."""

    def fail() -> None:
        with sync.Orchestrator(settings(home)) as orchestrator:
            orchestrator.start_browser()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert home.is_clean()


def test_the_blocking_twin_must_be_opened() -> None:
    """A forgotten `with` is told."""
    with pytest.raises(RuntimeError, match="with Orchestrator"):
        sync.Orchestrator().list_sessions()


def test_interrupting_a_blocking_call_leaves_nothing(home: Home, site: Site) -> None:
    """Ctrl-C in the middle of a call that waits: the script ends at once, and its browser with it."""
    site.page("/", "<title>waits</title>")
    script = (
        "from orchestrator.sync import Orchestrator\n"
        "with Orchestrator() as orchestrator:\n"
        f"    session = orchestrator.start_browser(navigation_url={site.url('/')!r})\n"
        "    print('waiting', flush=True)\n"
        "    session.wait_for('#never', timeout=600_000)\n"
    )
    environ = {**os.environ, "ORCHESTRATOR_HOME": str(home.folder), "ORCHESTRATOR_NAMESPACE": NAMESPACE}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        until(home.tickets, "the call that waits")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert home.is_clean()


def test_a_script_and_a_server_take_turns_on_one_session(home: Home, page: str) -> None:  # W35
    """Either starts it and both drive it; whoever ends first takes only its own along."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="hers", navigationUrl=page)
        with sync.Orchestrator(settings(home)) as orchestrator:
            hers = orchestrator.session("hers")
            hers.set_value("#name", "Alice")
            server.ok("click_element", selector="#send")
            assert hers.get_text("#said").text == "Thank you, Alice"
            refs = server.ok("get_visible_elements")["outline"]
            field = refs.partition("[")[2].partition("]")[0]
            assert hers.set_value(field, "Bob").matches is None
            mine = orchestrator.start_browser("mine", navigation_url=page)
            assert server.ok("get_text", sessionId="mine")["text"] == mine.get_text().text
            browser = home.process("hers", "chrome")
        assert [row["sessionId"] for row in server.ok("list_sessions")["sessions"]] == ["hers"]
        assert runs(browser)
        server.ok("click_element", selector="#send")
        assert server.ok("get_text", selector="#said")["text"] == "Thank you, Bob"


def test_a_script_may_close_what_a_server_started(home: Home, page: str) -> None:
    """A handle used as a context manager closes its session, whoever owns it."""
    with home.serve() as server:
        server.ok("start_browser", sessionId="hers", navigationUrl=page)
        with sync.Orchestrator(settings(home)) as orchestrator, orchestrator.session("hers"):
            pass
        assert server.ok("list_sessions")["sessions"] == []


def test_a_visitor_changes_nothing_by_coming_and_going(home: Home, page: str) -> None:
    """It looks and acts; a session whose server is dead is parked before and after, for the next server."""
    with home.serve(park_ttl="100") as server:
        server.ok("start_browser", sessionId="left", navigationUrl=page)
        server.process.kill()
        until(lambda: not runs(server.process), "the server's end")
        until(lambda: home.record("left").state == "parked", "the keeper to notice")
        with sync.Orchestrator(settings(home), visiting=True) as visitor:
            assert [row.session_id for row in visitor.list_sessions().sessions] == ["left"]
            assert visitor.session("left").get_text("button").text == "Send"
        until(lambda: home.record("left").state == "parked", "the visitor to be forgotten")
    with home.serve() as heir:
        assert heir.ok("list_sessions")["currentSession"] == "left"
        assert heir.ok("close_all_sessions")["closed"] == ["left"]


@pytest.mark.parametrize("adopting", [False, True])
def test_a_script_takes_over_what_the_dead_left_only_if_it_says_so(home: Home, page: str, *, adopting: bool) -> None:
    """Otherwise its end leaves alone what a killed server would find again."""
    with home.serve(park_ttl="100") as server:
        server.ok("start_browser", sessionId="left", navigationUrl=page)
        server.process.kill()
        until(lambda: not runs(server.process), "the server's end")
        with sync.Orchestrator(settings(home), adopting=adopting) as orchestrator:
            assert orchestrator.session("left").get_text("button").text == "Send"
        assert [record.id for record in home.records()] == ([] if adopting else ["left"])
    with sync.Orchestrator(settings(home)) as last:
        assert last.close_sessions(all=True).closed == ([] if adopting else ["left"])
