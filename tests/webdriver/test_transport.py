"""WebDriver commands over HTTP: sent once, over one kept connection, cancelled from another thread."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import NoAnswer, OrchestratorError, RemoteFailure, SessionLost
from orchestrator.webdriver import commands, transport
from orchestrator.webdriver.credentials import Credentials
from orchestrator.webdriver.remote import Remote
from orchestrator.webdriver.response import RemoteResponse
from tests.servers.answering import AnsweringServer, answering_server
from tests.servers.certificates import self_signed
from tests.servers.ports import free_port
from tests.waiting import PATIENCE

GET: tuple[str, dict[str, Any]] = ("getCurrentUrl", {})
POST: tuple[str, dict[str, Any]] = ("w3cExecuteScript", {"script": "return 1", "args": []})


@pytest.fixture
def end() -> Iterator[AnsweringServer]:
    """A remote end that answers null to every command."""
    with answering_server() as server:
        yield server


@pytest.fixture
def remote(end: AnsweringServer) -> Iterator[Remote]:
    """The client of a session there."""
    client = Remote(end.url, "s1", name="shop", timeout=20)
    yield client
    client.close()


@pytest.mark.parametrize(("command", "params"), [GET, POST], ids=["GET", "POST"])
def test_a_command_without_an_answer_in_time_is_sent_once(
    end: AnsweringServer, remote: Remote, command: str, params: dict[str, Any]
) -> None:
    """Neither a GET nor a POST is repeated after its timeout: the remote end may have carried it out."""
    end.status = None
    with pytest.raises(NoAnswer, match=r"did not answer within 0\.3 s"):
        remote.execute(command, limit=0.3, **params)
    assert end.asked.wait(PATIENCE)
    assert len(end.requests) == 1


@pytest.mark.parametrize(("command", "params"), [GET, POST], ids=["GET", "POST"])
def test_a_command_in_flight_is_cancelled_from_another_thread(
    end: AnsweringServer, remote: Remote, command: str, params: dict[str, Any]
) -> None:
    """The waiting thread gets an error at once, and no later command is sent, over any connection."""
    end.status = None
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(remote.execute, command, **params)
        assert end.asked.wait(PATIENCE)
        remote.cancel_commands()
        with pytest.raises(SessionLost, match="closed the connection without an answer"):
            waiting.result(PATIENCE)
    for _ in range(2):
        remote.close()
        with pytest.raises(SessionLost):
            remote.execute(command, **params)
    assert len(end.requests) == 1


def test_a_command_after_a_cancellation_before_any_is_not_sent(end: AnsweringServer, remote: Remote) -> None:
    """A cancellation before the first connection is opened counts as well."""
    remote.cancel_commands()
    with pytest.raises(SessionLost):
        remote.execute("getTitle")
    assert end.requests == []


def test_commands_share_a_connection_until_it_is_closed(end: AnsweringServer, remote: Remote) -> None:
    """The connection is kept between commands; after `close` the next command opens another one."""
    for _ in range(3):
        remote.execute("getTitle")
    assert len(set(end.clients)) == 1
    remote.close()
    remote.execute("getTitle")
    assert len(set(end.clients)) == 2


def test_commands_carry_method_path_body_and_credentials_of_the_url(end: AnsweringServer) -> None:
    """The password is only in the header; GET and DELETE have no body, and no body has the session's id."""
    remote = Remote(end.url.replace("://", "://ann:s%2Fme@"), "s1", name="shop", timeout=20)
    assert remote.url == end.url
    remote.execute("getElementAttribute", id="e1", name="href")
    remote.execute("findElement", using="css selector", value="p")
    remote.with_own_connection(20).delete(5)
    remote.close()
    assert end.requests == [
        ("GET", "/session/s1/element/e1/attribute/href", b""),
        ("POST", "/session/s1/element", b'{"using": "css selector", "value": "p"}'),
        ("DELETE", "/session/s1", b""),
    ]
    assert {headers["Authorization"] for headers in end.headers} == {"Basic YW5uOnMvbWU="}
    assert {headers["User-Agent"].partition("/")[0] for headers in end.headers} == {"selenium"}


def test_credentials_are_shared_by_the_clients_that_are_given_them(end: AnsweringServer) -> None:
    """Clients with one credentials object share the credentials in the URL of any; other clients get none."""
    credentials = Credentials()
    Remote(end.url.replace("://", "://ann:me@"), "s1", name="shop", timeout=20, credentials=credentials)
    for given in (credentials, None):
        client = Remote(end.url, "s1", name="shop", timeout=20, credentials=given)
        client.execute("getTitle")
        client.close()
    assert ["Authorization" in headers for headers in end.headers] == [True, False]


def test_a_callers_credentials_replace_those_of_earlier_clients_and_none_in_a_url(end: AnsweringServer) -> None:
    """Credentials in the URL itself have priority, then those of a caller, then those of an earlier client."""
    credentials = Credentials()
    address = end.url.replace("://", "://{}@")
    assert credentials.remember(address.format("old:1")) == end.url
    assert (credentials.find(end.url), credentials.given(end.url)) == (("old", "1"), None)
    assert credentials.give(address.format("ann:2")) == end.url
    assert (credentials.find(end.url), credentials.given(end.url)) == (("ann", "2"), ("ann", "2"))
    assert credentials.find(address.format("eve:3")) == ("eve", "3")


def test_a_redirect_is_an_error_and_credentials_do_not_follow_it(end: AnsweringServer) -> None:
    """Another host never gets this one's password."""
    with answering_server() as other:
        end.status, end.body, end.fields = 302, b"", {"Location": f"{other.url}/session"}
        remote = Remote(end.url.replace("://", "://ann:me@"), "s1", name="shop", timeout=20)
        with pytest.raises(RemoteFailure, match="'HTTP 302': Found"):
            remote.execute("getTitle")
        remote.close()
        assert other.requests == []


def test_no_proxy_is_used_for_this_machine(
    end: AnsweringServer, remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local driver is reached directly, even with a proxy in the environment; another host is not."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with answering_server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("://", "://pat:pw@"))
        remote.execute("getTitle")
        far = Remote("http://grid.invalid:4444/wd/hub", "s1", name="shop", timeout=20)
        far.execute("getTitle")
        far.close()
        assert [path for _, path, _ in proxy.requests] == ["http://grid.invalid:4444/wd/hub/session/s1/title"]
        assert proxy.headers[0]["proxy-authorization"] == "Basic cGF0OnB3"
    assert len(end.requests) == 1


def test_a_certificate_is_trusted_by_the_file_of_requests_ca_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`REQUESTS_CA_BUNDLE` names the trusted authorities; a TLS connection can be cancelled as well."""
    with answering_server(self_signed(tmp_path)) as end:
        distrusting = Remote(end.url, "s1", name="shop", timeout=20)
        with pytest.raises(SessionLost, match="is not trusted"):
            distrusting.execute("getTitle")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "own.pem"))
        remote = Remote(end.url, "s1", name="shop", timeout=20)
        remote.execute("getTitle")
        end.status = None
        end.asked.clear()
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(remote.execute, "getTitle")
            assert end.asked.wait(PATIENCE)
            remote.cancel_commands()
            with pytest.raises(SessionLost):
                waiting.result(PATIENCE)


def test_a_get_of_the_remote_end_itself_belongs_to_no_session(end: AnsweringServer, remote: Remote) -> None:
    """Its path is below the remote URL, and errors are those of commands."""
    end.body = b'{"value": {"ready": true}}'
    assert remote.get("/status", limit=5) == {"ready": True}
    assert end.requests == [("GET", "/status", b"")]
    end.status, end.body = 404, b'{"value": {"error": "unknown command", "message": "none"}}'
    with pytest.raises(RemoteFailure, match="unknown command"):
        remote.get("/se/grid", limit=5)
    assert remote.status(5) == {}


def test_a_refused_connection_is_no_timeout() -> None:
    """A port where nothing listens is reported as such, at once."""
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(NoAnswer, match=f"nothing listens at {url}"):
        Remote(url, "s1", name="shop", timeout=20).execute("getTitle")


@pytest.mark.parametrize(
    ("status", "body", "value", "error", "message"),
    [
        (200, b'{"value": [1]}', [1], None, ""),
        (200, b'{"status": 7, "value": "no such element"}', None, "HTTP 7", "no such element"),
        (404, b'{"value": {"error": "no such window", "message": "is\\ngone"}}', None, "no such window", "is gone"),
        (404, b"", None, "HTTP 404", "Not Found"),
        (799, b"", None, "HTTP 799", "its answer is not WebDriver's"),
    ],
)  # fmt: skip
def test_answers_of_webdrivers_are_read(
    *, status: int, body: bytes, value: object, error: str | None, message: str
) -> None:
    """Values and errors of the standard and of older servers are read; the status of anything else is the error."""
    answer = RemoteResponse.read(status, body)
    assert (answer.value, answer.error, answer.message) == (value, error, message)


OF_A_SERVICE = (
    b"key=AKIA-OF-A-SERVICE",
    b'"key=AKIA-OF-A-SERVICE"',
    b'["AKIA-OF-A-SERVICE"]',
    b'{"key": "AKIA-OF-A-SERVICE"}',
    b'{"status": "AKIA-OF-A-SERVICE", "message": "AKIA-OF-A-SERVICE"}',
    b"<title>x</title><h1>AKIA-OF-A-SERVICE</h1>",
)


def test_nothing_of_a_body_that_is_not_webdriver_s_is_quoted(end: AnsweringServer, subtests: pytest.Subtests) -> None:
    """An internal service whose URL was given as that of a remote end cannot be read by errors or values."""
    for status, body in itertools.product((200, 302, 401, 404, 500, 502), OF_A_SERVICE):
        end.status, end.body = status, body
        remote = Remote(end.url, "s1", name="shop", timeout=20)
        with subtests.test(f"{status} {body!r}"):
            with pytest.raises(OrchestratorError) as refused:
                remote.execute("getTitle")
            assert "AKIA" not in json.dumps(refused.value.details) + str(refused.value)
        remote.close()


def test_an_answer_that_comes_a_byte_at_a_time_ends_with_its_time(end: AnsweringServer, remote: Remote) -> None:
    """A body that never ends, and a head that never does, are given up when the time of the command is over."""
    for head in (b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: "):
        end.dribble = head
        with pytest.raises(NoAnswer, match=r"did not answer within 0\.5 s"):
            remote.execute("getTitle", limit=0.5)
        assert not end.over.is_set()


def test_an_answer_larger_than_the_limit_is_an_error(
    end: AnsweringServer, remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of it is not read, the error says how large an answer may be, and the next command is answered."""
    monkeypatch.setattr(transport, "LARGEST", 1 << 20)
    end.body = json.dumps({"value": "x" * (1 << 20)}).encode()
    with pytest.raises(RemoteFailure, match="its answer is larger than 1 MB"):
        remote.execute("getTitle")
    end.body = b'{"value": "short"}'
    assert remote.execute("getTitle") == "short"


def test_an_unknown_command_or_a_missing_part_of_its_path_is_a_bug() -> None:
    """Nothing is sent in either case."""
    for command in ("fly", "getElementText"):
        with pytest.raises(KeyError):
            commands.resolve(command, "s1", {})


def test_a_dead_connection_is_replaced_before_a_command_and_not_after(end: AnsweringServer, remote: Remote) -> None:
    """A server may close an idle connection: the next command opens another one and is sent once."""
    end.fields = {"Connection": "close"}
    remote.execute("getTitle")
    remote.execute("getTitle")
    assert len(end.requests) == len(set(end.clients)) == 2
    end.status = None
    with pytest.raises(OrchestratorError):
        remote.execute("getTitle", limit=0.2)
    assert len(end.requests) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_lack_of_open_files_of_our_own_does_not_lose_the_session(end: AnsweringServer, remote: Remote) -> None:
    """The error is retryable and names what is lacking; the next command is sent when there are files again."""
    import resource  # noqa: PLC0415 — POSIX

    remote.execute(*GET[:1])
    remote.close()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        with pytest.raises(OrchestratorError) as refused:
            remote.execute(*GET[:1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert (refused.value.code, refused.value.retryable) == ("remote_error", True)
    assert refused.value.message == (
        "This process has no open file left (EMFILE): the remote end of session 'shop' could not be asked."
    )
    assert len(end.requests) == 1
    assert remote.execute(*GET[:1]) is None
