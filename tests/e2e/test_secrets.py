"""No password is in a result, log, record, error or process list: searched for, wherever anything is said or kept."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.e2e.harness import Home, kill, runs, until
from tests.grid_end import GridEnd
from tests.ports import free_port
from tests.remote_end import PASSWORD, USER, Relayed, RemoteEnd, relayed, remote_end
from tests.served import Answer, Served, processes_below, served
from tests.site import Site

SECRETS = {"plain": "qX7-unguessable-3319", "odd": 'zK9 "ünguessable" & \\ 3319/+%'}
LOGIN = (
    "<!doctype html><title>Login</title><form><label>User <input name=user></label>"
    "<label>Password <input name=pw id=pw type=password></label><button id=in>Log in</button></form>"
    "<p id=echo></p><button id=show type=button>Show</button><button id=say>Say</button><script>"
    "show.onclick = () => { pw.type = 'text'; echo.textContent = pw.value; document.title = pw.value };"
    "say.onclick = event => { event.preventDefault(); alert(`You typed ${pw.value}`) };"
    "if (location.search) echo.textContent = `sent ${new URLSearchParams(location.search).get('pw')}`</script>"
)


class Ear:
    """A server whose every word is kept: its log in a file, its answers here."""

    def __init__(self, server: Served, url: str, home: Home, log: Path) -> None:
        self.server = server
        self.url = url
        self.home = home
        self.log = log
        self.said: list[str] = []

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and keep what it answers, whole."""
        answer = self.server.call(tool, **arguments)
        self.said.append(answer.raw.model_dump_json())
        self.said += [part.text for part in answer.raw.content if part.type == "text"]
        return answer

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """All that was said and all that was written, but for the browser's own profile."""
        for number, text in enumerate(self.said):
            yield f"answer {number}", text.encode()
        yield "log", self.log.read_bytes()
        for path in self.home.folder.rglob("*"):
            if path.is_file() and "profile" not in path.parts and path.suffix != ".png":
                yield str(path), path.read_bytes()
        for process in (self.server.process, *processes_below(self.home.folder)):
            if runs(process):
                yield f"process {process.pid}", " ".join(process.cmdline()).encode()

    def hears(self, secret: str) -> list[str]:
        """Where a secret stands, however it is spelled."""
        return [place for place, content in self.everything() if any(one in content for one in spellings(secret))]


@contextmanager
def listening(home: Home, url: str, log: Path) -> Iterator[Ear]:
    """A server that logs as much as it can."""
    settings = {"home": str(home.folder), "namespace": "secrets", **home.settings}
    with log.open("w") as file, served("auto", ["--log-level", "debug"], file, **settings) as server:
        yield Ear(server, url, home, log)


@pytest.fixture
def ear(home: Home, site: Site, tmp_path: Path) -> Iterator[Ear]:
    """A server of this test's own, and the address of the login page."""
    with listening(home, site.page("/login", LOGIN), tmp_path / "log") as ear:
        yield ear


def spellings(secret: str) -> set[bytes]:
    """The secret as texts, JSON and addresses would write it."""
    texts = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    texts.add(base64.b64encode(f"{USER}:{secret}".encode()).decode())
    return {spelled for text in texts for spelled in (text.encode(), text.encode("utf-16-le"))}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_typed_password_is_nowhere(ear: Ear, secret: str) -> None:
    """However it is typed, echoed, sent and mistyped: no answer, log line, record, journal or driver log holds it."""
    ear.call("start_browser", sessionId="ann", navigationUrl=ear.url)
    pw = {"selector": "label=Password", "value": secret}
    ear.call("set_value", **pw)
    ear.call("set_value", **pw, keystrokes=True, observe="outline")
    for tool in ("get_visible_elements", "get_text"):
        ear.call(tool)
    ear.call("get_visible_elements", format="json")
    assert not ear.call("expect", selector="#pw", value=secret).failed
    assert ear.call("expect", selector="#pw", value="other", timeout=50).failed
    ear.call("expect", selector="#pw", attribute={"name": "value", "value": "x"}, timeout=50)
    ear.call("execute_script", script="return [pw.value, {[pw.value]: 1}]")
    ear.call("execute_script", script="throw new Error(pw.value)")
    ear.call("execute_script", script="console.log(pw.value); location.hash = pw.value; return location.href")
    ear.call("click_element", selector="#say")
    ear.call("click_element", selector="#show", observe="outline")
    ear.call("wait_for", text="nothing like it", timeout=50)
    ear.call("expect", selector="#echo", text="other", timeout=50)
    ear.call("set_value", selector="#none", value=secret, timeout=50)
    ear.call("set_value", selector="#in", value=secret, timeout=50)
    ear.call("set_value", selector="#pw", valu=secret)
    ear.call("set_value", selector="#pw", value=[secret])
    ear.call("navigate", url=ear.url)
    steps = [
        {"action": "set_value", **pw},
        {"action": "get_visible_elements"},
        {"action": "execute_script", "script": "return pw.value"},
        {"action": "set_value", **pw, "submit": True},
        {"action": "wait_for", "text": "sent"},
        {"action": "get_text"},
        {"action": "click_element", "selector": "#none", "timeout": 50},
    ]
    assert ear.call("execute_sequence", actions=steps, verbose=True).data["completed"] == 6
    ear.call("execute_parallel", sequences=[{"sessionId": "ann", "actions": steps}], verbose=True)
    ear.call("execute_sequence", actions=[{"action": "set_value", "selector": "#pw", "valu": secret}])
    ear.call("list_sessions")
    ear.call("take_screenshot")
    until(lambda: "login" in (ear.home.record("ann").url or ""), "the address in the record")
    assert ear.hears(secret) == []
    ear.call("close_session", sessionId="ann")
    assert ear.hears(secret) == []


def test_the_password_in_an_address_is_nowhere(ear: Ear) -> None:
    """It takes the browser to the page; no result, record, recording or log has it."""
    ear.call("start_browser", sessionId="ann")
    ear.call("har", action="start")
    withheld = ear.url.replace("http://", f"http://ann:{SECRETS['plain']}@")
    assert not ear.call("navigate", url=withheld).failed
    assert not ear.call("expect", url=withheld).failed
    assert not ear.call("wait_for", url=ear.url).failed
    ear.call("expect", url="/other", timeout=50)
    ear.call("tabs", action="new", url=withheld)
    for tool in ("get_visible_elements", "get_network", "get_console", "list_sessions"):
        ear.call(tool)
    path = ear.call("har", action="stop").data["path"]
    assert ear.call("har", action="replay", path=path, notFound="abort").data["replays"] == [path]
    assert not ear.call("navigate", url=withheld).failed, "it is answered from the recording"
    assert ear.hears(SECRETS["plain"]) == []


def test_what_is_typed_elsewhere_is_said(ear: Ear) -> None:
    """Only passwords are masked."""
    ear.call("start_browser", sessionId="ann", navigationUrl=ear.url)
    ear.call("set_value", selector="label=User", value="ann-the-user")
    ear.call("execute_script", script="location.hash = 'ann-the-user'")
    assert "ann-the-user" in ear.call("get_visible_elements").text
    places = [place for place, content in ear.everything() if b"ann-the-user" in content]
    assert any(place.startswith("answer") for place in places)
    assert any("sessions.db" in place for place in places), "the search does not see the records"


@pytest.fixture(scope="module")
def far() -> Iterator[RemoteEnd]:
    """A chromedriver that asks for a password, and the secret that has it."""
    with remote_end(guarded=True) as end, pytest.MonkeyPatch.context() as environment:
        environment.setenv("FAR_END", end.secret_url)
        yield end


def go_through(ear: Ear, end: Relayed, start: dict[str, Any], delete: Callable[[str], object]) -> None:
    """All that can be done with a remote end behind a password, what goes wrong with it included."""
    nobody = end.secret_url.replace(end.url.rpartition(":")[2], str(free_port()))
    for url in (end.secret_url, "secret:FAR_END"):
        begin = {**start, "options": {"url": url}}
        started = ear.call("start_session", **begin, sessionId="far", navigationUrl=ear.url)
        row = started.data
        assert row.get("remoteUrl") == end.url, started.text
        ear.call("get_visible_elements", sessionId="far")
        ear.call("get_text", sessionId="far", selector="#none", timeout=50)
        ear.call("execute_script", sessionId="far", script="throw new Error('no')")
        ear.call("list_sessions")
        assert ear.call("start_session", **begin, sessionId="far").failed
        assert ear.call("start_session", **{**begin, "capabilities": {"platformName": "none"}}).failed
        where = {"remoteUrl": url, "remoteSessionId": row["remoteSessionId"]}
        ear.call("close_session", sessionId="far", detach=True)
        assert ear.call("attach_session", **where, sessionId="back").data["sessionId"] == "back"
        again = ear.call("attach_session", **where).data
        assert (again["sessionId"], again["provider"]) == ("back", start["provider"])
        assert ear.call("attach_session", **{**where, "remoteSessionId": "f" * 32}).code == "session_lost"
        ear.call("close_session", sessionId="back", status="failed", reason="no tea")
        ear.call("get_text", sessionId="back")
        delete(row["remoteSessionId"])
    for wrong in (nobody, end.secret_url.replace("http", "ftp"), [end.secret_url], {"url": end.secret_url}):
        assert ear.call("start_session", **{**start, "options": {"url": wrong}}).failed
        assert ear.call("attach_session", remoteUrl=wrong, remoteSessionId="f" * 32).failed
    assert ear.call("start_session", **{**start, "options": {"uri": end.secret_url}}).failed
    ear.call("start_session", **{**start, "options": {"url": "secret:FAR_END"}}, sessionId="left")


def test_the_password_of_a_remote_end_is_nowhere(home: Home, site: Site, tmp_path: Path, far: RemoteEnd) -> None:
    """Started, used, failed, listed, detached, attached, marked, left by a crash, taken over: nothing ever has it."""
    home.settings["park_ttl"] = "100"
    page = site.page("/", "<title>Far</title><p>far away")
    start = {"provider": "remote_url", "platform": "browser", "capabilities": far.capabilities()}
    with listening(home, page, tmp_path / "log") as ear:
        go_through(ear, far, start, lambda session: far.ask("DELETE", session, ""))
        assert ear.hears(PASSWORD) == []
        kill(ear.server.process)
        until(lambda: not runs(ear.server.process), "the server's end")
    with listening(home, page, tmp_path / "log of the next") as heir:
        assert not heir.call("get_text", sessionId="left").failed, "the next server finds the password by its name"
        assert heir.call("close_session", sessionId="left").data["failed"] == []
        assert heir.hears(PASSWORD) == []
    assert ear.hears(PASSWORD) == []
    assert far.sessions() == []


def test_the_password_of_a_grid_is_nowhere(
    home: Home, site: Site, tmp_path: Path, grid: GridEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same at a Selenium Grid, which is asked what it has and where sessions run."""
    start = {"provider": "selenium_grid", "platform": "browser"}
    page = site.page("/", "<title>Far</title><p>far away")
    with relayed(grid.port, Relayed(), guarded=True) as hub:
        monkeypatch.setenv("FAR_END", hub.secret_url)
        with listening(home, page, tmp_path / "log") as ear:
            go_through(ear, hub, start, lambda session: grid.ask("DELETE", session))
            assert ear.call("close_session", sessionId="left").data["failed"] == []
            assert ear.hears(PASSWORD) == []


def test_the_password_is_in_nothing_that_was_recorded() -> None:
    """No page, transcript or example has what the tests open remote ends with; where it is made up it stands once."""
    root = Path(__file__).parents[2]
    files = (path for name in ("docs", "examples", "tests") for path in (root / name).rglob("*") if path.is_file())
    kept = [path for path in files if "__pycache__" not in path.parts and path.name != "package-lock.json"]
    found = [path for path in kept if any(one in path.read_bytes() for one in spellings(PASSWORD))]
    assert found == [root / "tests" / "remote_end.py"]
