"""Real Chromium through a real chromedriver, one for each browser; every start here ends without a trace."""

from __future__ import annotations

import http.client
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psutil
import pytest

from orchestrator.errors import InvalidArgument, OrchestratorError, StartFailed
from orchestrator.models.emulation import Viewport
from orchestrator.models.requests import Endpoint
from orchestrator.sessions.providers import Providers
from orchestrator.system import processes
from orchestrator.system.process_identity import gone
from orchestrator_providers.local import chromium_flags, profile_release
from orchestrator_providers.local.options import LocalOptions
from orchestrator_providers.local.provider import LocalProvider
from tests.servers.certificates import self_signed
from tests.servers.webdriver import listening
from tests.waiting import until

if TYPE_CHECKING:
    from .conftest import Begin, Browser

pytestmark = [pytest.mark.full, pytest.mark.browser]

Browse = Callable[..., "Browser"]
INNER_SIZE = "[innerWidth, innerHeight]"


class _Echo(BaseHTTPRequestHandler):
    """Answers with the request's target; a proxy gets whole URLs."""

    def do_GET(self) -> None:
        """Answer with the request's target and host."""
        said = f"{self.path} at {self.headers['Host']}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""


@contextmanager
def web(context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A web server on this machine; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        with listening(server):
            yield f"127.0.0.1:{server.server_port}"


def test_a_local_browser_starts_with_its_viewport_and_ends_without_a_trace(browse: Browse) -> None:  # O25
    """A session has the requested viewport; its processes are recorded, and all of them end with their folder."""
    browser = browse(viewport=Viewport(width=1000, height=600))
    start = browser.start
    (program,) = LocalProvider().started(browser.record(), start).processes
    family = [psutil.Process(start.processes[0].pid), *psutil.Process(start.processes[0].pid).children(recursive=True)]

    assert browser.script(INNER_SIZE) == [1000, 600]
    assert program.name in {"chromium", "chrome"}
    assert program.pid in {process.pid for process in family[1:]}
    assert processes.alive(program)
    assert processes.end_processes([*start.processes, program]) == []
    assert all(map(gone, family))
    assert not start.folder().exists()


@pytest.mark.clock
def test_a_local_browser_is_ended_within_five_seconds(browse: Browse) -> None:
    """A browser and its driver end soon when they are told to."""
    browser = browse()
    recorded = LocalProvider().started(browser.record(), browser.start).processes
    began = time.monotonic()
    processes.end_processes([*browser.start.processes, *recorded])
    assert time.monotonic() - began < 5


def test_the_viewport_does_not_shrink_after_the_start(browse: Browse) -> None:
    """No infobar takes room from the page after the start, as the note about automation did."""
    browser = browse()
    assert browser.script("navigator.webdriver") is True
    began = time.monotonic()
    while time.monotonic() - began < 0.6:
        assert browser.script(INNER_SIZE) == [1280, 720]


def test_a_browser_that_outlives_its_killed_driver_is_ended(browse: Browse) -> None:
    """SIGKILL to chromedriver leaves Chromium; its record, its group and its environment identify it."""
    browser = browse()
    start = browser.start
    (program,) = LocalProvider().started(browser.record(), start).processes
    psutil.Process(start.processes[0].pid).kill()
    until(lambda: not processes.alive(start.processes[0]), "the end of the driver")
    assert processes.alive(program)

    assert processes.end_processes(start.processes) == []
    assert not processes.alive(program)


def test_a_browser_starts_with_a_long_home_path(browse: Browse, tmp_path: Path) -> None:
    """A home as long as a user's default one works, though Chromium's socket would not fit into it."""
    home = tmp_path / "home" / "somebody-with-a-name" / ".local" / "share" / "webdriver-orchestrator"
    assert browse({"home": home}).script("1 + 1") == 2


def test_default_capabilities_keep_dialogs_open_and_driver_timeouts_short(browse: Browse) -> None:
    """Dialogs are left to us; the driver gives up a load before we do, and a script that hangs the page after us."""
    capabilities = browse({"command_timeout": 10}).capabilities
    ours = {"default": "ignore", "beforeUnload": "accept", "file": "dismiss"}
    assert capabilities["unhandledPromptBehavior"] == ours
    assert capabilities["timeouts"] == {"implicit": 0, "pageLoad": 8000, "script": 12000}
    assert capabilities["pageLoadStrategy"] == "none"


def test_a_short_command_timeout_gives_the_driver_half_of_it(begin: Begin) -> None:
    """A command timeout below two seconds does not make the driver's timeouts negative."""
    endpoint = LocalProvider().endpoint(begin({"command_timeout": 1}))
    assert endpoint.capabilities["timeouts"] == {"script": 3000, "pageLoad": 500}


def test_the_callers_arguments_and_capabilities_replace_the_defaults(browse: Browse) -> None:
    """Arguments and capabilities of the caller replace ours of the same name."""
    capabilities = {"timeouts": {"script": 1234}, "goog:chromeOptions": {"args": ["--user-agent=ours"]}}
    browser = browse(args=("--window-size=900,700",), capabilities=capabilities)
    assert browser.script("[outerWidth, outerHeight, navigator.userAgent]") == [900, 700, "ours"]
    assert browser.capabilities["timeouts"]["script"] == 1234
    assert browser.capabilities["timeouts"]["pageLoad"] == 28_000


def test_host_rules_send_a_host_name_to_another_server(browse: Browse) -> None:  # F7
    """A host name is served by the server that the option hostRules gives for it."""
    with web() as address:
        browser = browse(options={"hostRules": {"shop.test": address}})
        assert browser.open("http://shop.test/cart") == "/cart at shop.test"


def test_host_rules_are_accepted_in_chromiums_syntax(browse: Browse) -> None:
    """The option hostRules takes MAP and EXCLUDE rules as Chromium spells them."""
    with web() as address:
        browser = browse(options={"hostRules": f"MAP *.test {address}, EXCLUDE localhost"})
        assert browser.open("http://any.test/") == "/ at any.test"


def test_pages_are_loaded_through_the_proxy_option(browse: Browse) -> None:
    """Pages are requested from the proxy in the options."""
    with web() as address:
        browser = browse(options={"proxy": f"http://{address}"})
        assert browser.open("http://shop.test/cart") == "http://shop.test/cart at shop.test"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"debugger_address": "127.0.0.1:1"}, StartFailed),
        ({"debugger_address": None}, InvalidArgument),
        ({"debugger_address": "127.0.0.1:1", "options": {"browserVersion": "156"}}, InvalidArgument),
    ],
    ids=str,
)
def test_no_driver_is_started_for_a_browser_that_cannot_be_attached_to(
    begin: Begin, arguments: dict[str, Any], error: type[OrchestratorError]
) -> None:
    """Attaching is refused first without a usable debugger address, or with a browserVersion."""
    start = begin(mode="attached", **arguments)
    with pytest.raises(error):
        LocalProvider().endpoint(start)
    assert start.processes == []


def test_a_profile_locked_by_another_machine_is_refused_with_the_lock_file(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the other machine and the lock file, to remove if its browser is gone."""
    monkeypatch.setattr(profile_release, "_ENDING", 0.0)
    note = tmp_path / "SingletonLock"
    note.symlink_to("another-machine-123")
    with pytest.raises(StartFailed, match="open in a browser on another-machine") as error:
        chromium_flags.check_free(tmp_path, begin().check)
    note.unlink()
    assert f"remove {note}" in error.value.hint


def test_a_self_signed_page_loads_only_with_accept_insecure_certs(browse: Browse, tmp_path: Path) -> None:
    """A page with a self-signed certificate loads only with acceptInsecureCerts, private."""
    with web(self_signed(tmp_path)) as address:
        assert browse(options={"acceptInsecureCerts": True}).open(f"https://{address}/x") == f"/x at {address}"
        assert "ERR_CERT_AUTHORITY_INVALID" in browse().open(f"https://{address}/x")


def test_the_driver_listens_on_loopback_and_needs_its_random_path(begin: Begin) -> None:
    """The driver listens on loopback and answers only below its random path, so no page can shut it down."""
    start = begin()
    endpoint = LocalProvider().endpoint(start)
    parts = urlsplit(endpoint.remote_url)
    driver = psutil.Process(start.processes[0].pid)

    assert len(parts.path) == 33
    assert {listening.laddr.ip for listening in driver.net_connections()} <= {"127.0.0.1", "::1"}
    assert parts.port is not None
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=5)
    connection.request("GET", "/shutdown")
    assert connection.getresponse().status >= 400
    connection.close()
    assert processes.alive(start.processes[0])


def test_the_driver_log_holds_no_typed_text(browse: Browse) -> None:
    """Passwords pass through the driver; its log does not contain them."""
    browser = browse()
    browser.open("data:text/html,<input type=password>")
    element = browser.post("/element", using="css selector", value="input")
    (reference,) = element.values()
    browser.post(f"/element/{reference}/value", text="hunter2-typed")

    assert browser.script("document.querySelector('input').value") == "hunter2-typed"
    assert "started successfully" in browser.start.log()
    assert "hunter2" not in browser.start.log()


def test_the_browser_does_not_offer_to_save_passwords(begin: Begin) -> None:
    """No bubble of the browser covers the page after a log-in."""
    preferences = LocalProvider().endpoint(begin()).capabilities["goog:chromeOptions"]["prefs"]
    assert preferences["credentials_enable_service"] is False


def test_a_cancelled_start_stops_waiting_for_the_driver(begin: Begin) -> None:
    """The loop that waits for the driver checks for a cancellation."""
    start = begin()
    start.cancelled = OrchestratorError("cancelled")
    with pytest.raises(OrchestratorError, match="cancelled"):
        LocalProvider().endpoint(start)


def test_a_driver_that_exits_at_once_is_quoted_in_the_error(begin: Begin, tmp_path: Path) -> None:
    """The output of a driver that ends at once is in the error."""
    driver = tmp_path / "chromedriver"
    driver.write_text("#!/bin/sh\necho 'libnss3.so: cannot open shared object file'\nexit 127\n", "utf-8")
    driver.chmod(0o700)
    with pytest.raises(StartFailed) as caught:
        LocalProvider().endpoint(begin({"chromedriver": driver}))

    assert str(caught.value) == (
        "chromedriver ended at once: libnss3.so: cannot open shared object file. Run it by hand to see what it lacks."
    )


@pytest.mark.skipif(sys.platform != "linux", reason="macOS and Windows always have a display")
def test_a_headed_start_without_a_display_is_refused(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start with a window is refused with advice where there is no display."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    start = begin()
    start.headless = False
    with pytest.raises(StartFailed) as caught:
        LocalProvider().endpoint(start)
    assert str(caught.value) == (
        "There is no display for a browser window. Start with headless: true, or run the server under xvfb-run."
    )
    assert start.processes == []


def test_a_misspelled_capability_is_refused_before_anything_is_started(begin: Begin) -> None:
    """A capability without its vendor prefix is refused with the right name."""
    start = begin(capabilities={"chromeOptions": {}})
    with pytest.raises(InvalidArgument, match="Write 'goog:chromeOptions'"):
        LocalProvider().endpoint(start)
    assert start.processes == []


def test_a_failed_start_of_a_snap_browser_is_explained() -> None:
    """Advice is given only for a Chromium from snap, which cannot use the session's folder."""
    asked = {"goog:chromeOptions": {"binary": "/snap/bin/chromium"}}
    assert "is a snap" in LocalProvider().advice(Endpoint(remote_url="http://x", capabilities=asked), "")
    asked["goog:chromeOptions"]["binary"] = "/usr/bin/chromium"
    assert LocalProvider().advice(Endpoint(remote_url="http://x", capabilities=asked), "no such thing") == ""
    odd = {"goog:chromeOptions": "the user's"}
    assert LocalProvider().advice(Endpoint(remote_url="http://x", capabilities=odd), "") == ""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"proxy": "http://user:hunter2@proxy:1"}, "Chrome takes no user and password"),
        ({"proxy": "ftp://hunter2"}, "must begin with http://, socks4:// or socks5://"),
        ({"proxy": "http://hunter2:port"}, "is not a URL"),
        ({"proxy": {"proxyType": "hunter2"}}, "proxyType must be one of"),
        ({"hostRules": {"a b": "hunter2"}}, "no spaces or commas"),
        ({"hostRules": "hunter2"}, "write 'MAP host address'"),
        ({"hostRules": 7}, "Option 'hostRules'"),
        ({"browserVersions": "hunter2"}, "there is no such option"),
    ],
)
def test_an_invalid_option_is_refused_without_repeating_its_value(given: dict[str, Any], expected: str) -> None:
    """The error gives the right form, lists the valid options, and never repeats the value."""
    with pytest.raises(InvalidArgument) as caught:
        Providers([LocalProvider()]).options("local", given)
    assert expected in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.hint == (
        "Options of 'local': idleTimeout, maxDuration, startTimeout, strict, har, hars, browserVersion, hostRules, "
        "proxy, acceptInsecureCerts, private."
    )


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://p:3128", {"proxyType": "manual", "httpProxy": "p:3128", "sslProxy": "p:3128"}),
        ("http://p", {"proxyType": "manual", "httpProxy": "p:80", "sslProxy": "p:80"}),
        ("socks5://p", {"proxyType": "manual", "socksProxy": "p:1080", "socksVersion": 5}),
    ],
)
def test_a_proxy_url_becomes_a_w3c_proxy_object(url: str, proxy: dict[str, Any]) -> None:
    """A proxy URL is turned into the W3C proxy capability."""
    assert LocalOptions(proxy=url).capabilities() == {"proxy": proxy}
