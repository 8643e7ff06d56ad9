"""Calls of tools on their way to the façade and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import anyio
import anyio.to_thread
import pytest
import structlog
from mcp import Client
from mcp.types import CallToolResult, TextContent

from orchestrator import progress
from orchestrator.actions.base import Action, ResultT
from orchestrator.actions.pointer import ClickElement
from orchestrator.actions.results import Acted
from orchestrator.api import Orchestrator
from orchestrator.emulation import Viewport
from orchestrator.mcp_server.app import App
from orchestrator.models import StartRequest
from orchestrator.rows import Current, Row


class Recorder(Orchestrator):
    """A façade that notes what it is asked for and does nothing; whether the real one works is tested elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self.failure: Exception | None = None

    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Note it."""
        self.asked.append((action, session_id))
        if self.failure:
            raise self.failure
        return Acted()  # type: ignore[return-value]

    async def set_current_session(self, session_id: str) -> Current:
        """Take the time that the id says."""
        await anyio.sleep(float(session_id))
        return Current(current_session=session_id)

    async def start(self, request: StartRequest, *, wait: bool = True) -> Row:
        """Note it."""
        self.asked.append((request, wait))
        raise self.failure or AssertionError


@pytest.fixture
def facade() -> Recorder:
    """What the app calls."""
    return Recorder()


@pytest.fixture
def app(facade: Recorder) -> App:
    """The app over it."""
    return App(facade)


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """What was logged."""
    with structlog.testing.capture_logs() as entries:
        yield entries


def text(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def test_an_unknown_tool_is_a_result(app: App) -> None:
    """A model can read a result; a protocol error it never sees."""
    result = await app.call("clik_element", {})
    assert result.is_error
    assert text(result) == ("invalid_argument: There is no tool 'clik_element'. Did you mean 'click_element'?")


@pytest.mark.parametrize("name", ["sessionId", "session_id"])
async def test_the_session_is_addressed_in_either_spelling(app: App, facade: Recorder, name: str) -> None:
    """The action itself knows nothing of it."""
    await app.call("click_element", {"selector": "#a", name: "alice"})
    assert facade.asked == [(ClickElement(selector="#a"), "alice")]


async def test_a_session_that_is_no_text_is_refused(app: App, facade: Recorder) -> None:
    """Nothing is touched."""
    result = await app.call("click_element", {"selector": "#a", "sessionId": ["a"]})
    assert text(result) == "invalid_argument: Argument 'sessionId' must be text."
    assert facade.asked == []


async def test_an_unknown_argument_is_refused_with_the_nearest(app: App, facade: Recorder) -> None:
    """SessionId is among the valid names, though no field of the action."""
    result = await app.call("click_element", {"selector": "#a", "sesionId": "a"})
    assert text(result) == (
        "invalid_argument: Unknown argument 'sesionId'. Did you mean 'sessionId'? "
        "Valid: selector, button, count, modifiers, observe, timeout, sessionId."
    )
    assert facade.asked == []


def test_calls_reach_the_facade_without_a_pause(app: App, facade: Recorder) -> None:
    """F12 W26: what arrives first is queued first, for nothing is awaited on the way."""
    calls = [app.call("click_element", {"selector": f"#a{n}"}) for n in range(3)]
    for call in calls:
        with pytest.raises(StopIteration):
            call.send(None)
    assert [action.selector for action, _ in facade.asked] == ["#a0", "#a1", "#a2"]


async def test_a_bug_of_ours_is_told_without_a_traceback(app: App, facade: Recorder, logged: list[Any]) -> None:
    """The caller learns that it was not to blame; the log has the rest."""
    facade.failure = KeyError("hunter2")
    result = await app.call("click_element", {"selector": "#a"})
    assert text(result) == (
        "remote_error: Internal error in click_element (KeyError). What happened stands in the server's log."
    )
    [entry] = logged
    assert (entry["event"], entry["tool"], entry["log_level"]) == ("a tool broke", "click_element", "error")
    assert entry["exc_info"]


async def test_start_browser_asks_for_what_was_given(app: App, facade: Recorder, logged: list[Any]) -> None:
    """What was left out has the façade's own defaults."""
    arguments = {"sessionId": "a", "viewport": {"width": 800, "height": 600}, "args": ["--mute-audio"], "wait": False}
    await app.call("start_browser", arguments)
    await app.call("start_browser", {})
    wish = StartRequest(session_id="a", viewport=Viewport(width=800, height=600), args=("--mute-audio",))
    assert facade.asked == [(wish, False), (StartRequest(), True)]
    assert len(logged) == 2


@pytest.mark.parametrize("platform", ["browser", "Browser"])
async def test_start_session_takes_any_case(app: App, facade: Recorder, logged: list[Any], platform: str) -> None:
    """Models write iOS, ios and IOS."""
    await app.call("start_session", {"provider": "local", "platform": platform, "options": '{"a": 1}'})
    assert facade.asked == [(StartRequest(options={"a": 1}), True)]
    assert logged


async def test_start_session_names_the_platforms(app: App) -> None:
    """In any case; a wrong one is answered with all of them."""
    result = await app.call("start_session", {"provider": "local", "platform": "symbian"})
    assert text(result) == "invalid_argument: Argument 'platform': it is one of 'browser', 'ios', 'android'."


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_signs_of_life_for_who_asks(facade: Recorder, mode: Literal["auto", "legacy"]) -> None:
    """A client that gives up on silent calls is told that this one is still at work."""
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total) == (True, None)
        told.append(message)

    async with Client(App(facade, heartbeat=0.05).server, mode=mode) as client:
        await client.call_tool("set_current_session", {"sessionId": "0.2"}, progress_callback=note)
        asked = len(told)
        await client.call_tool("set_current_session", {"sessionId": "0.2"})
    assert told[0] == "set_current_session: working for 0 s"
    assert asked == len(told) >= 2


async def test_what_a_call_waits_for_is_told(facade: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the work says in its thread reaches the client as progress, once, long before the next sign of life."""
    told: list[str | None] = []
    heard = anyio.Event()

    async def waits(session_id: str) -> Current:
        await anyio.to_thread.run_sync(progress.tell, "place 2 of 3 in the queue")
        await heard.wait()
        return Current(current_session=session_id)

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        told.append(message)
        heard.set()

    monkeypatch.setattr(facade, "set_current_session", waits)
    async with Client(App(facade, heartbeat=3600).server) as client:
        await client.call_tool("set_current_session", {"sessionId": "a"}, progress_callback=note)
    assert told == ["set_current_session: place 2 of 3 in the queue"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_calls_run_at_the_same_time(facade: Recorder, mode: Literal["auto", "legacy"]) -> None:
    """F12: one that waits keeps no other one waiting."""
    ended: list[str] = []

    async def call(client: Client, seconds: str) -> None:
        await client.call_tool("set_current_session", {"sessionId": seconds})
        ended.append(seconds)

    async with Client(App(facade).server, mode=mode) as client, anyio.create_task_group() as group:
        group.start_soon(call, client, "0.3")
        group.start_soon(call, client, "0")
    assert ended == ["0", "0.3"]
