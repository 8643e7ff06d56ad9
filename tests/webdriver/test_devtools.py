"""The browser's own endpoint beside its driver, and the CDP socket of a session."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.cdp import BROWSER_TARGET, Cdp, Target
from orchestrator.webdriver.chromium import BrowserConnection, Chromium
from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.websocket import Command
from tests.webdriver.conftest import Far

pytestmark = [pytest.mark.full, pytest.mark.browser]


class Quiet:
    """A guest without any setup."""

    def setup_commands(self, target: Target) -> list[Command]:
        """Return no commands."""
        del target
        return []

    undo_commands = setup_commands

    def handle_event(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Ignore the event."""


@pytest.fixture
def stranger(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a server that answers a connection with these bytes, and is not a browser; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(request.param)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    "stranger",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"",
    ],
    indirect=True,
)
def test_a_service_that_is_no_browser_is_reported_as_no_browser_answering(stranger: str) -> None:
    """The debugger address may lead to another service, with any answer."""
    with pytest.raises(NoAnswer, match=f"no browser answers at {stranger}"):
        Chromium(stranger, name="shop")


def test_an_invalid_debugger_address_is_reported_as_no_browser_answering() -> None:
    """An address that name lookup rejects is reported like one without an answer."""
    with pytest.raises(NoAnswer, match=r"no browser answers at \.\.:1"):
        Chromium("..:1", name="shop")


def test_the_browser_is_reached_over_one_devtools_connection(far: Far) -> None:
    """The connection is reused, reopened after it was closed, and refused after `leave`."""
    beside = BrowserConnection(far.address, name="shop")
    browser = beside.connect()
    there = browser.tabs()
    assert beside.connect() is browser
    browser.disconnect()
    assert beside.connect().tabs() == there
    beside.close()
    with pytest.raises(NoAnswer, match="its connection was closed in this process"):
        beside.connect()


def test_a_cdp_socket_is_open_only_while_it_has_guests(far: Far) -> None:
    """The last guest that leaves closes the socket, and the next one that joins opens it."""
    cdp, guest = Cdp(DevTools(far.address).socket_url, name="shop", timeout=20), Quiet()
    for _ in range(2):
        with pytest.raises(NoAnswer):
            cdp.call("Browser.getVersion", BROWSER_TARGET)
        assert not cdp.is_open
        cdp.add_listener(guest)
        assert cdp.call("Browser.getVersion", BROWSER_TARGET)["product"]
        cdp.remove_listener(guest)
    cdp.close()
    with pytest.raises(NoAnswer, match="its connection was closed in this process"):
        cdp.add_listener(guest)
    assert not cdp.is_open


def test_a_cdp_socket_closed_while_it_opens_is_not_left_open(far: Far) -> None:
    """A session that ends while its socket is being opened leaves no open socket."""

    def find() -> str:
        cdp.close()
        return DevTools(far.address).socket_url()

    cdp = Cdp(find, name="shop", timeout=20)
    with pytest.raises(NoAnswer):
        cdp.add_listener(Quiet())
    assert not cdp.is_open


def test_a_cdp_socket_whose_first_command_is_refused_is_not_open(far: Far) -> None:
    """A guest that joins without CDP support is refused, and so is the next one."""
    cdp = Cdp(lambda: far.url, name="shop", timeout=20)
    for _ in range(2):
        with pytest.raises(RemoteFailure):
            cdp.add_listener(Quiet())
        assert not cdp.is_open
