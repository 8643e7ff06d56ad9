"""The same calls over stdio, over HTTP in both protocols, and as JSON-RPC by hand: the same results."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.servers.doors import Door, Json, SdkDoor, by_hand, over_http
from tests.servers.http_mcp import HttpServer, http_server
from tests.servers.mcp import served
from tests.servers.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

FORM = """<title>Form</title><h1>Größe</h1>
<label>Name <input></label> <label>Secret <input type=password value=hush></label>
<button onclick="console.log('pressed');
 this.insertAdjacentHTML('afterend', '<p role=status>Saved</p>')">Save</button>"""
AT = {"sessionId": "shop"}
PNG_SIZE = slice(0, 40)
"""The characters of a picture in base64 that hold its width and height."""
CALLS: list[tuple[str, Json]] = [
    ("start_browser", {"sessionId": "shop", "navigationUrl": "URL"}),
    ("list_sessions", {}),
    ("get_visible_elements", AT),
    ("get_visible_elements", {**AT, "format": "json", "query": "Save"}),
    ("set_value", {**AT, "selector": "label=Name", "value": "Ann Ü"}),
    ("set_value", {**AT, "selector": "label=Nobody", "value": "x", "timeout": 0}),
    ("click_element", {**AT, "selector": "text=Save"}),
    ("expect", {**AT, "selector": "role=status", "text": "Sold", "timeout": 0}),
    ("execute_script", {**AT, "script": "return {ä: [1, 2.5, null, {deep: true}], text: '<b>\\n'}"}),
    (
        "execute_sequence",
        {
            **AT,
            "verbose": True,
            "actions": [
                {"action": "get_text", "selector": "h1"},
                {"action": "hover", "selector": "#none", "timeout": 0, "optional": True},
                {"action": "click_element", "selector": "#none", "timeout": 0},
            ],
        },
    ),
    ("get_console", AT),
    ("take_screenshot", AT),
    ("navigate", {**AT, "url": "file:///etc/passwd"}),
    ("get_text", {"sessionId": "other"}),
    ("get_text", {**AT, "selektor": "h1"}),
    ("no_such_tool", {}),
]
READS: list[tuple[str, Json]] = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/read", {"uri": "session://shop/outline"}),
    ("resources/read", {"uri": "session://shop/heap"}),
    ("prompts/get", {"name": "bug_report", "arguments": {"session": "shop", "problem": "none"}}),
]

_YEAR_2001 = 1e9
"""Seconds since 1970 that tell a time from other numbers."""
_OF_ONE_ERA = frozenset({"resultType", "ttlMs", "cacheScope", "_meta"})
_OF_ONE_CALL = frozenset(
    {
        "createdAt",
        "lastActiveAt",
        "remoteUrl",
        "remoteSessionId",
        "startedBy",
        "durationMs",
        "stabilityWaitMs",
        "time",
        "since",
    }
)
_OWN = (
    (re.compile(r"page-[a-z0-9]{5}\b"), "page-NAME"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)"), "TIME"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "ID"),
    (re.compile(r"(localhost|127\.0\.0\.1):\d+"), "HOST"),
    (re.compile(r"\b\d+ ms\b"), "N ms"),
    (re.compile(r"\b\d\d:\d\d:\d\d\.\d+|\b\d{10}(\.\d+)?"), "TIME"),
    (re.compile(r"startedBy .*?, remoteUrl"), "startedBy *, remoteUrl"),
)
"""Parts of results that each call, process or connection has of its own."""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """The pages' server."""
    with Site() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server over HTTP, whose tokens each have a namespace of their own."""
    with http_server(tmp_path_factory.mktemp("transports") / "home", "--file-urls", "roots") as started:
        yield started


class Transcript:
    """The results of all calls over one transport."""

    def __init__(self, door: Door, site: Site, folder: Path) -> None:
        self._door = door
        self._folder = folder
        self.results: dict[str, Any] = {}
        self._run(site)

    def _run(self, site: Site) -> None:
        url = site.page("/", FORM)
        for number, (tool, arguments) in enumerate(CALLS):
            given = {name: url if value == "URL" else value for name, value in arguments.items()}
            self._note(f"{number} {tool}", self._door.begin(tool, given).result())
        for number, (method, params) in enumerate(READS):
            self._note(f"{number} {method}", self._door.ask(method, params))
        self._wait_behind(site)
        self._note("close", self._door.begin("close_all_sessions", {}).result())

    def _wait_behind(self, site: Site) -> None:
        """Let a call wait behind another one: its progress says so."""
        heard, told = list[str](), Event()

        def hear(message: str) -> None:
            heard.append(message)
            told.set()

        path = f"/held/{secrets.token_hex(4)}"
        url, gate = site.page(path, "late"), site.gate(path)
        first = self._door.begin("navigate", {**AT, "url": url})
        gate.wait_entered()
        second = self._door.begin("get_text", AT, hear)
        assert told.wait(100)
        gate.open()
        assert not first.result().get("isError")
        self._note("behind it", second.result())
        self._note("progress", {"first": heard[0]})

    def _note(self, name: str, result: Json) -> None:
        self.results[name] = _common(result, str(self._folder))


def _common(value: Any, folder: str) -> Any:
    """Return what must be the same whatever the transport."""
    if isinstance(value, dict):
        if value.get("type") == "image":
            return {**value, "data": value["data"][PNG_SIZE]}
        kept = {
            key: "*" if key in _OF_ONE_CALL else value[key]
            for key in value
            if key not in _OF_ONE_ERA and value[key] is not False
        }
        return {key: _common(item, folder) for key, item in kept.items()}
    if isinstance(value, list):
        return [_common(item, folder) for item in value]
    if isinstance(value, float) and value > _YEAR_2001:
        return "TIME"
    if isinstance(value, str):
        value = re.sub(rf"{re.escape(folder)}/(home)?", "HOME/", value)
        value = re.sub(r"(screenshots|profiles|run)/[\w.-]+/", r"\1/", value)
        for pattern, name in _OWN:
            value = pattern.sub(name, value)
    return value


@pytest.fixture(scope="module")
def over_stdio(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Transcript:
    """What a client over stdio reads."""
    folder = tmp_path_factory.mktemp("stdio")
    with served(home=str(folder / "home")) as client:
        return Transcript(SdkDoor(client), site, folder)


def _http_2026(server: HttpServer) -> AbstractContextManager[Door]:
    return over_http(server, server.token("modern", namespace="modern"), "auto")


def _http_2025(server: HttpServer) -> AbstractContextManager[Door]:
    return over_http(server, server.token("legacy", namespace="legacy"), "legacy")


def _bare(server: HttpServer) -> AbstractContextManager[Door]:
    return by_hand(server, server.token("bare", namespace="bare"))


@pytest.mark.parametrize("connect", [_http_2026, _http_2025, _bare])
def test_every_transport_answers_as_stdio_does(
    connect: Callable[[HttpServer], AbstractContextManager[Door]],
    server: HttpServer,
    site: Site,
    over_stdio: Transcript,
) -> None:
    """Results, pictures, data, errors, progress, resources and prompts; but for ports, times and the like."""
    with connect(server) as door:
        found = Transcript(door, site, server.home.parent).results
    assert [*found] == [*over_stdio.results]
    for name, result in over_stdio.results.items():
        assert json.dumps(found[name], indent=1, sort_keys=True) == json.dumps(result, indent=1, sort_keys=True), name
    errors = [name for name, result in found.items() if result.get("isError")]
    assert [name.partition(" ")[0] for name in errors] == ["5", "7", "9", "12", "13", "14", "15"]


def test_a_client_over_stdio_of_the_2025_protocol_reads_the_same(over_stdio: Transcript, tmp_path: Path) -> None:
    """Without a browser: the list of tools, and refusals."""
    with served("legacy", home=str(tmp_path / "home")) as client:
        door = SdkDoor(client)
        assert _common(door.ask("tools/list", {}), str(tmp_path)) == over_stdio.results["0 tools/list"]
        refused = door.begin("no_such_tool", {}).result()
        assert _common(refused, str(tmp_path)) == over_stdio.results["15 no_such_tool"]
