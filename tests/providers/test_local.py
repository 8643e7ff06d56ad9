"""Real Chromium through a real chromedriver, each with its own; every start here ends without a trace."""

from __future__ import annotations

import http.client
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psutil
import pytest

from orchestrator import processes
from orchestrator.emulation import Viewport
from orchestrator.errors import InvalidArgument, OrchestratorError, StartFailed
from orchestrator.living import gone
from orchestrator.models import Endpoint
from orchestrator.registry import Providers
from orchestrator_providers import chromium
from orchestrator_providers.local import LocalProvider
from orchestrator_providers.local_options import LocalOptions
from tests.certificates import self_signed

if TYPE_CHECKING:
    from .conftest import Begin, Browser

Browse = Callable[..., "Browser"]
INNER_SIZE = "[innerWidth, innerHeight]"


class _Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked for; as a proxy it is asked for whole URLs."""

    def do_GET(self) -> None:
        """Say the request's target and host."""
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
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_start_and_end(browse: Browse) -> None:
    """A session with the viewport asked for; its processes are known, and all of them end with their folder."""
    browser = browse(viewport=Viewport(width=1000, height=600))
    start = browser.start
    (program,) = LocalProvider().started(browser.record(), start).processes
    family = [psutil.Process(start.processes[0].pid), *psutil.Process(start.processes[0].pid).children(recursive=True)]

    assert browser.script(INNER_SIZE) == [1000, 600]
    assert program.name in {"chromium", "chrome"}
    assert program.pid in {process.pid for process in family[1:]}
    assert processes.alive(program)
    began = time.monotonic()
    assert processes.end([*start.processes, program]) == []
    assert time.monotonic() - began < 5
    assert all(map(gone, family))
    assert not start.folder().exists()


def test_viewport_stays_as_it_is(browse: Browse) -> None:
    """Nothing of the browser's own takes room from the page after the start, as its note of being automated did."""
    browser = browse()
    assert browser.script("navigator.webdriver") is True
    began = time.monotonic()
    while time.monotonic() - began < 0.6:
        assert browser.script(INNER_SIZE) == [1280, 720]


def test_browser_outlives_a_killed_driver_and_is_ended(browse: Browse) -> None:
    """SIGKILL to chromedriver leaves Chromium; its record, its group and its environment lead to it."""
    browser = browse()
    start = browser.start
    (program,) = LocalProvider().started(browser.record(), start).processes
    psutil.Process(start.processes[0].pid).kill()
    while processes.alive(start.processes[0]):
        time.sleep(0.01)
    assert processes.alive(program)

    assert processes.end(start.processes) == []
    assert not processes.alive(program)


def test_browser_starts_from_a_long_home(browse: Browse, tmp_path: Path) -> None:
    """As long as an ordinary user's default one: Chromium's socket would not fit into its temporary folder."""
    home = tmp_path / "home" / "somebody-with-a-name" / ".local" / "share" / "webdriver-orchestrator"
    assert browse({"home": home}).script("1 + 1") == 2


def test_what_we_ask_for(browse: Browse) -> None:
    """Dialogs are ours to answer, and the driver gives up before we do."""
    capabilities = browse({"command_timeout": 10}).capabilities
    ours = {"default": "ignore", "beforeUnload": "accept", "file": "dismiss"}
    assert capabilities["unhandledPromptBehavior"] == ours
    assert capabilities["timeouts"] == {"implicit": 0, "pageLoad": 8000, "script": 8000}
    assert capabilities["pageLoadStrategy"] == "eager"


def test_short_command_timeout_leaves_half_of_it(begin: Begin) -> None:
    """A limit below two seconds is no negative one."""
    endpoint = LocalProvider().endpoint(begin({"command_timeout": 1}))
    assert endpoint.capabilities["timeouts"] == {"script": 500, "pageLoad": 500}


def test_users_words_stand(browse: Browse) -> None:
    """Arguments and capabilities of the caller replace ours of the same name."""
    capabilities = {"timeouts": {"script": 1234}, "goog:chromeOptions": {"args": ["--user-agent=ours"]}}
    browser = browse(args=("--window-size=900,700",), capabilities=capabilities)
    assert browser.script("[outerWidth, outerHeight, navigator.userAgent]") == [900, 700, "ours"]
    assert browser.capabilities["timeouts"]["script"] == 1234
    assert browser.capabilities["timeouts"]["pageLoad"] == 28_000


def test_host_rules(browse: Browse) -> None:  # F7
    """A name leads where the rule says."""
    with web() as address:
        browser = browse(options={"hostRules": {"shop.test": address}})
        assert browser.open("http://shop.test/cart") == "/cart at shop.test"


def test_host_rules_as_text(browse: Browse) -> None:
    """As Chromium spells them."""
    with web() as address:
        browser = browse(options={"hostRules": f"MAP *.test {address}, EXCLUDE localhost"})
        assert browser.open("http://any.test/") == "/ at any.test"


def test_proxy(browse: Browse) -> None:
    """Pages come through it."""
    with web() as address:
        browser = browse(options={"proxy": f"http://{address}"})
        assert browser.open("http://shop.test/cart") == "http://shop.test/cart at shop.test"


@pytest.mark.parametrize(
    ("wish", "error"),
    [
        ({"debugger_address": "127.0.0.1:1"}, StartFailed),
        ({"debugger_address": None}, InvalidArgument),
        ({"debugger_address": "127.0.0.1:1", "options": {"browserVersion": "156"}}, InvalidArgument),
    ],
    ids=str,
)
def test_no_driver_is_started_for_a_browser_that_does_not_run(
    begin: Begin, wish: dict[str, Any], error: type[OrchestratorError]
) -> None:
    """What cannot be attached to is refused first."""
    start = begin(mode="attached", **wish)
    with pytest.raises(error):
        LocalProvider().endpoint(start)
    assert start.processes == []


def test_a_profile_that_another_machine_has_says_where_that_stands(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser in a container that is no more left its note, and nobody here can ask for it."""
    monkeypatch.setattr(chromium, "_ENDING", 0.0)
    note = tmp_path / "SingletonLock"
    note.symlink_to("another-machine-123")
    with pytest.raises(StartFailed, match="open in a browser on another-machine") as error:
        chromium.check_free(tmp_path, begin().check)
    note.unlink()
    assert f"remove {note}" in error.value.hint


def test_accept_insecure_certs(browse: Browse, tmp_path: Path) -> None:
    """A page with a certificate of its own is loaded if the caller says so, and only then."""
    with web(self_signed(tmp_path)) as address:
        assert browse(options={"acceptInsecureCerts": True}).open(f"https://{address}/x") == f"/x at {address}"
        assert "ERR_CERT_AUTHORITY_INVALID" in browse().open(f"https://{address}/x")


def test_driver_is_ours_alone(begin: Begin) -> None:
    """On loopback only, and deaf without the random path: a page cannot shut it down."""
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


def test_log_has_no_typed_text(browse: Browse) -> None:
    """Passwords pass through the driver; its log does not hold them."""
    browser = browse()
    browser.open("data:text/html,<input type=password>")
    element = browser.post("/element", using="css selector", value="input")
    (reference,) = element.values()
    browser.post(f"/element/{reference}/value", text="hunter2-typed")

    assert browser.script("document.querySelector('input').value") == "hunter2-typed"
    assert "started successfully" in browser.start.log()
    assert "hunter2" not in browser.start.log()


def test_saves_no_passwords(begin: Begin) -> None:
    """No window of the browser's own covers the page after a log-in."""
    preferences = LocalProvider().endpoint(begin()).capabilities["goog:chromeOptions"]["prefs"]
    assert preferences["credentials_enable_service"] is False


def test_cancelled_start_stops(begin: Begin) -> None:
    """The loop that waits for the driver asks whether it still should."""
    start = begin()
    start.cancelled = OrchestratorError("cancelled")
    with pytest.raises(OrchestratorError, match="cancelled"):
        LocalProvider().endpoint(start)


def test_driver_that_ends_at_once_is_quoted(begin: Begin, tmp_path: Path) -> None:
    """What it said is all that anybody knows."""
    driver = tmp_path / "chromedriver"
    driver.write_text("#!/bin/sh\necho 'libnss3.so: cannot open shared object file'\nexit 127\n", "utf-8")
    driver.chmod(0o700)
    with pytest.raises(StartFailed) as caught:
        LocalProvider().endpoint(begin({"chromedriver": driver}))

    assert str(caught.value) == (
        "chromedriver ended at once: libnss3.so: cannot open shared object file. Run it by hand to see what it lacks."
    )


@pytest.mark.skipif(sys.platform != "linux", reason="macOS and Windows always have a display")
def test_window_without_a_display_is_refused(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chromium's own answer would be that it exited."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    start = begin()
    start.headless = False
    with pytest.raises(StartFailed) as caught:
        LocalProvider().endpoint(start)
    assert str(caught.value) == (
        "There is no display that a browser window could open on. Start with headless: true, or run the server under "
        "xvfb-run."
    )
    assert start.processes == []


def test_bad_capabilities_are_refused(begin: Begin) -> None:
    """Before anything is started."""
    start = begin(capabilities={"chromeOptions": {}})
    with pytest.raises(InvalidArgument, match="Write 'goog:chromeOptions'"):
        LocalProvider().endpoint(start)
    assert start.processes == []


def test_snap_is_explained() -> None:
    """A confined Chromium cannot use our folder; only then is there advice."""
    asked = {"goog:chromeOptions": {"binary": "/snap/bin/chromium"}}
    assert "comes from snap" in LocalProvider().advice(Endpoint(remote_url="http://x", capabilities=asked), "")
    asked["goog:chromeOptions"]["binary"] = "/usr/bin/chromium"
    assert LocalProvider().advice(Endpoint(remote_url="http://x", capabilities=asked), "no such thing") == ""
    odd = {"goog:chromeOptions": "the user's"}
    assert LocalProvider().advice(Endpoint(remote_url="http://x", capabilities=odd), "") == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"proxy": "http://user:hunter2@proxy:1"}, "Chrome takes no user and password"),
        ({"proxy": "ftp://hunter2"}, "begins with http://, socks4:// or socks5://"),
        ({"proxy": "http://hunter2:port"}, "is not a URL"),
        ({"proxy": {"proxyType": "hunter2"}}, "proxyType must be one of"),
        ({"hostRules": {"a b": "hunter2"}}, "no spaces and commas"),
        ({"hostRules": "hunter2"}, "write 'MAP host address'"),
        ({"hostRules": 7}, "Option 'hostRules'"),
        ({"browserVersions": "hunter2"}, "there is no such option"),
    ],
)
def test_bad_options(given: dict[str, Any], said: str) -> None:
    """Each says what to write, none repeats what was written, all list what there is."""
    with pytest.raises(InvalidArgument) as caught:
        Providers([LocalProvider()]).options("local", given)
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.hint == (
        "Options of 'local': idleTimeout, maxDuration, startTimeout, strict, har, hars, browserVersion, hostRules, "
        "proxy, acceptInsecureCerts."
    )


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://p:3128", {"proxyType": "manual", "httpProxy": "p:3128", "sslProxy": "p:3128"}),
        ("http://p", {"proxyType": "manual", "httpProxy": "p:80", "sslProxy": "p:80"}),
        ("socks5://p", {"proxyType": "manual", "socksProxy": "p:1080", "socksVersion": 5}),
    ],
)
def test_proxy_url(url: str, proxy: dict[str, Any]) -> None:
    """A URL becomes the W3C object."""
    assert LocalOptions(proxy=url).capabilities() == {"proxy": proxy}
