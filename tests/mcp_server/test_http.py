"""The server over HTTP as clients of both eras meet it: who may come in, whose sessions they see, and how it ends."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult, TextContent

from orchestrator.cli import commands
from orchestrator.cli.doctor.clients import CLIENTS
from orchestrator.mcp_server.http.tokens import FIRST_FILE_NAME, TokenFile
from tests.cli.test_cli import run
from tests.servers.certificates import self_signed
from tests.servers.http_mcp import MODERN, Era, HttpServer, connected, http_server, last_message, make_call
from tests.servers.mcp import check_first_calls
from tests.servers.site import Site
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.full, pytest.mark.browser, pytest.mark.timeout(400)]

PAGE = "data:text/html,<title>T</title><button>Hi</button>"
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "list_sessions", "arguments": {}}}
EVIL = "http://evil.example"

each_era = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server whose callers are gone after three seconds of silence."""
    home = tmp_path_factory.mktemp("http") / "home"
    with http_server(home, "--detach-after", "3", "--http-body", "1") as started:
        yield started


@pytest.fixture(scope="module")
def ann(server: HttpServer) -> str:
    """A token that may act, in the first namespace."""
    return server.token("ann")


@pytest.fixture(scope="module")
def root(server: HttpServer) -> str:
    """The token that the first start made: an administrator's."""
    return (server.home / FIRST_FILE_NAME).read_text().strip()


@pytest.fixture(scope="module")
def shop(server: HttpServer, ann: str, root: str) -> Iterator[str]:
    """A session of ann's, by its name."""
    started = server.call(ann, "start_browser", {"sessionId": "shop", "navigationUrl": PAGE})
    assert not started.get("isError"), started
    yield "shop"
    server.call(root, "close_session", {"sessionId": "shop"})


def error(response: Any) -> dict[str, Any]:
    """Return the data of a refusal, which says what to do in text and data alike."""
    body = json.loads(response.data)["error"]
    data: dict[str, Any] = body.get("data", body)
    assert data["message"]
    assert data["hint"]
    assert data["hint"] in body["message"] or body is data
    return data


def text_of(answer: CallToolResult) -> str:
    """Return the first text of a result."""
    texts = [part.text for part in answer.content if isinstance(part, TextContent)]
    return texts[0]


def test_the_first_start_makes_a_token_in_a_file_that_only_the_user_can_read(server: HttpServer, root: str) -> None:
    """Its hash alone is in `tokens.toml`, its secret in no log, and the log says what to do next."""
    for file in (server.home / FIRST_FILE_NAME, server.home / "tokens.toml"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert root not in (server.home / "tokens.toml").read_text()
    assert root not in json.dumps(server.lines)
    assert any("orchestrator doctor --client" in line.get("next", "") for line in server.lines)
    assert server.request(root, PING).status == 400  # known, but no session of the protocol


@pytest.mark.parametrize(
    ("status", "code", "request_"),
    [
        (421, "wrong_host", {"body": PING, "headers": {"Host": "evil.example"}}),
        (403, "foreign_origin", {"body": PING, "headers": {"Origin": EVIL}}),
        (413, "too_large", {"body": b"x" * 1_100_000}),
        (400, "broken_json", {"body": b'{"jsonrpc": '}),
        (415, "wrong_media", {"body": PING, "headers": {"Content-Type": "text/plain"}}),
        (406, "wrong_media", {"body": PING, "headers": {"Accept": "text/html"}}),
        (404, "stale_session", {"body": PING, "headers": {"Mcp-Session-Id": "0" * 32}}),
        (405, "wrong_method", {"method": "PUT"}),
        (404, "not_found", {"path": "/elsewhere", "method": "GET"}),
    ],
)
def test_each_refusal_has_its_status_and_says_what_to_do(
    server: HttpServer, ann: str, status: int, code: str, request_: dict[str, Any]
) -> None:
    """The status of HTTP, and a JSON error with a code, what happened, and what to do next."""
    response = server.request(ann, **request_)
    assert (response.status, error(response)["code"]) == (status, code)


def test_without_a_known_token_nothing_is_served(server: HttpServer) -> None:
    """401 with the scheme of the token; the two cases are told apart, and no token is repeated."""
    missing, wrong = server.request(None, PING), server.request("wdo_secret-of-someone", PING)
    assert (missing.status, wrong.status) == (401, 401)
    assert missing.headers["WWW-Authenticate"].startswith("Bearer ")
    assert error(missing)["message"] == "A token is needed."
    assert error(wrong)["message"] == "This token is not known here."
    assert b"secret-of-someone" not in wrong.data
    assert "secret-of-someone" not in json.dumps(server.lines)


def test_an_unknown_version_of_the_protocol_is_answered_with_the_known_ones(server: HttpServer, ann: str) -> None:
    """400, and the versions that are served."""
    response = server.request(ann, PING, {"Mcp-Protocol-Version": "2999-01-01"})
    assert (response.status, error(response)["code"]) == (400, "unknown_version")
    assert {"2025-06-18", "2026-07-28"} <= {*error(response)["supported"]}


def test_calls_above_the_rate_are_refused_until_they_have_grown_back(server: HttpServer) -> None:
    """429 with the seconds to wait, and `retryable`; nothing else is counted."""
    token = server.token("slow", calls_per_minute=1)
    headers = {"Mcp-Session-Id": "0" * 32}
    assert [server.request(token, LIST, headers).status for _ in range(2)] == [404, 429]
    refused = server.request(token, LIST, headers)
    assert error(refused)["retryable"]
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert json.loads(refused.data)["id"] == LIST["id"]
    assert server.request(token, PING, headers).status == 404


@each_era
async def test_clients_of_both_eras_list_and_call_tools(server: HttpServer, ann: str, mode: Era) -> None:
    """X1 over HTTP: the same list, instructions and results as over stdio."""
    async with connected(server, ann, mode) as client:
        await check_first_calls(client)


async def test_a_token_calls_what_its_role_and_its_list_allow(server: HttpServer) -> None:
    """Other tools are neither listed nor run, not as a step either."""
    reader, few = server.token("reader", role="read"), server.token("few", tools="list_sessions,execute_sequence")
    async with connected(server, reader) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "get_text" in names
        assert names.isdisjoint({"start_browser", "click_element", "execute_sequence"})
        refused = await client.call_tool("start_browser", {})
        assert refused.structured_content["error"]["code"] == "denied"
        assert not (await client.call_tool("list_sessions", {})).is_error
    async with connected(server, few) as client:
        assert not (await client.call_tool("list_sessions", {})).is_error
        step = {"actions": [{"action": "navigate", "url": PAGE}]}
        refused = await client.call_tool("execute_sequence", step)
        assert "denied" in text_of(refused)


def test_sessions_of_other_namespaces_are_not_seen(server: HttpServer, shop: str) -> None:
    """X7 over HTTP: another namespace learns nothing of a session, not by an error about its name either."""
    stranger = server.token("stranger", namespace="two")
    assert server.call(stranger, "list_sessions")["structuredContent"]["sessions"] == []
    for tool, arguments in (
        ("get_text", {"sessionId": shop}),
        ("set_current_session", {"sessionId": shop}),
        ("close_session", {"sessionId": shop}),
        ("close_all_sessions", {}),
    ):
        answer = server.call(stranger, tool, arguments)
        unknown = server.call(stranger, tool, dict.fromkeys(arguments, "other"))
        assert json.dumps(answer).replace(shop, "other") == json.dumps(unknown)


async def test_a_silent_caller_is_parked_and_comes_back_to_its_session(server: HttpServer, ann: str, shop: str) -> None:
    """Another token of the namespace sees that session meanwhile, owns nothing of it, and keeps nobody there."""
    friend = server.token("friend")
    async with connected(server, friend) as client:
        with anyio.fail_after(PATIENCE):
            while True:
                listed = await client.call_tool("list_sessions", {})
                [row] = listed.structured_content["sessions"]
                assert (row["sessionId"], row["owned"]) == (shop, False)
                if row["state"] == "parked":
                    break
                await anyio.sleep(0.2)
        assert listed.structured_content["currentSession"] is None
    async with connected(server, ann) as client:
        assert "Hi" in text_of(await client.call_tool("get_text", {}))


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_call_whose_connection_drops_is_cancelled_and_says_so_to_the_next(
    server: HttpServer, ann: str, shop: str, era: str
) -> None:
    """A sequence stops in its step: the next call runs at once, reads where, and the steps behind it have not run."""
    with Site() as site:
        url = site.page("/begun", "<button>Begun</button>")
        steps = [
            {"action": "navigate", "url": url},
            {"action": "wait_for", "selector": "#never", "timeout": 300_000},
            {"action": "navigate", "url": "about:blank"},
        ]
        call = make_call("execute_sequence", {"sessionId": shop, "actions": steps, "timeout": 400_000})
        headers = server.open_session(ann) if era == "2025" else MODERN | {"Mcp-Name": "execute_sequence"}
        with server.cut_off(ann, call, headers):
            site.wait_visits("/begun")
        text = server.call(ann, "get_text", {"sessionId": shop})
        assert "Begun" in json.dumps(text["content"])
        events = text["structuredContent"]["events"]
        assert any(event.startswith("execute_sequence was cancelled in step ") for event in events), events


def test_an_administrator_ends_claims_of_others_and_nobody_else_does(
    server: HttpServer, ann: str, root: str, shop: str
) -> None:
    """Role `admin`: `release_session` by force; a token of the role `act` that started nothing is refused."""
    claimed = server.call(ann, "claim_session", {"sessionId": shop})
    assert not claimed.get("isError"), claimed
    force = {"sessionId": shop, "force": True}
    refused = server.call(server.token("rival"), "release_session", force)
    assert refused["structuredContent"]["error"]["code"] == "session_claimed"
    assert server.call(root, "release_session", force)["structuredContent"]["released"] == [shop]


def test_agents_that_cannot_be_told_apart_must_name_their_sessions(server: HttpServer) -> None:
    """`require_session_id` `auto`, by each token: it was two named starts of a client that hides its sub-agents."""
    hiding, open_ = (server.token(name, namespace="agents") for name in ("hiding", "open"))
    for name in ("x:alice", "x:bob"):
        assert not server.call(hiding, "start_browser", {"sessionId": name}, "claude-code").get("isError")
    page = {"url": PAGE}
    refused = server.call(hiding, "navigate", page, "claude-code")["structuredContent"]["error"]
    assert (refused["code"], "several agents may share this connection" in refused["message"]) == ("no_session", True)
    assert not server.call(hiding, "set_current_session", {"sessionId": "x:bob"}, "claude-code").get("isError")
    assert not server.call(hiding, "navigate", page, "claude-code").get("isError")
    assert not server.call(open_, "set_current_session", {"sessionId": "x:alice"}).get("isError")
    assert not server.call(open_, "navigate", page, "claude-code").get("isError")
    server.call(hiding, "close_all_sessions")


def test_tokens_are_added_and_revoked_without_a_restart(
    server: HttpServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`orchestrator tokens`: the secret is printed once; the list has none; a revoked token is refused at once."""
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(server.home))

    def tokens(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            commands.run(["tokens", *words])
        assert ended.value.code == 0
        return capsys.readouterr().out.strip()

    secret = tokens("add", "eve", "--namespace", "two", "--role", "read")
    assert "eve: read in two, 600 calls a minute, 16 at a time" in tokens("list")
    assert secret not in tokens("list", "--json")
    assert server.request(secret, PING).status == 400
    assert tokens("revoke", "eve") == "Revoked: eve."
    assert server.request(secret, PING).status == 401
    assert "eve" not in {token.name for token in TokenFile(server.home).list_tokens()}


def test_doctor_prints_what_each_client_needs_for_the_server(
    server: HttpServer, root: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The URL, and the first token as long as it is valid; a home without one gets a placeholder, and says so."""
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(server.home))
    monkeypatch.setenv("ORCHESTRATOR_HTTP", server.base.removeprefix("http://"))
    for client in CLIENTS:
        with pytest.raises(SystemExit):
            commands.run(["doctor", "--client", client, "--http"])
        printed = capsys.readouterr()
        assert server.url in printed.out
        assert f"Bearer {root}" in printed.out
        assert "Commit it nowhere." in printed.err
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(server.home / "other"))
    with pytest.raises(SystemExit):
        commands.run(["doctor", "--client", "cursor", "--http", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert "Bearer TOKEN" in data["snippet"]
    assert "orchestrator tokens add NAME" in data["notes"][0]


def test_health_and_readiness_need_no_token(server: HttpServer) -> None:
    """`/health` says that the process lives, `/ready` that the store answers and a driver is there."""
    assert json.loads(server.request(path="/health", method="GET").data) == {"status": "ok"}
    ready = server.request(path="/ready", method="GET")
    assert (ready.status, json.loads(ready.data)) == (
        200,
        {"status": "ok", "store": True, "driver": True, "running": True},
    )


def test_the_end_answers_calls_in_flight_and_the_next_server_has_the_sessions(tmp_path: Path) -> None:
    """SIGTERM leaves calls the time `drain`, answers the rest, and parks; a token finds its current session again.

    The answer is that a call may be made again, and that one which had begun may have run.
    """
    home = tmp_path / "home"
    with Site() as site, http_server(home, "--drain", "1") as first, ThreadPoolExecutor() as pool:
        token = first.token("ann")
        steps = [
            {"action": "navigate", "url": site.page("/begun", "<button>Begun</button>")},
            {"action": "wait_for", "selector": "#never", "timeout": 300_000},
        ]
        first.call(token, "start_browser")
        call = make_call("execute_sequence", {"actions": steps, "timeout": 400_000})
        begun = pool.submit(first.request, token, call, MODERN | {"Mcp-Name": "execute_sequence"})
        site.wait_visits("/begun")
        assert first.end() == 0
        answer = last_message(begun.result().data)["result"]["structuredContent"]["error"]
        assert (answer["code"], answer["retryable"], answer["mayHaveRun"]) == ("remote_error", True, True)
        assert [line["reason"] for line in first.lines if line["event"] == "ending"] == ["SIGTERM"]
    with http_server(home) as second:
        assert "Begun" in json.dumps(second.call(token, "get_text")["content"])
        second.call(token, "close_all_sessions")


def test_nothing_is_served_to_other_machines_without_encryption(tmp_path: Path) -> None:
    """The refusal names the three ways out."""
    refused = run("serve", "--http", "0.0.0.0:0", ORCHESTRATOR_HOME=str(tmp_path))
    assert refused.returncode != 0
    assert refused.stderr.startswith("0.0.0.0 is reachable from other machines, and tokens would go there unencrypted.")
    assert "--tls-certificate" in refused.stderr
    assert "--insecure" in refused.stderr


def test_tls_takes_a_certificate_and_its_key(tmp_path: Path) -> None:
    """A client that trusts the certificate is served over TLS."""
    self_signed(tmp_path)
    pem = tmp_path / "own.pem"
    files = ("--tls-certificate", str(pem), "--tls-key", str(pem))
    with http_server(tmp_path / "home", *files, authority=pem) as server:
        assert server.url.startswith("https://127.0.0.1:")
        assert "sessions" in server.call(server.token("ann"), "list_sessions")["structuredContent"]
