"""The server as clients start it: both eras of the protocol, and an orderly end in every case."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from orchestrator.system.process_identity import gone
from tests.e2e.harness import in_time
from tests.servers.mcp import check_first_calls
from tests.servers.raw_mcp import SERVE, RawServer
from tests.waiting import until

pytestmark = pytest.mark.browser

PAGE = "data:text/html,<title>T</title><button>Hi</button>"
SECONDS = 4.0
"""Seconds from the end of input to a client's SIGKILL."""

each_era = pytest.mark.parametrize("mode", ["auto", "legacy"])
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process could handle")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, without other servers' sessions."""
    return {**os.environ, "ORCHESTRATOR_HOME": str(tmp_path / "home"), "ORCHESTRATOR_NAMESPACE": "stdio"}


@asynccontextmanager
async def connected(environment: dict[str, str], mode: Literal["auto", "legacy"], log: Path) -> AsyncIterator[Client]:
    """Connect a client to a server that it started."""
    server = StdioServerParameters(command=SERVE[0], args=SERVE[1:], env=environment)
    with log.open("w") as errlog:
        async with Client(stdio_client(server, errlog=errlog), mode=mode) as client:
            yield client


@each_era
async def test_modern_and_legacy_mcp_clients_list_and_call_tools(
    environment: dict[str, str], mode: Literal["auto", "legacy"], tmp_path: Path
) -> None:
    """X1: tools with their schemas, instructions, and results that meet the schemas (the SDK's client checks them)."""
    log = tmp_path / "log"
    async with connected(environment, mode, log) as client:
        await check_first_calls(client)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["serving over stdio", "ending"]
    assert lines[-1]["reason"] == "end of input"


async def test_a_client_of_the_2026_protocol_may_keep_the_list_for_minutes_and_others_are_told_nothing(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The list holds for this client alone and for five minutes; the older protocol has no such fields."""
    async with connected(environment, "auto", tmp_path / "log") as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (300_000, "private")
    server = RawServer(environment)
    try:
        server.ask(2, "tools/list", {})
        assert set(server.answer()["result"]) == {"tools"}
    finally:
        server.close()


@pytest.fixture
def server(environment: dict[str, str]) -> Iterator[RawServer]:
    """A server with one browser."""
    server = RawServer(environment)
    try:
        server.call(2, "start_browser", sessionId="alice", navigationUrl=PAGE)
        assert not server.answer()["result"].get("isError")
        yield server
    finally:
        server.close()


def assert_gone(processes: list[psutil.Process]) -> None:
    """Wait until nothing of the browser is left; orphans are reaped by init, which takes its time."""
    assert processes
    until(lambda: all(map(gone, processes)), f"the end of {processes}")


def end_input_amid_a_call(server: RawServer) -> float:
    """Close the input while a call is in flight; return the seconds until the server ended."""
    server.call(3, "wait_for", text="never", timeout=600_000)
    assert server.process.stdin is not None
    server.process.stdin.close()
    return server.ended()


def end_input_with_output_unread(server: RawServer) -> float:
    """Close the input when more was answered than a pipe holds; return the seconds until the server ended."""
    for number in range(3, 40):
        server.call(number, "execute_script", script="return 'x'.repeat(15000)")
    assert server.process.stdin is not None
    server.process.stdin.close()
    return server.ended()


def send_signals_amid_a_call(server: RawServer, signals: list[str]) -> float:
    """Send signals while a call is in flight; return the seconds until the server ended."""
    server.call(3, "wait_for", text="never", timeout=600_000)
    for name in signals:
        server.process.send_signal(getattr(signal, name))
    return server.ended()


def test_end_of_input_ends_the_server_and_its_browser(server: RawServer) -> None:
    """A call in flight is cancelled, the browser ends, and the exit code is 0."""
    started = server.children()
    end_input_amid_a_call(server)
    assert server.process.returncode == 0
    assert_gone(started)


SIGNALS = [["SIGINT"], ["SIGTERM", "SIGINT", "SIGTERM"]]


@posix
@pytest.mark.parametrize("signals", SIGNALS, ids="+".join)
def test_sigint_and_sigterm_end_the_server_and_its_browser(server: RawServer, signals: list[str]) -> None:
    """The server cleans up once, for one signal or several, though stdin stays open and a call is in flight."""
    started = server.children()
    send_signals_amid_a_call(server, signals)
    assert server.process.returncode == 0
    assert_gone(started)


def test_a_client_that_stops_reading_does_not_keep_the_server_alive(server: RawServer) -> None:
    """A server whose output nobody reads ends all the same, and so does its browser."""
    started = server.children()
    end_input_with_output_unread(server)
    assert server.process.returncode == 0
    assert_gone(started)


@pytest.mark.clock
@pytest.mark.parametrize("end", [end_input_amid_a_call, end_input_with_output_unread])
def test_the_server_ends_within_four_seconds_of_the_end_of_input(
    server: RawServer, end: Callable[[RawServer], float]
) -> None:
    """The server is gone before its client would kill it, whatever it was about to do."""
    assert end(server) < in_time(SECONDS)


@posix
@pytest.mark.clock
@pytest.mark.parametrize("signals", SIGNALS, ids="+".join)
def test_the_server_ends_within_four_seconds_of_a_signal(server: RawServer, signals: list[str]) -> None:
    """The server is gone before its client would kill it, for one signal or several."""
    assert send_signals_amid_a_call(server, signals) < in_time(SECONDS)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """A server without a session, for all lines that cannot be read."""
    home = tmp_path_factory.mktemp("bare")
    server = RawServer({**os.environ, "ORCHESTRATOR_HOME": str(home), "ORCHESTRATOR_NAMESPACE": "stdio"})
    try:
        yield server
    finally:
        server.close()


CALL = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": %s}'
REFUSED = {
    "deep": (CALL % ("[" * 300 + "]" * 300), 7, -32600, "nested deeper than 200 levels"),
    "too deep for anyone": (CALL % ("[" * 9000 + "]" * 9000), 7, -32700, "nested deeper than 200 levels"),
    "params a list": (
        CALL % '["list_sessions"]',
        7,
        -32600,
        "its params is wrong (Input should be an object)",
    ),
    "raw control character": (CALL % '{"name": "a\x01b"}', 7, -32700, "control character"),
    "cut off": ((CALL % '{"name": {"id": 9}}')[:-3], 7, -32700, "EOF while parsing"),
    "cut off in its id": (CALL[: CALL.index("7") + 1], None, -32700, "EOF while parsing"),
    "id as text": ('{"id": "a\\"b", "method": "ping", "jsonrpc": }', 'a"b', -32700, "expected value"),
    "id null": ('{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', None, -32600, "its id is neither"),
    "id a fraction": ('{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', None, -32600, "its id is neither"),
    "a batch": ('[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', None, -32600, "a message is one object"),
    "no JSON": ("hello", None, -32700, "expected value"),
}


@pytest.mark.parametrize(("line", "number", "code", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_message_that_cannot_be_read_is_refused_with_its_id(
    bare: RawServer, line: str, number: object, code: int, reason: str
) -> None:
    """Nothing is left unanswered: the sender is told what is wrong, and the connection goes on."""
    bare.send_line(line)
    bare.call(8, "list_sessions")
    refusal = bare.answer()
    assert (refusal.get("id"), refusal["error"]["code"]) == (number, code)
    assert reason in refusal["error"]["message"]
    assert refusal["error"]["message"].endswith("Nothing was done.")
    assert bare.answer()["result"]["structuredContent"] == {"sessions": [], "currentSession": None}


def test_half_an_emoji_is_replaced_wherever_it_stands(bare: RawServer) -> None:
    """A call with lone surrogates is run, with U+FFFD in their place; a whole pair stays what it is."""
    name = r'{"name": "set_current_session", "arguments": {"sessionId": "a\ud83d"}}'
    bare.send_line(CALL % name)
    bare.call(8, "list_sessions")
    refused = bare.answer()
    assert refused["id"] == 7
    assert "a\ufffd" in refused["result"]["content"][0]["text"]
    assert bare.answer()["id"] == 8
    bare.send_line(r'{"jsonrpc": "2.0", "id": "\udfff", "method": "tools/call", "params": {"name": "\ud83d\ude00"}}')
    unknown = bare.answer()
    assert unknown["id"] == "\ufffd"
    assert "\U0001f600" in json.dumps(unknown, ensure_ascii=False)


def test_what_needs_no_answer_gets_none(bare: RawServer) -> None:
    """Empty lines and broken answers to requests of ours are left out, as are notifications."""
    for line in (
        "",
        "   ",
        '{"jsonrpc": "2.0", "id": 1, "result": 5}',
        '{"jsonrpc": "2.0", "method": "notifications/x"}',
    ):
        bare.send_line(line)
    bare.call(8, "list_sessions")
    assert bare.answer()["id"] == 8
