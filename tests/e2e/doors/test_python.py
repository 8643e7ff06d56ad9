"""The Python API, async and blocking: without any server, and beside a running one on the same sessions."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator import Orchestrator, sync
from orchestrator.actions.forms import SetValue
from orchestrator.actions.mouse import ClickElement
from orchestrator.errors import ElementNotFound, ExpectationFailed, InvalidArgument, NoSession, SessionNotFound
from orchestrator.settings import Settings
from orchestrator.system.machine import LocalMachine, needed_switches
from tests.e2e.harness import NAMESPACE, Home, runs
from tests.servers.site import Site
from tests.waiting import until, until_async

FORM = """<title>form</title><input id=name aria-label=Name>
<button id=send onclick="said.textContent = 'Thank you, ' + document.querySelector('#name').value">Send</button>
<p id=said></p>"""


@pytest.fixture
def page(site: Site) -> str:
    """A form that answers with thanks."""
    return site.page("/", FORM)


def settings(home: Home) -> Settings:
    """The settings of the test's home."""
    return Settings(home=home.folder, namespace=NAMESPACE)


@pytest.fixture(scope="module")
def shared(new_home: Callable[[], Home]) -> Iterator[tuple[sync.Orchestrator, Home]]:
    """A script with a browser for Ann and one for Ben, for tests that leave them open."""
    home = new_home()
    with sync.Orchestrator(settings(home)) as orchestrator:
        for name in ("ann", "ben"):
            orchestrator.start_browser(name)
        yield orchestrator, home


@pytest.fixture
def script(shared: tuple[sync.Orchestrator, Home], page: str) -> sync.Orchestrator:
    """That script, with the form in both browsers."""
    orchestrator, _ = shared
    for name in ("ann", "ben"):
        orchestrator.session(name).navigate(page)
    return orchestrator


@pytest.fixture
async def visitor(script: sync.Orchestrator, shared: tuple[sync.Orchestrator, Home]) -> AsyncIterator[Orchestrator]:
    """An async orchestrator beside that script, with the same sessions."""
    del script
    async with Orchestrator(settings(shared[1])) as orchestrator:
        yield orchestrator


async def test_a_python_script_drives_a_browser_without_a_server(home: Home, page: str) -> None:
    """A script starts a browser, acts and reads what changed; the browser ends with the script."""
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
    await until_async(home.is_clean, "a clean home")


def test_an_error_as_text_has_what_is_near_what_differs_and_the_url(script: sync.Orchestrator, page: str) -> None:
    """`str(error)` is all that a test's report shows; an expectation that fails is an AssertionError, too."""
    long = "Thank you very much, " * 10
    ann = script.session("ann")
    ann.navigate(f"{page}?user=1")
    with pytest.raises(ElementNotFound) as missing:
        ann.click_element("role=button[name=Sent]", timeout=0)
    first, *facts = str(missing.value).splitlines()
    assert first.startswith("No element matches 'role=button[name=Sent]'")
    assert facts[0] == "Candidates:"
    assert re.fullmatch(r'- button "Send" \[e\d+\]', facts[1])
    assert facts[-1] == f"URL: {page}?user=1"
    ann.execute_script(f"said.textContent = '{long}'")
    with pytest.raises(AssertionError) as failed:
        ann.expect("#said", text="Thanks", timeout=0)
    assert isinstance(failed.value, ExpectationFailed)
    _, *facts = str(failed.value).splitlines()
    assert facts[-2:] == [f"Actual text: {long.strip()}", f"URL: {page}?user=1"]


def test_a_context_takes_over_the_browser_of_its_instance(home: Home) -> None:
    """The instance's browser may be omitted; naming another one is refused.

    The instance is requested as Edge, and its own capabilities start Chromium instead.
    """
    here = LocalMachine.this()
    chromium, driver = here.browser("chrome"), here.driver(here.browser("chrome"))
    wanted = Settings(home=home.folder, namespace=NAMESPACE, edge_binary=chromium, msedgedriver=driver)
    options = {"binary": str(chromium), "args": ["--headless=new", *needed_switches(Settings())]}
    with sync.Orchestrator(wanted) as orchestrator:
        orchestrator.start_browser(
            "shop", browser="edge", capabilities={"browserName": "chrome", "goog:chromeOptions": options}
        )
        ann = orchestrator.start_browser("shop:ann")
        assert [row.shared_with for row in orchestrator.list_sessions().sessions] == [[ann.id], ["shop"]]
        with pytest.raises(InvalidArgument, match="differs in browser"):
            orchestrator.start_browser("shop:ben", browser="chrome")


async def test_a_sequence_takes_mappings_and_actions(visitor: Orchestrator) -> None:
    """Both kinds of steps in one list; a failing step raises its error, with the number of completed steps."""
    session = await visitor.session("ann")
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


async def test_execute_parallel_returns_one_failure_and_raises_when_all_fail(visitor: Orchestrator) -> None:
    """Each session has a list of mappings or actions; single failures are results, a failure of all is raised."""
    both = await visitor.execute_parallel(
        [
            {"session_id": "ann", "actions": [SetValue(selector="#name", value="Ann"), {"action": "get_text"}]},
            {"session_id": "ben", "actions": [ClickElement(selector="#nowhere", timeout=0)]},
        ]
    )
    assert both.results["ann"]["completed"] == 2
    failed = both.results["ben"]["failed"]
    assert failed["error"]["code"] == "element_not_found"
    with pytest.raises(ElementNotFound):
        await visitor.execute_parallel(
            [{"session_ids": ["ann", "ben"], "actions": [ClickElement(selector="#nowhere", timeout=0)]}]
        )


async def test_a_wrong_python_argument_raises_the_same_error_as_over_mcp(home: Home) -> None:
    """Wrong arguments raise the library's own exceptions, and nothing is started."""
    async with Orchestrator(settings(home)) as orchestrator:
        with pytest.raises(InvalidArgument, match="'headless' must be true or false"):
            await orchestrator.start_browser(headless="maybe")  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="Argument 'platform' must be 'browser', 'ios' or 'android'"):
            await orchestrator.start_session("local", "windows")
        with pytest.raises(NoSession):
            await orchestrator.session()
        with pytest.raises(SessionNotFound, match="No session: alice"):
            await orchestrator.session("alice")
        assert home.records() == []


def test_the_sync_api_works_as_the_async_one_without_await(script: sync.Orchestrator, page: str) -> None:
    """The sync API has the same calls and errors, and its tracebacks begin at the caller's line."""
    with script.start_session("local", "Browser", "alice", navigation_url=page) as alice:
        alice.set_value("#name", "Alice")
        assert alice.click_element("#send").state_change is not None
        assert alice.get_text("#said").text == "Thank you, Alice"
        assert script.session("alice").id == "alice"
        with pytest.raises(ElementNotFound) as failed:
            alice.click_element("#nowhere", timeout=0)
        told = [Path(frame.path).name for frame in failed.traceback]
        assert told[0] == Path(__file__).name
        assert "pointer.py" not in told, "where it was found out is no line of the caller's"
        assert [row.session_id for row in script.list_sessions().sessions] == ["ann", "ben", "alice"]
    assert [row.session_id for row in script.list_sessions().sessions] == ["ann", "ben"]
    with pytest.raises(SessionNotFound):
        alice.refresh()


def test_threads_drive_their_sessions_side_by_side(script: sync.Orchestrator, site: Site) -> None:
    """A waiting call of one thread delays no other thread."""
    site.page("/held", "held")
    gate = site.gate("/held")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(script.session("ann").execute_script, "return (await fetch('/held')).status")
        gate.wait_entered()
        assert script.session("ben").get_text("button").text == "Send"
        assert not waiting.done()
        gate.open()
        assert waiting.result(60).value == 200


def test_an_exception_in_a_sync_orchestrator_block_leaves_nothing_running(home: Home) -> None:
    """An exception in the block comes out of it unchanged, and nothing is left running."""

    def fail() -> None:
        with sync.Orchestrator(settings(home)) as orchestrator:
            assert orchestrator.start_browser().id == orchestrator.session().id
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    until(home.is_clean, "a clean home")


def test_a_call_on_an_unopened_sync_orchestrator_is_refused() -> None:
    """A forgotten with statement is a RuntimeError that names it."""
    with pytest.raises(RuntimeError, match="with Orchestrator"):
        sync.Orchestrator().list_sessions()


def test_ctrl_c_in_a_sync_call_leaves_nothing_running(home: Home, site: Site) -> None:
    """Ctrl-C during a waiting call ends the script at once, and its browser with it."""
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
    until(home.is_clean, "a clean home")


def test_a_script_and_a_server_take_turns_on_one_session(home: Home, page: str) -> None:
    """A script and a server drive each other's sessions, and each ends only its own.

    A handle used as a context manager closes its session, whoever owns it.
    """
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
        with sync.Orchestrator(settings(home)) as orchestrator, orchestrator.session("hers"):
            pass
        assert server.ok("list_sessions")["sessions"] == []


def test_a_visiting_orchestrator_leaves_a_parked_session_parked(home: Home, page: str) -> None:
    """A visitor lists and acts in a dead server's session, which stays parked for the next server."""
    with home.serve(park_ttl="100") as server:
        server.ok("start_browser", sessionId="left", navigationUrl=page)
        server.process.kill()
        until(lambda: not runs(server.process), "the server's end")
        until(lambda: home.record("left").state == "parked", "the keeper to notice")
        with sync.Orchestrator(settings(home), observer=True) as visitor:
            assert [row.session_id for row in visitor.list_sessions().sessions] == ["left"]
            assert visitor.session("left").get_text("button").text == "Send"
        until(lambda: home.record("left").state == "parked", "the visitor to be forgotten")
    with home.serve() as heir:
        assert heir.ok("list_sessions")["currentSession"] == "left"
        assert heir.ok("close_all_sessions")["closed"] == ["left"]


def test_a_script_closes_the_sessions_of_a_dead_server_only_when_adopting(home: Home, page: str) -> None:
    """A script that does not adopt leaves a killed server's sessions for the next server, or script that does."""
    with home.serve(park_ttl="100") as server:
        server.ok("start_browser", sessionId="left", navigationUrl=page)
        server.process.kill()
        until(lambda: not runs(server.process), "the server's end")
        for adopts, leaves in ((False, ["left"]), (True, [])):
            with sync.Orchestrator(settings(home), adopt_orphans=adopts) as orchestrator:
                assert orchestrator.session("left").get_text("button").text == "Send"
            assert [record.id for record in home.records()] == leaves
