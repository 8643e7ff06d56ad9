"""What goes wrong between here and a remote end: each fault has its name, its time, and leaves nothing behind."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest

from tests.certificates import self_signed
from tests.e2e.harness import Home, until
from tests.e2e.stage import refused
from tests.grid_end import GridEnd, grid_end
from tests.ports import free_port
from tests.remote_end import PASSWORD, USER, Relayed, RemoteEnd, relayed, remote_end
from tests.served import Answer, Served
from tests.site import Site

NGINX = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"
Start = Callable[..., Answer]


@pytest.fixture(scope="module")
def end() -> Iterator[RemoteEnd]:
    """A chromedriver that somebody else runs."""
    with remote_end() as end:
        yield end


@pytest.fixture
def port(end: RemoteEnd) -> int:
    """Where the chromedriver listens."""
    return urlsplit(end.driver_url).port or 0


@pytest.fixture(params=["remote_url", "selenium_grid"])
def start(request: pytest.FixtureRequest, modern: Served, shared_home: Home, end: RemoteEnd) -> Iterator[Start]:
    """Ask for a session at a URL; whatever came of it, nothing of it is left in the records and at the remote end."""

    def call(url: str, **more: object) -> Answer:
        where = {"provider": request.param, "options": {"url": url, "startTimeout": 3}}
        return modern.call("start_session", platform="browser", **where, capabilities={**end.capabilities(), **more})

    yield call
    assert shared_home.records() == []
    assert end.sessions() == []


def test_nothing_listens(start: Start) -> None:
    """The URL is named."""
    url = f"http://127.0.0.1:{free_port()}"
    text = refused(start(url), "start_failed")
    assert f"Session 'browser-1' could not be started: nothing listens at {url}. Check the URL" in text


def test_there_is_no_such_host(start: Start) -> None:
    """It is told apart from a host where nothing listens."""
    assert "could not be started: there is no host 'grid.invalid'." in refused(
        start("http://grid.invalid"), "start_failed"
    )


def test_the_path_is_wrong(start: Start, end: RemoteEnd) -> None:
    """What listens is a WebDriver, and says that it knows no such thing."""
    text = refused(start(f"{end.url}/wd/hub"), "start_failed")
    assert f"Check the path of the URL: {end.url}/wd/hub/session takes no sessions." in text


def test_what_listens_is_a_web_site(start: Start, site: Site) -> None:
    """Its page is told as text, without its markup."""
    text = refused(start(site.url("")), "start_failed")
    assert "The remote end answered 'HTTP 404': nothing at /s" in text
    assert "Check the path of the URL" in text
    assert "<" not in text


@pytest.mark.parametrize("given", ["", f"{USER}:wrong-password@"])
def test_the_password_is_wrong(start: Start, port: int, given: str) -> None:
    """Or missing; the one that was tried is not told."""
    with relayed(port, Relayed(), guarded=True) as door:
        text = refused(start(door.url.replace("://", f"://{given}")), "provider_auth")
    assert f"The remote end at {door.url} refused our credentials (HTTP 401)." in text
    assert "wrong-password" not in text
    assert PASSWORD not in text


def test_the_certificate_is_not_trusted(start: Start, port: int, tmp_path: Path) -> None:
    """What would make it trusted is said; what is asked for in the clear is not answered at all."""
    with relayed(port, Relayed(), tls=self_signed(tmp_path)) as door:
        text = refused(start(door.url), "start_failed")
        assert f"the certificate of {door.url} is not trusted (self-signed certificate)." in text
        assert "REQUESTS_CA_BUNDLE" in text
        plain = door.url.replace("https:", "http:")
        assert f"{plain} closed the connection without an answer." in refused(start(plain), "start_failed")


def test_what_listens_speaks_no_tls(start: Start, end: RemoteEnd) -> None:
    """The scheme is wrong."""
    url = end.url.replace("http:", "https:")
    text = refused(start(url), "start_failed")
    assert f"what listens at {url} does not speak TLS. Write http:// if" in text


def test_the_hub_says_nothing(start: Start) -> None:
    """A connection is accepted, and that is all: the start's own deadline ends it."""
    with socket.create_server(("127.0.0.1", 0)) as hub:
        text = refused(start(f"http://127.0.0.1:{hub.getsockname()[1]}"), "start_failed")
    assert re.search(r"did not (answer|start) within 3 s", text)


def test_a_session_that_comes_too_late_is_ended(start: Start, end: RemoteEnd, port: int) -> None:
    """The hub lives, and takes its time for this request: what comes of it when nobody waits is ended there."""
    free = Event()
    with relayed(port, Relayed(fault=_hang(free))) as door:
        text = refused(start(door.url), "start_failed")
        assert f"did not start within 3 s: {door.url} did not answer the request for a session. Try again" in text
        free.set()
        until(lambda: door.requests and door.requests[-1][0] == "DELETE", "the end of the late session")
        until(lambda: not end.sessions(), "its end at the remote end")


def test_a_session_that_a_grid_starts_too_late_is_ended(modern: Served, shared_home: Home, grid: GridEnd) -> None:
    """A proxy hands the request on although nobody waits: the Grid is looked at until it is known what became of it."""
    free = Event()
    with relayed(grid.port, Relayed(fault=_hang(free))) as door:
        where = {"provider": "selenium_grid", "options": {"url": door.url, "startTimeout": 3}}
        refused(modern.call("start_session", platform="browser", **where), "start_failed")
        assert shared_home.records() == []
        free.set()
        until(lambda: door.requests[-1][0] == "DELETE", "the end of the late session")
    until(lambda: not grid.sessions(), "its end at the Grid")


def test_every_slot_is_taken(modern: Served, shared_home: Home) -> None:
    """The start's own deadline ends the waiting, or the Grid's does; neither leaves the request in the queue."""
    flags = ("--session-request-timeout", "6", "--session-request-timeout-period", "1")
    with grid_end(1, 1, hub=flags) as small:
        small.start()
        where = {"platform": "browser", "provider": "selenium_grid"}
        answer = modern.call("start_session", **where, options={"url": small.url, "startTimeout": 3})
        text = refused(answer, "start_failed")
        assert "did not start within 3 s: place 1 of 1 in the Grid's queue." in text
        assert text.count("The Grid had no free slot in time: close sessions there, or add nodes.") == 1
        until(lambda: not small.waiting(), "an empty queue")
        answer = modern.call("start_session", **where, options={"url": small.url, "startTimeout": 60})
        text = refused(answer, "start_failed")
        assert "timed out" in text
        assert "The Grid had no free slot in time: close sessions there, or add nodes." in text
        assert (shared_home.records(), small.waiting(), len(small.sessions())) == ([], [], 1)


@pytest.mark.parametrize(("status", "said"), [(502, "502 Bad Gateway"), (503, "503 Service Unavailable")])
def test_a_proxy_does_not_reach_the_hub(start: Start, port: int, status: int, said: str) -> None:
    """It is the proxy that answers."""
    with relayed(port, Relayed(fault=lambda *_: (status, NGINX))) as door:
        text = refused(start(door.url), "start_failed")
    assert f"could not be started: a proxy before {door.url} answered {said}. Try again;" in text
    assert "nginx" not in text


def test_a_capability_is_refused(start: Start, end: RemoteEnd) -> None:
    """In the remote end's own words."""
    text = refused(start(end.url, pageLoadStrategy="never"), "start_failed")
    assert "invalid 'pageLoadStrategy'. Check the capabilities and options of the start." in text


def test_a_proxy_fails_once_under_an_open_session(modern: Served, site: Site, end: RemoteEnd, port: int) -> None:
    """The call says that it may succeed again, and the next one does; the end is tried again by itself."""
    faults: list[tuple[int, str]] = []
    url = site.page("/", "<title>Still here</title>")
    with relayed(port, Relayed(fault=lambda *_: faults.pop() if faults else None)) as door:
        _started(modern, end, door)
        modern.ok("navigate", url=url)
        for status, said in ((502, "502 Bad Gateway"), (504, "504 Gateway Timeout")):
            faults.append((status, NGINX))
            answer = modern.call("get_text")
            text = refused(answer, "remote_error")
            assert f"The remote end cannot be reached: a proxy before {door.url} answered {said}." in text
            assert answer.data["error"]["retryable"]
            assert modern.ok("get_visible_elements")["title"] == "Still here"
        faults.append((502, NGINX))
        assert modern.ok("close_session")["failed"] == []
    assert end.sessions() == []


def test_a_network_fails_under_an_open_session(modern: Served, end: RemoteEnd, port: int) -> None:
    """Of another machine that cannot be reached nobody knows whether it runs: the session is there when it answers."""
    host = "127.0.0.2"  # not this machine, as far as its name goes
    if sys.platform != "linux":
        pytest.skip("this system has one loopback address")
    with relayed(port, Relayed(), at=(host, 0)) as door:
        _started(modern, end, door)
    answer = modern.call("get_text")
    assert f"cannot be reached: nothing listens at {door.url}." in refused(answer, "remote_error")
    with relayed(port, Relayed(), at=(host, urlsplit(door.url).port or 0)):
        modern.ok("get_text")
        modern.ok("close_session")
    assert end.sessions() == []


def _hang(free: Event) -> Callable[[str, str], None]:
    """Hold requests for sessions back until then."""

    def hang(method: str, path: str) -> None:
        if (method, path) == ("POST", "/session"):
            free.wait(60)

    return hang


def _started(server: Served, end: RemoteEnd, door: Relayed) -> None:
    server.ok(
        "start_session",
        platform="browser",
        provider="remote_url",
        options={"url": door.url},
        capabilities=end.capabilities(),
    )
