"""Faults between us and a remote end: each has its own error, ends in time, and leaves nothing behind."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest

from tests.e2e.harness import Home
from tests.e2e.stage import refused
from tests.servers.certificates import self_signed
from tests.servers.grid import GridEnd, grid_end
from tests.servers.mcp import Answer, Served
from tests.servers.ports import free_port
from tests.servers.site import Site
from tests.servers.webdriver import PASSWORD, USER, Relayed, RemoteEnd, relayed, remote_end
from tests.waiting import until

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

NGINX = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"
Start = Callable[..., Answer]


@pytest.fixture(scope="module")
def end() -> Iterator[RemoteEnd]:
    """A chromedriver that is not ours."""
    with remote_end() as end:
        yield end


@pytest.fixture
def port(end: RemoteEnd) -> int:
    """The port at which the chromedriver is asked, by way of the relay that names its browser."""
    return urlsplit(end.url).port or 0


@pytest.fixture(params=["remote_url", "selenium_grid"])
def start(request: pytest.FixtureRequest, modern: Served, shared_home: Home, end: RemoteEnd) -> Iterator[Start]:
    """Request a session at a URL; afterwards nothing of it may be left in the records and at the remote end."""

    def call(url: str, seconds: int = 60, **more: object) -> Answer:
        where = {"provider": request.param, "options": {"url": url, "startTimeout": seconds}}
        return modern.call("start_session", platform="browser", **where, capabilities={**end.capabilities(), **more})

    yield call
    assert shared_home.records() == []
    assert end.sessions() == []


def test_a_start_at_a_url_where_nothing_listens_fails_and_names_the_url(start: Start) -> None:
    """A refused connection fails the start with an error that names the URL."""
    url = f"http://127.0.0.1:{free_port()}"
    text = refused(start(url), "start_failed")
    assert f"Session 'browser-1' could not be started: nothing listens at {url}. Check the URL" in text


def test_a_start_at_an_unknown_host_fails_and_names_the_host(start: Start) -> None:
    """The error for an unknown host differs from that for a known host where nothing listens."""
    assert "could not be started: there is no host 'grid.invalid'." in refused(
        start("http://grid.invalid"), "start_failed"
    )


def test_a_wrong_path_in_the_url_of_a_webdriver_fails_the_start_with_a_hint(start: Start, end: RemoteEnd) -> None:
    """A WebDriver that knows no such path fails the start with a hint to check the path of the URL."""
    text = refused(start(f"{end.url}/wd/hub"), "start_failed")
    assert f"Check the path of the URL: {end.url} takes no sessions there." in text


def test_a_start_at_a_plain_web_site_reports_its_status_and_nothing_of_its_answer(start: Start, site: Site) -> None:
    """An ordinary web server's error is reported by its status, with a hint to check the path.

    It may be a service that only this machine reaches, and whose answers are nobody's business.
    """
    text = refused(start(site.url("")), "start_failed")
    assert "The remote end answered 'HTTP 404': Not Found" in text
    assert "Check the path of the URL" in text
    assert "nothing at" not in text


def test_the_time_of_a_start_holds_for_what_comes_after_the_answer(modern: Served, end: RemoteEnd, port: int) -> None:
    """A remote end that creates the session and then is silent fails the start when `startTimeout` is over."""
    # Long enough to create a browser, and shorter than the 30 s that a single command may take.
    options = {"startTimeout": 15}
    over = Event()

    def hold(method: str, path: str) -> None:
        if method != "DELETE" and path != "/session" and not path.endswith("/status"):
            over.wait()

    with relayed(port, Relayed(fault=hold)) as door:
        try:
            where = {"provider": "remote_url", "options": {"url": door.url, **options}}
            answer = modern.call("start_session", platform="browser", **where, capabilities=end.capabilities())
            text = refused(answer, "start_failed")
        finally:
            over.set()
    assert end.sessions() == []
    assert f"did not start within 15 s: {door.url} was slow to prepare the session" in text
    assert "Try again, or raise start_timeout." in text


@pytest.mark.parametrize("given", ["", f"{USER}:wrong-password@"])
def test_a_missing_or_wrong_password_fails_the_start_as_provider_auth(start: Start, port: int, given: str) -> None:
    """A rejected password fails the start with HTTP 401, and the password that was tried is not shown."""
    with relayed(port, Relayed(), guarded=True) as door:
        text = refused(start(door.url.replace("://", f"://{given}")), "provider_auth")
    assert f"The remote end at {door.url} refused our credentials (HTTP 401)." in text
    assert "wrong-password" not in text
    assert PASSWORD not in text


def test_an_untrusted_certificate_fails_the_start_and_names_the_ca_setting(
    start: Start, port: int, tmp_path: Path
) -> None:
    """An untrusted certificate and plain HTTP to a TLS port each fail with an explanation of their own."""
    with relayed(port, Relayed(), tls=self_signed(tmp_path)) as door:
        text = refused(start(door.url), "start_failed")
        assert f"the certificate of {door.url} is not trusted (self-signed certificate)." in text
        assert "REQUESTS_CA_BUNDLE" in text
        plain = door.url.replace("https:", "http:")
        assert f"{plain} closed the connection without an answer." in refused(start(plain), "start_failed")


def test_https_to_a_plain_http_port_fails_the_start_with_a_hint(start: Start, end: RemoteEnd) -> None:
    """An https URL of a server without TLS fails with the hint to use http instead."""
    url = end.url.replace("http:", "https:")
    text = refused(start(url), "start_failed")
    assert f"what listens at {url} does not speak TLS. Write http:// if" in text


def test_a_silent_hub_fails_the_start_at_its_deadline(start: Start) -> None:
    """A hub that accepts the connection and never answers is given up at the start's own deadline."""
    with socket.create_server(("127.0.0.1", 0)) as hub:
        text = refused(start(f"http://127.0.0.1:{hub.getsockname()[1]}", 3), "start_failed")
    assert re.search(r"did not (answer|start) within 3 s", text)


def test_a_session_created_after_its_start_timed_out_is_deleted(start: Start, end: RemoteEnd, port: int) -> None:
    """A session that a slow remote end creates after the start's deadline is deleted there."""
    free = Event()
    with relayed(port, Relayed(fault=_hang(free))) as door:
        text = refused(start(door.url, 10), "start_failed")
        assert f"did not start within 10 s: {door.url} did not answer the request for a session. Try again" in text
        free.set()
        until(lambda: door.requests and door.requests[-1][0] == "DELETE", "the end of the late session")
        until(lambda: not end.sessions(), "its end at the remote end")


def test_a_grid_session_created_after_its_start_timed_out_is_deleted(
    modern: Served, shared_home: Home, grid: GridEnd
) -> None:
    """After a timed-out start behind a proxy the Grid is watched until the late session appears and is deleted."""
    free = Event()
    with relayed(grid.port, Relayed(fault=_hang(free))) as door:
        where = {"provider": "selenium_grid", "options": {"url": door.url, "startTimeout": 10}}
        refused(modern.call("start_session", platform="browser", **where), "start_failed")
        assert shared_home.records() == []
        free.set()
        until(lambda: door.requests[-1][0] == "DELETE", "the end of the late session")
    until(lambda: not grid.sessions(), "its end at the Grid")


def test_a_start_without_a_free_grid_slot_fails_and_leaves_the_queue(modern: Served, shared_home: Home) -> None:
    """The start's deadline or the Grid's own ends the wait, and neither leaves the request in the queue."""
    flags = ("--session-request-timeout", "25", "--session-request-timeout-period", "1")
    with grid_end(1, 1, hub=flags) as small:
        small.start()
        where = {"platform": "browser", "provider": "selenium_grid"}
        answer = modern.call("start_session", **where, options={"url": small.url, "startTimeout": 10})
        text = refused(answer, "start_failed")
        assert "did not start within 10 s: place 1 of 1 in the Grid's queue." in text
        assert text.count("The Grid had no free slot in time: close sessions there, or add nodes.") == 1
        until(lambda: not small.waiting(), "an empty queue")
        answer = modern.call("start_session", **where, options={"url": small.url, "startTimeout": 60})
        text = refused(answer, "start_failed")
        assert "timed out" in text
        assert "The Grid had no free slot in time: close sessions there, or add nodes." in text
        assert (shared_home.records(), small.waiting(), len(small.sessions())) == ([], [], 1)


@pytest.mark.parametrize(("status", "expected"), [(502, "502 Bad Gateway"), (503, "503 Service Unavailable")])
def test_a_502_or_503_fails_the_start_as_an_error_of_the_proxy(
    start: Start, port: int, status: int, expected: str
) -> None:
    """A bad gateway is reported as the proxy's answer, without its HTML."""
    with relayed(port, Relayed(fault=lambda *_: (status, NGINX))) as door:
        text = refused(start(door.url), "start_failed")
    assert f"could not be started: a proxy before {door.url} answered {expected}. Try again;" in text
    assert "nginx" not in text


def test_a_refused_capability_is_reported_in_the_remote_ends_words(start: Start, end: RemoteEnd) -> None:
    """A rejected capability fails the start with the remote end's own message."""
    text = refused(start(end.url, pageLoadStrategy="never"), "start_failed")
    assert "invalid 'pageLoadStrategy'. Check the capabilities and options of the start." in text


def test_a_single_proxy_error_in_an_open_session_is_retryable(
    modern: Served, site: Site, end: RemoteEnd, port: int
) -> None:
    """A 502 or 504 makes a call retryable, the next one succeeds, and closing retries automatically."""
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


def test_a_session_survives_while_its_remote_host_is_unreachable(modern: Served, end: RemoteEnd, port: int) -> None:
    """A session is not lost while its host cannot be reached, and works when the host answers again."""
    host = "127.0.0.2"  # this machine, but not by its name
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


NULLS = {
    "handles": (
        "GET",
        "/window/handles",
        "tabs",
        {"action": "list"},
        "Get Window Handles was answered with null instead of a list",
    ),
    "new tab": (
        "POST",
        "/window/new",
        "tabs",
        {"action": "new"},
        "New Window was answered with null instead of an object",
    ),
    "a script": ("POST", "/execute/sync", "set_viewport", {"width": 700, "height": 500}, "instead of its list"),
    "a picture": (
        "GET",
        "/screenshot",
        "take_screenshot",
        {},
        "Take Screenshot was answered with null instead of text",
    ),
}


@pytest.mark.parametrize(("method", "ending", "tool", "arguments", "said"), NULLS.values(), ids=NULLS.keys())
def test_null_instead_of_an_answer_is_told_in_words(
    modern: Served,
    end: RemoteEnd,
    port: int,
    method: str,
    ending: str,
    tool: str,
    arguments: dict[str, object],
    said: str,
) -> None:
    """A remote end that does not do what WebDriver demands gets an ordinary error; the session lives on."""
    broken: list[str] = []
    null = 200, '{"value": null}'

    def fault(asked: str, path: str) -> tuple[int, str] | None:
        return null if broken and asked == method and path.endswith(ending) else None

    with relayed(port, Relayed(fault=fault)) as door:
        _started(modern, end, door)
        broken.append(ending)
        text = refused(modern.call(tool, **arguments), "remote_error")
        assert "The remote end's answer cannot be used: " in text
        assert said in text
        assert "use another version of its driver" in text
        broken.clear()
        modern.ok("get_visible_elements")
        modern.ok("close_session")
    assert end.sessions() == []


def _hang(free: Event) -> Callable[[str, str], None]:
    """Delay requests for sessions until the event."""

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
