"""The browser beside its driver: its endpoint, and the socket to what belongs to a session."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.webdriver.cdp import BROWSER, Cdp, Target
from orchestrator.webdriver.chromium import Beside, Chromium
from orchestrator.webdriver.devtools import DevTools
from orchestrator.webdriver.socket import Command
from tests.webdriver.conftest import Far


class Quiet:
    """A guest that wants nothing."""

    def commands(self, target: Target) -> list[Command]:
        """None."""
        del target
        return []

    undo = commands

    def hear(self, method: str, params: Mapping[str, Any], target: Target) -> None:
        """Whatever it is."""


@pytest.fixture
def stranger(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of somebody who answers a connection with these bytes, and is no browser."""
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
def test_who_is_no_browser_is_as_good_as_nobody(stranger: str) -> None:
    """Another service listens at the port that somebody wrote."""
    with pytest.raises(NoAnswer, match=f"no browser answers at {stranger}"):
        Chromium(stranger, name="shop")


def test_an_address_that_is_none_is_nobodys() -> None:
    """No lookup of names takes it."""
    with pytest.raises(NoAnswer, match=r"no browser answers at \.\.:1"):
        Chromium("..:1", name="shop")


def test_the_browser_is_asked_over_one_connection(far: Far) -> None:
    """However often it is asked; anew once that was closed, and no more when it was left."""
    beside = Beside(far.address, name="shop")
    browser = beside.browser()
    there = browser.pages()
    assert beside.browser() is browser
    browser.disconnect()
    assert beside.browser().pages() == there
    beside.leave()
    with pytest.raises(NoAnswer, match="not driven from here any more"):
        beside.browser()


def test_it_is_connected_while_it_has_guests(far: Far) -> None:
    """The last one that leaves closes the socket, the next one that joins opens it; nothing else does."""
    cdp, guest = Cdp(DevTools(far.address).socket, name="shop", timeout=20), Quiet()
    for _ in range(2):
        with pytest.raises(NoAnswer):
            cdp.call("Browser.getVersion", BROWSER)
        assert not cdp.open
        cdp.join(guest)
        assert cdp.call("Browser.getVersion", BROWSER)["product"]
        cdp.leave(guest)
    cdp.close()
    with pytest.raises(NoAnswer, match="not driven from here any more"):
        cdp.join(guest)
    assert not cdp.open


def test_one_that_is_closed_while_it_opens_is_closed(far: Far) -> None:
    """Whoever ends the session finds no socket yet; none is left open either."""

    def find() -> str:
        cdp.close()
        return DevTools(far.address).socket()

    cdp = Cdp(find, name="shop", timeout=20)
    with pytest.raises(NoAnswer):
        cdp.join(Quiet())
    assert not cdp.open


def test_one_that_hears_nothing_is_not_open(far: Far) -> None:
    """What is there does not know the first command: the next guest tries again, and is not told that all is well."""
    cdp = Cdp(lambda: far.url, name="shop", timeout=20)
    for _ in range(2):
        with pytest.raises(RemoteFailure):
            cdp.join(Quiet())
        assert not cdp.open
