"""A real Appium with the simulated phones, behind a relay that records requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from orchestrator.demo.device_server import DeviceServer, missing
from tests.e2e.harness import remote
from tests.needed import needed
from tests.servers.webdriver import Relayed, relayed

POCKET = Path(__file__).parent / "apps" / "pocket"
"""An app that both simulated phones run."""
POCKET_ID = "org.example.pocket"


@dataclass
class AppiumEnd(Relayed):
    """The relay, and the server behind it."""

    server_url: str = ""
    home: str = ""

    def started(self) -> list[dict[str, Any]]:
        """Return the capabilities of each requested session."""
        return [body["capabilities"]["alwaysMatch"] for method, path, body in self.requests if _starts(method, path)]

    def keys(self) -> list[str]:
        """Return the idempotency keys of those requests, by which Appium would merge two of them."""
        asked = zip(self.requests, self.headers, strict=True)
        return [name for (method, path, _), sent in asked if _starts(method, path) for name in sent if "Idem" in name]

    def ended(self) -> list[str]:
        """Return the deleted sessions."""
        return [path.rpartition("/")[2] for method, path, _ in self.requests if method == "DELETE"]

    def start(self, **capabilities: Any) -> str:
        """Start a session with these capabilities, bypassing our code; return its id."""
        wanted = {"platformName": "iOS", "appium:automationName": "XCUITest", **capabilities}
        return str(remote("POST", f"{self.server_url}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"])

    def ask(self, method: str, session: str, path: str = "") -> Any:
        """Send a command to a session, bypassing our code."""
        return remote(method, f"{self.server_url}/session/{session}{path}")


def _starts(method: str, path: str) -> bool:
    return (method, path) == ("POST", "/session")


@contextmanager
def appium_end() -> Iterator[AppiumEnd]:
    """Start the server and its relay."""
    needed(missing())
    with DeviceServer() as server:
        end = AppiumEnd(server_url=server.url, home=str(server._folder / "home"))
        with relayed(urlsplit(server.url).port or 0, end):
            yield end


@contextmanager
def guarded(end: AppiumEnd) -> Iterator[Relayed]:
    """Open a second relay to the same server, which asks for user and password."""
    with relayed(urlsplit(end.server_url).port or 0, Relayed(), guarded=True) as door:
        yield door


def environment(end: AppiumEnd) -> Mapping[str, str]:
    """Return the environment with which an Appium of the orchestrator's own finds the simulated phones."""
    server = DeviceServer()
    server._folder = Path(end.home).parent / "own"
    server._folder.mkdir(exist_ok=True)
    simulated = {name: value for name, value in server._environment().items() if name.startswith("SIM_")}
    return {"APPIUM_HOME": end.home, "ORCHESTRATOR_PASS_ENVIRONMENT": "SIM_*", **simulated}
