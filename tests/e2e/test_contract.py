"""Our own providers keep the contract that others are held to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from urllib.error import URLError

import psutil
import pytest

from orchestrator.models import StartRequest
from orchestrator.testing import ProviderContract
from tests.e2e.harness import Home, kill, remote
from tests.grid_end import GridEnd
from tests.remote_end import PASSWORD, Relayed, relayed


class TestLocal(ProviderContract):
    """Browsers of this machine: each has a driver of its own."""

    provider = "local"
    owns = False

    def request(self) -> StartRequest:
        """Chromium."""
        return StartRequest()

    def alive(self) -> Collection[str]:
        """The sessions of all drivers in this home, and the drivers themselves."""
        return {name for driver, sessions in self.drivers() for name in (f"driver {driver.pid}", *sessions)}

    def drivers(self) -> Iterator[tuple[psutil.Process, list[str]]]:
        """Each driver with its sessions."""
        for driver in Home(self.house.home).drivers():
            with suppress(psutil.NoSuchProcess):
                base = next(word.partition("=")[2] for word in driver.cmdline() if word.startswith("--url-base="))
                ports = {one.laddr.port for one in driver.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
                sessions = []
                for port in ports:  # one that is just ending may be gone when it is asked
                    with suppress(URLError, ConnectionError):
                        sessions += [one["id"] for one in remote("GET", f"http://127.0.0.1:{port}{base}/sessions")]
                yield driver, sessions

    def kill(self, remote_session_id: str) -> None:
        """Kill its driver; the browser is left to us."""
        kill(self.driver(remote_session_id))

    def end(self, remote_url: str, remote_session_id: str) -> None:
        """Nobody else needs its driver."""
        driver = self.driver(remote_session_id)
        super().end(remote_url, remote_session_id)
        driver.terminate()
        driver.wait()

    def driver(self, remote_session_id: str) -> psutil.Process:
        """The driver of a session."""
        return next(driver for driver, sessions in self.drivers() if remote_session_id in sessions)


@pytest.fixture(scope="module")
def hub(_grid: GridEnd) -> Iterator[Relayed]:
    """The Grid, behind a password."""
    with relayed(_grid.port, Relayed(), guarded=True) as hub:
        yield hub


class TestSeleniumGrid(ProviderContract):
    """A real Grid behind a password, which the setting has."""

    provider = "selenium_grid"
    secrets = (PASSWORD,)

    @pytest.fixture(autouse=True)
    def _hub(self, _grid: GridEnd, hub: Relayed) -> None:
        self.grid = _grid
        self.hub = hub

    def settings(self) -> Mapping[str, str]:
        """Where it is."""
        return {"grid_url": self.hub.secret_url}

    def request(self) -> StartRequest:
        """Any Chromium of its nodes."""
        return StartRequest()

    def alive(self) -> Collection[str]:
        """What the Grid says."""
        return self.grid.sessions()

    def kill(self, remote_session_id: str) -> None:
        """End it as its owner would who forgot us."""
        self.grid.ask("DELETE", remote_session_id)
