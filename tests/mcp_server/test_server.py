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

from orchestrator.actions.base import Action, ResultT
from orchestrator.actions.mouse import ClickElement
from orchestrator.api import Orchestrator
from orchestrator.mcp_server.server import McpServer
from orchestrator.mcp_server.tool_calls import ToolCalls
from orchestrator.models.emulation import Viewport
from orchestrator.models.requests import StartRequest
from orchestrator.models.results import Acted
from orchestrator.sessions import progress
from orchestrator.sessions.rows import CurrentSession, SessionRow
from orchestrator.settings import Settings
from tests.waiting import PATIENCE


class Recorder(Orchestrator):
    """A façade that only records its calls; the real one is tested elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self.failure: Exception | None = None

    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Record the call."""
        self.asked.append((action, session_id))
        if self.failure:
            raise self.failure
        return Acted()  # type: ignore[return-value]

    async def start(self, request: StartRequest, *, wait: bool = True, claim: bool = False) -> SessionRow:
        """Record the call."""
        assert not claim
        self.asked.append((request, wait))
        raise self.failure or AssertionError


@pytest.fixture
def facade() -> Recorder:
    """The façade that the app calls."""
    return Recorder()


@pytest.fixture
def app(facade: Recorder) -> ToolCalls:
    """An app with all tools over the façade."""
    return ToolCalls(facade)


def opened(facade: Recorder, heartbeat: float = 5.0) -> McpServer:
    """A server whose orchestrator is open from the start."""
    server = McpServer(Settings(), heartbeat=heartbeat)
    server.open(ToolCalls(facade))
    return server


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """The logged text."""
    with structlog.testing.capture_logs() as entries:
        yield entries


def text(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def test_calling_an_unknown_tool_returns_an_error_result(app: ToolCalls) -> None:
    """A model can read a result; it never sees a protocol error."""
    result = await app.call_tool("clik_element", {})
    assert result.is_error
    assert text(result) == (
        "invalid_argument: There is no tool 'clik_element'. Did you mean 'click_element'? describe_actions lists all."
    )


@pytest.mark.parametrize("name", ["sessionId", "session_id"])
async def test_session_id_is_accepted_in_camel_case_and_snake_case(app: ToolCalls, facade: Recorder, name: str) -> None:
    """The session id goes to the façade, not into the action's arguments."""
    await app.call_tool("click_element", {"selector": "#a", name: "alice"})
    assert facade.asked == [(ClickElement(selector="#a"), "alice")]


async def test_a_session_id_that_is_no_string_is_refused(app: ToolCalls, facade: Recorder) -> None:
    """A sessionId that is a list is refused, and the façade is not called."""
    result = await app.call_tool("click_element", {"selector": "#a", "sessionId": ["a"]})
    assert text(result) == "invalid_argument: Argument 'sessionId' must be text."
    assert facade.asked == []


async def test_an_unknown_argument_is_refused_with_the_nearest_valid_name(app: ToolCalls, facade: Recorder) -> None:
    """The valid names include sessionId, although it is no field of the action."""
    result = await app.call_tool("click_element", {"selector": "#a", "sesionId": "a"})
    assert text(result) == (
        "invalid_argument: Unknown argument 'sesionId'. Did you mean 'sessionId'? "
        "Valid: selector, button, count, modifiers, scrollToView, observe, timeout, sessionId."
    )
    assert facade.asked == []


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
    [
        ("start_browser", {"name": "ann"}, "sessionId"),
        ("navigate", {"href": "http://localhost"}, "url"),
        ("execute_script", {"code": "1"}, "script"),
        ("press_keys", {"key": "Enter"}, "keys"),
    ],
)
async def test_a_name_that_models_guess_is_answered_with_the_parameter(
    app: ToolCalls, facade: Recorder, tool: str, arguments: dict[str, str], meant: str
) -> None:
    """Words of other drivers lead to our parameter, though no letters do."""
    [unknown] = arguments
    result = await app.call_tool(tool, arguments)
    assert f"Unknown argument '{unknown}'." in text(result)
    assert f"Did you mean '{meant}'? Valid: " in text(result)
    assert facade.asked == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("browser_click", "Did you mean 'click_element'?"),
        ("browser_snapshot", "Did you mean 'get_visible_elements'?"),
        ("type_text", "Did you mean 'set_value'?"),
        ("click_elements", "Did you mean 'click_element'?"),
        ("close", "Did you mean 'close_session', 'close_sessions' or 'close_all_sessions'?"),
    ],
)
async def test_a_wrong_tool_name_is_answered_with_three_at_most(app: ToolCalls, name: str, hint: str) -> None:
    """The nearest by words or letters, never the whole list."""
    result = await app.call_tool(name, {})
    assert text(result) == f"invalid_argument: There is no tool '{name}'. {hint} describe_actions lists all."


def test_calls_reach_the_facade_in_order_of_arrival(app: ToolCalls, facade: Recorder) -> None:
    """F12 W26: calls are queued in order of arrival, since nothing is awaited on the way."""
    calls = [app.call_tool("click_element", {"selector": f"#a{n}"}) for n in range(3)]
    for call in calls:
        with pytest.raises(StopIteration):
            call.send(None)
    assert [action.selector for action, _ in facade.asked] == ["#a0", "#a1", "#a2"]


async def test_an_internal_error_is_reported_without_a_traceback(
    app: ToolCalls, facade: Recorder, logged: list[Any]
) -> None:
    """The caller learns that the fault is not its own; the log has the details."""
    facade.failure = KeyError("hunter2")
    result = await app.call_tool("click_element", {"selector": "#a"})
    assert text(result) == ("remote_error: Internal error in click_element (KeyError). See the server's log.")
    [entry] = logged
    assert (entry["event"], entry["tool"], entry["log_level"]) == ("a tool broke", "click_element", "error")
    assert entry["exc_info"]


async def test_start_browser_passes_on_only_the_arguments_given(
    app: ToolCalls, facade: Recorder, logged: list[Any]
) -> None:
    """Omitted arguments get the façade's own defaults."""
    arguments = {"sessionId": "a", "viewport": {"width": 800, "height": 600}, "args": ["--mute-audio"], "wait": False}
    await app.call_tool("start_browser", arguments)
    await app.call_tool("start_browser", {})
    wish = StartRequest(session_id="a", viewport=Viewport(width=800, height=600), args=("--mute-audio",))
    assert facade.asked == [(wish, False), (StartRequest(), True)]
    assert len(logged) == 2


@pytest.mark.parametrize("platform", ["browser", "Browser"])
async def test_start_session_accepts_the_platform_in_any_case(
    app: ToolCalls, facade: Recorder, logged: list[Any], platform: str
) -> None:
    """Models write iOS, ios and IOS."""
    await app.call_tool("start_session", {"provider": "local", "platform": platform, "options": '{"a": 1}'})
    assert facade.asked == [(StartRequest(options={"a": 1}), True)]
    assert logged


async def test_an_unknown_platform_is_refused_with_the_valid_ones(app: ToolCalls) -> None:
    """An unknown platform is answered with all platforms."""
    result = await app.call_tool("start_session", {"provider": "local", "platform": "symbian"})
    assert text(result) == "invalid_argument: Argument 'platform' must be 'browser', 'ios' or 'android'."


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_long_call_sends_progress_to_a_client_that_asks_for_it(
    facade: Recorder, mode: Literal["auto", "legacy"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that asks for progress gets messages while its call runs; others get no notification."""
    told: list[str | None] = []
    twice = anyio.Event()

    async def waits(session_id: str) -> CurrentSession:
        if session_id == "long":
            await twice.wait()
        else:
            await anyio.sleep(0.2)  # in which a client that asked would be told something
        return CurrentSession(current_session=session_id)

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total) == (True, None)
        told.append(message)
        if len(told) == 2:
            twice.set()

    monkeypatch.setattr(facade, "set_current_session", waits)
    async with Client(opened(facade, heartbeat=0.05).server, mode=mode) as client:
        await client.call_tool("set_current_session", {"sessionId": "long"}, progress_callback=note)
        await client.list_tools()  # what was sent before is there now
        asked = len(told)
        await client.call_tool("set_current_session", {"sessionId": "short"})
    assert told[0] == "set_current_session: working for 0 s"
    assert asked == len(told) >= 2


async def test_a_worker_threads_message_reaches_the_client_as_progress(
    facade: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message from the worker's thread reaches the client once, long before the next heartbeat."""
    told: list[str | None] = []
    heard = anyio.Event()

    async def waits(session_id: str) -> CurrentSession:
        await anyio.to_thread.run_sync(progress.report_progress, "place 2 of 3 in the queue")
        await heard.wait()
        return CurrentSession(current_session=session_id)

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        told.append(message)
        heard.set()

    monkeypatch.setattr(facade, "set_current_session", waits)
    async with Client(opened(facade, heartbeat=3600).server) as client:
        await client.call_tool("set_current_session", {"sessionId": "a"}, progress_callback=note)
    assert told == ["set_current_session: place 2 of 3 in the queue"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_concurrent_tool_calls_do_not_block_each_other(
    facade: Recorder, mode: Literal["auto", "legacy"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """F12: a waiting call delays no other call."""
    begun, let = anyio.Event(), anyio.Event()

    async def waits(session_id: str) -> CurrentSession:
        if session_id == "waiting":
            begun.set()
            await let.wait()
        return CurrentSession(current_session=session_id)

    monkeypatch.setattr(facade, "set_current_session", waits)
    with anyio.fail_after(PATIENCE):
        async with Client(opened(facade).server, mode=mode) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "set_current_session", {"sessionId": "waiting"})
            await begun.wait()
            answer = await client.call_tool("set_current_session", {"sessionId": "other"})
            let.set()
    assert not answer.is_error
