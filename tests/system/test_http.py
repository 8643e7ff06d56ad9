"""The HTTP client for requests other than WebDriver's: one request, one answer."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.system import http
from orchestrator.system.deadline import Deadline
from tests.servers.answering import AnsweringServer, answering_server
from tests.servers.certificates import self_signed
from tests.servers.ports import free_port
from tests.waiting import PATIENCE


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    """A server that answers every request."""
    with answering_server() as started:
        yield started


def test_a_request_is_answered_whatever_the_status(server: AnsweringServer) -> None:
    """An error or a redirect is an answer, and each request has a connection of its own."""
    for status in (200, 302, 404, 500):
        server.status, server.fields = status, {"Location": "/elsewhere"}
        answer = http.request("GET", f"{server.url}/x?y=1", timeout=PATIENCE, headers={"Accept": "text/plain"})
        assert (answer.status, answer.json()) == (status, {"value": None})
    assert server.requests == [("GET", "/x?y=1", b"")] * 4
    assert len(set(server.clients)) == 4
    assert server.headers[0]["Accept"] == "text/plain"


def test_a_body_is_sent_whole_or_piece_by_piece(server: AnsweringServer) -> None:
    """Bytes get their length; an iterable brings its own."""
    http.request("POST", server.url, timeout=PATIENCE, body=b"all")
    http.request("PUT", server.url, timeout=PATIENCE, body=iter([b"a", b"ll"]), headers={"Content-Length": "3"})
    assert [(method, body) for method, _, body in server.requests] == [("POST", b"all"), ("PUT", b"all")]
    assert not any("Transfer-Encoding" in headers for headers in server.headers)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_without_an_answer_in_time_is_sent_once(server: AnsweringServer, method: str) -> None:
    """The error is a `TimeoutError`, and nothing is sent again."""
    server.status = None
    with pytest.raises(TimeoutError, match=r"^timed out$"):
        http.request(method, server.url, timeout=0.2)
    assert server.asked.wait(PATIENCE)
    assert len(server.requests) == 1


def test_a_failed_connection_is_reported_in_the_systems_words() -> None:
    """The messages are the system's, not urllib3's representations of its own objects."""
    nobody = f"http://127.0.0.1:{free_port()}/"
    with pytest.raises(http.ConnectionFailed, match=re.escape(os.strerror(errno.ECONNREFUSED))):
        http.request("GET", nobody, timeout=PATIENCE)
    with pytest.raises(http.ConnectionFailed, match=r"^\[Errno"):
        http.request("GET", "http://no-such-host.invalid/", timeout=PATIENCE)
    with pytest.raises(http.ConnectionFailed):
        http.request("GET", "http://..:1/", timeout=PATIENCE)


def test_an_untrusted_certificate_is_reported_in_openssls_words(tmp_path: Path) -> None:
    """The system's authorities apply."""
    with (
        answering_server(self_signed(tmp_path)) as server,
        pytest.raises(http.ConnectionFailed, match="certificate verify failed"),
    ):
        http.request("GET", server.url, timeout=PATIENCE)


def test_an_error_of_the_body_itself_reaches_the_caller(server: AnsweringServer) -> None:
    """An example is a file that cannot be read to its end."""

    def pieces() -> Iterator[bytes]:
        yield b"a"
        raise OSError("the file became shorter")

    with pytest.raises(OSError, match="the file became shorter"):
        http.request("POST", server.url, timeout=PATIENCE, body=pieces(), headers={"Content-Length": "2"})


def test_an_answer_is_bounded_in_size_and_time(server: AnsweringServer) -> None:
    """No more is read than requested, and a deadline ends a body that never does."""
    server.body = b"x" * 2_000_000
    assert len(http.request("GET", server.url, timeout=PATIENCE, largest=1000).body) < 1_000_000
    assert len(http.request("GET", server.url, timeout=PATIENCE).body) == 2_000_000
    with pytest.raises(TimeoutError, match="its answer has no end"):
        http.request("GET", server.url, timeout=PATIENCE, deadline=Deadline(0))


def test_a_proxy_is_used_for_other_hosts_alone(server: AnsweringServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither this machine nor the hosts that `no_proxy` names are reached through the proxy."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with answering_server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removeprefix("http://"))
        http.request("GET", server.url, timeout=PATIENCE)
        http.request("GET", "http://api.invalid/x", timeout=PATIENCE)
        assert [path for _, path, _ in proxy.requests] == ["http://api.invalid/x"]
        monkeypatch.setenv("no_proxy", "api.invalid")
        assert http.find_proxy("http://api.invalid/x") is None
    assert len(server.requests) == 1


def test_urllib3_and_selenium_load_with_the_first_request() -> None:
    """Importing the clients loads neither: a server starts without them."""
    code = "import sys, orchestrator.system.http, orchestrator.webdriver.new_session; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"urllib3", "selenium", "urllib.request", "http.client"}.isdisjoint(loaded)
