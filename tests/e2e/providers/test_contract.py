"""Our own providers pass the contract tests for providers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from urllib.error import URLError

import psutil
import pytest

from orchestrator.models.requests import StartRequest
from orchestrator.testing import ProviderContract
from tests.e2e.harness import Home, kill, remote
from tests.servers.grid import GridEnd
from tests.servers.webdriver import PASSWORD, Relayed, relayed

pytestmark = pytest.mark.full


class TestLocal(ProviderContract):
    """Browsers of this machine: each has a driver of its own."""

    provider = "local"
    owns = False

    def request(self) -> StartRequest:
        """Request a Chromium."""
        return StartRequest()

    def alive(self) -> Collection[str]:
        """Return the sessions of all drivers in this home, and the drivers themselves."""
        return {name for driver, sessions in self.drivers() for name in (f"driver {driver.pid}", *sessions)}

    def drivers(self) -> Iterator[tuple[psutil.Process, list[str]]]:
        """Yield each driver with its sessions."""
        for driver in Home(self.testbed.home).drivers():
            with suppress(psutil.NoSuchProcess):
                base = next(word.partition("=")[2] for word in driver.cmdline() if word.startswith("--url-base="))
                ports = {one.laddr.port for one in driver.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
                sessions = []
                for port in ports:  # a driver that is just ending may not answer
                    with suppress(URLError, ConnectionError):
                        sessions += [one["id"] for one in remote("GET", f"http://127.0.0.1:{port}{base}/sessions")]
                yield driver, sessions

    def kill(self, remote_session_id: str) -> None:
        """Kill the session's driver; the browser is left for us to end."""
        kill(self.driver(remote_session_id))

    def end(self, remote_url: str, remote_session_id: str) -> None:
        """End the session with its driver, which no other session needs."""
        driver = self.driver(remote_session_id)
        super().end(remote_url, remote_session_id)
        driver.terminate()
        driver.wait()

    def driver(self, remote_session_id: str) -> psutil.Process:
        """Return the driver of a session."""
        return next(driver for driver, sessions in self.drivers() if remote_session_id in sessions)


@pytest.fixture(scope="module")
def hub(_grid: GridEnd) -> Iterator[Relayed]:
    """The Grid, behind a password."""
    with relayed(_grid.port, Relayed(), guarded=True) as hub:
        yield hub


class TestSeleniumGrid(ProviderContract):
    """A real Grid behind a password, which is in the setting."""

    provider = "selenium_grid"
    secrets = (PASSWORD,)

    @pytest.fixture(autouse=True)
    def _hub(self, _grid: GridEnd, hub: Relayed) -> None:
        self.grid = _grid
        self.hub = hub

    def settings(self) -> Mapping[str, str]:
        """Return the Grid's URL with its password."""
        return {"grid_url": self.hub.secret_url}

    def request(self) -> StartRequest:
        """Request any Chromium of the Grid."""
        return StartRequest()

    def alive(self) -> Collection[str]:
        """Return the Grid's sessions."""
        return self.grid.sessions()

    def kill(self, remote_session_id: str) -> None:
        """End the session at the Grid, like an owner who does not know about us."""
        self.grid.ask("DELETE", remote_session_id)
