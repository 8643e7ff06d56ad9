"""No password appears in a result, log, record, error or process list."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.e2e.harness import Home, kill, runs
from tests.servers.grid import GridEnd
from tests.servers.mcp import Answer, Served, processes_below, served
from tests.servers.ports import free_port
from tests.servers.site import Site
from tests.servers.webdriver import PASSWORD, USER, Relayed, RemoteEnd, relayed, remote_end
from tests.waiting import until

pytestmark = pytest.mark.full

PLAIN = "qX7-unguessable-3319"
ODD = 'zK9 "ünguessable" & \\ 3319/+%'
"""A password that answers, logs and URLs spell in different ways."""
LOGIN = (
    "<!doctype html><title>Login</title><form><label>User <input name=user></label>"
    "<label>Password <input name=pw id=pw type=password></label><button id=in>Log in</button></form>"
    "<p id=echo></p><button id=show type=button>Show</button><button id=say>Say</button><script>"
    "show.onclick = () => { pw.type = 'text'; echo.textContent = pw.value; document.title = pw.value };"
    "say.onclick = event => { event.preventDefault(); alert(`You typed ${pw.value}`) };"
    "if (location.search) echo.textContent = `sent ${new URLSearchParams(location.search).get('pw')}`</script>"
)


class RecordedServer:
    """A server with everything that it outputs: its log in a file, its answers here."""

    def __init__(self, server: Served, url: str, home: Home, log: Path) -> None:
        self.server = server
        self.url = url
        self.home = home
        self.log = log
        self.answers: list[str] = []

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and keep its whole answer."""
        answer = self.server.call(tool, **arguments)
        self.answers.append(answer.raw.model_dump_json())
        self.answers += [part.text for part in answer.raw.content if part.type == "text"]
        return answer

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Yield all answers, logs, files and command lines, except the browser's own profile."""
        for number, text in enumerate(self.answers):
            yield f"answer {number}", text.encode()
        yield "log", self.log.read_bytes()
        for path in self.home.folder.rglob("*"):
            if path.is_file() and "profile" not in path.parts and path.suffix != ".png":
                yield str(path), path.read_bytes()
        for process in (self.server.process, *processes_below(self.home.folder)):
            if runs(process):
                yield f"process {process.pid}", " ".join(process.cmdline()).encode()

    def places_of(self, secret: str) -> list[str]:
        """Return the places that contain a secret, in any spelling."""
        return [place for place, content in self.everything() if any(one in content for one in spellings(secret))]


@contextmanager
def recording(home: Home, url: str, log: Path) -> Iterator[RecordedServer]:
    """Start a server at the most verbose log level."""
    settings = {"home": str(home.folder), "namespace": "secrets", **home.settings}
    with log.open("w") as file, served("auto", ["--log-level", "debug"], file, **settings) as server:
        yield RecordedServer(server, url, home, log)


@pytest.fixture(scope="module")
def recorded(new_home: Callable[[], Home], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedServer]:
    """A server for the tests of this file, and the address of the login page."""
    log = tmp_path_factory.mktemp("log") / "log"
    with Site() as site, recording(new_home(), site.page("/login", LOGIN), log) as recorded:
        yield recorded


def spellings(secret: str) -> set[bytes]:
    """Return the secret as texts, JSON and URLs contain it."""
    texts = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    texts.add(base64.b64encode(f"{USER}:{secret}".encode()).decode())
    return {spelled for text in texts for spelled in (text.encode(), text.encode("utf-16-le"))}


def test_a_typed_password_appears_in_no_answer_log_or_record(recorded: RecordedServer) -> None:
    """Typed, echoed, sent or mistyped: a password is in no answer, log line, record, journal or driver log."""
    secret = ODD
    recorded.call("start_browser", sessionId="ann", navigationUrl=recorded.url)
    pw = {"selector": "label=Password", "value": secret}
    recorded.call("set_value", **pw)
    recorded.call("set_value", **pw, keystrokes=True, observe="outline")
    for tool in ("get_visible_elements", "get_text"):
        recorded.call(tool)
    recorded.call("get_visible_elements", format="json")
    assert not recorded.call("expect", selector="#pw", value=secret).failed
    assert recorded.call("expect", selector="#pw", value="other", timeout=50).failed
    recorded.call("expect", selector="#pw", attribute={"name": "value", "value": "x"}, timeout=50)
    recorded.call("execute_script", script="return [pw.value, {[pw.value]: 1}]")
    recorded.call("execute_script", script="throw new Error(pw.value)")
    recorded.call("execute_script", script="console.log(pw.value); location.hash = pw.value; return location.href")
    recorded.call("click_element", selector="#say")
    recorded.call("click_element", selector="#show", observe="outline")
    recorded.call("wait_for", text="nothing like it", timeout=50)
    recorded.call("expect", selector="#echo", text="other", timeout=50)
    recorded.call("set_value", selector="#none", value=secret, timeout=50)
    recorded.call("set_value", selector="#in", value=secret, timeout=50)
    recorded.call("set_value", selector="#pw", valu=secret)
    recorded.call("set_value", selector="#pw", value=[secret])
    recorded.call("navigate", url=recorded.url)
    steps = [
        {"action": "set_value", **pw},
        {"action": "get_visible_elements"},
        {"action": "execute_script", "script": "return pw.value"},
        {"action": "set_value", **pw, "submit": True},
        {"action": "wait_for", "text": "sent"},
        {"action": "get_text"},
        {"action": "click_element", "selector": "#none", "timeout": 50},
    ]
    assert recorded.call("execute_sequence", actions=steps, verbose=True).data["completed"] == 6
    recorded.call("execute_parallel", sequences=[{"sessionId": "ann", "actions": steps}], verbose=True)
    recorded.call("execute_sequence", actions=[{"action": "set_value", "selector": "#pw", "valu": secret}])
    recorded.call("list_sessions")
    recorded.call("take_screenshot")
    until(lambda: "login" in (recorded.home.record("ann").url or ""), "the address in the record")
    assert recorded.places_of(secret) == []
    recorded.call("close_session", sessionId="ann")
    assert recorded.places_of(secret) == []


def test_a_password_in_a_url_appears_in_no_answer_log_or_recording(recorded: RecordedServer) -> None:
    """A password in a URL reaches the page, and no result, record, recording or log has it."""
    recorded.call("start_browser", sessionId="eve")
    recorded.call("har", action="start")
    withheld = recorded.url.replace("http://", f"http://ann:{PLAIN}@")
    assert not recorded.call("navigate", url=withheld).failed
    assert not recorded.call("expect", url=withheld).failed
    assert not recorded.call("wait_for", url=recorded.url).failed
    recorded.call("expect", url="/other", timeout=50)
    recorded.call("tabs", action="new", url=withheld)
    for tool in ("get_visible_elements", "get_network", "get_console", "list_sessions"):
        recorded.call(tool)
    path = recorded.call("har", action="stop").data["path"]
    assert recorded.call("har", action="replay", path=path, notFound="abort").data["replays"] == [path]
    assert not recorded.call("navigate", url=withheld).failed, "it is answered from the recording"
    assert recorded.places_of(PLAIN) == []
    recorded.call("close_session", sessionId="eve")


def test_text_typed_outside_password_fields_is_not_masked(recorded: RecordedServer) -> None:
    """Only passwords are masked."""
    recorded.call("start_browser", sessionId="ben", navigationUrl=recorded.url)
    recorded.call("set_value", selector="label=User", value="ann-the-user")
    recorded.call("execute_script", script="location.hash = 'ann-the-user'")
    assert "ann-the-user" in recorded.call("get_visible_elements").text
    places = [place for place, content in recorded.everything() if b"ann-the-user" in content]
    assert any(place.startswith("answer") for place in places)
    assert any("sessions.db" in place for place in places), "the search does not see the records"
    recorded.call("close_session", sessionId="ben")


@pytest.fixture(scope="module")
def far() -> Iterator[RemoteEnd]:
    """A chromedriver that asks for a password, and the secret with its URL."""
    with remote_end(guarded=True) as end, pytest.MonkeyPatch.context() as environment:
        environment.setenv("ORCHESTRATOR_SECRET_FAR_END", end.secret_url)
        yield end


def go_through(
    recorded: RecordedServer,
    end: Relayed,
    start: dict[str, Any],
    delete: Callable[[str], object],
    url: str,
) -> None:
    """Use a remote end behind a password, by its address or a secret's name, in every way, failures included."""
    nobody = end.secret_url.replace(end.url.rpartition(":")[2], str(free_port()))
    begin = {**start, "options": {"url": url}}
    started = recorded.call("start_session", **begin, sessionId="far", navigationUrl=recorded.url)
    row = started.data
    assert row.get("remoteUrl") == (url if url.startswith("secret:") else end.url), started.text
    recorded.call("get_visible_elements", sessionId="far")
    recorded.call("get_text", sessionId="far", selector="#none", timeout=50)
    recorded.call("execute_script", sessionId="far", script="throw new Error('no')")
    recorded.call("list_sessions")
    assert recorded.call("start_session", **begin, sessionId="far").failed
    assert recorded.call("start_session", **{**begin, "capabilities": {"platformName": "none"}}).failed
    where = {"remoteUrl": url, "remoteSessionId": row["remoteSessionId"]}
    recorded.call("close_session", sessionId="far", detach=True)
    assert recorded.call("attach_session", **where, sessionId="back").data["sessionId"] == "back"
    again = recorded.call("attach_session", **where).data
    assert (again["sessionId"], again["provider"]) == ("back", start["provider"])
    assert recorded.call("attach_session", **{**where, "remoteSessionId": "f" * 32}).code == "session_lost"
    recorded.call("close_session", sessionId="back", status="failed", reason="no tea")
    recorded.call("get_text", sessionId="back")
    delete(row["remoteSessionId"])
    for wrong in (nobody, end.secret_url.replace("http", "ftp"), [end.secret_url], {"url": end.secret_url}):
        assert recorded.call("start_session", **{**start, "options": {"url": wrong}}).failed
        assert recorded.call("attach_session", remoteUrl=wrong, remoteSessionId="f" * 32).failed
    assert recorded.call("start_session", **{**start, "options": {"uri": end.secret_url}}).failed
    recorded.call("start_session", **{**start, "options": {"url": "secret:FAR_END"}}, sessionId="left")


def test_the_password_of_a_remote_end_appears_in_no_answer_log_or_record(
    home: Home, site: Site, tmp_path: Path, far: RemoteEnd
) -> None:
    """A remote end's password stays hidden through start, use, failure, detach, attach, crash and takeover."""
    home.settings["park_ttl"] = "100"
    page = site.page("/", "<title>Far</title><p>far away")
    start = {"provider": "remote_url", "platform": "browser", "capabilities": far.capabilities()}
    with recording(home, page, tmp_path / "log") as recorded:
        go_through(recorded, far, start, lambda session: far.ask("DELETE", session, ""), "secret:FAR_END")
        assert recorded.places_of(PASSWORD) == []
        kill(recorded.server.process)
        until(lambda: not runs(recorded.server.process), "the server's end")
    with recording(home, page, tmp_path / "log of the next") as successor:
        assert not successor.call("get_text", sessionId="left").failed, "the next server finds the password by its name"
        assert successor.call("close_session", sessionId="left").data["failed"] == []
        assert successor.places_of(PASSWORD) == []
    assert recorded.places_of(PASSWORD) == []
    assert far.sessions() == []


def test_the_password_of_a_grid_appears_in_no_answer_log_or_record(
    home: Home, site: Site, tmp_path: Path, grid: GridEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Grid's password stays hidden, although the Grid is asked for its slots and nodes."""
    start = {"provider": "selenium_grid", "platform": "browser"}
    page = site.page("/", "<title>Far</title><p>far away")
    with relayed(grid.port, Relayed(), guarded=True) as hub:
        monkeypatch.setenv("ORCHESTRATOR_SECRET_FAR_END", hub.secret_url)
        with recording(home, page, tmp_path / "log") as recorded:
            go_through(recorded, hub, start, lambda session: grid.ask("DELETE", session), hub.secret_url)
            assert recorded.call("close_session", sessionId="left").data["failed"] == []
            assert recorded.places_of(PASSWORD) == []


def test_the_password_of_the_tests_is_in_no_doc_example_or_transcript() -> None:
    """The remote password of the tests is in one file only, the one that defines it."""
    root = Path(__file__).parents[3]
    files = (path for name in ("docs", "examples", "tests") for path in (root / name).rglob("*") if path.is_file())
    kept = [path for path in files if "__pycache__" not in path.parts and path.name != "package-lock.json"]
    found = [path for path in kept if any(one in path.read_bytes() for one in spellings(PASSWORD))]
    assert found == [root / "tests" / "servers" / "webdriver.py"]
