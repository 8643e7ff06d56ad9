"""A provider's view of a start, with real folders and real processes, ended after the test."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from orchestrator.models.requests import StartRequest
from orchestrator.models.session import ProcessInfo, SessionRecord, SessionType
from orchestrator.provider import Origins, SessionOptions
from orchestrator.settings import Settings
from orchestrator.system import processes
from orchestrator_providers.local.options import LocalOptions
from orchestrator_providers.local.provider import LocalProvider
from tests.waiting import until

LOADED = "(location.href === URL || location.protocol === 'chrome-error:') && document.readyState === 'complete'"


class RealStart:
    """A start under way; everything about it is real except the store."""

    def __init__(self, request: StartRequest, settings: Settings) -> None:
        self.request = request
        self.settings = settings
        self.session_id = request.session_id or "browser-1"
        self.options: SessionOptions = LocalOptions.model_validate(request.options)
        self.session_id = request.session_id or "browser-1"
        self.headless = True
        self.origins = Origins()
        self.processes: list[ProcessInfo] = []
        self.claims: list[str] = []
        self.held: SessionRecord | None = None
        self.messages: list[str] = []
        self.cancelled: Exception | None = None
        self._folder: Path | None = None

    def folder(self) -> Path:
        """Return a folder of this start's own."""
        self._folder = self._folder or processes.make_folder(self.settings.home)
        return self._folder

    def profile(self) -> None:
        """Return no profile: none is kept."""

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a real process."""
        assert not beside
        return processes.spawn(name, command, folder=self.folder(), env=env, record=self._note)

    def _note(self, process: ProcessInfo) -> None:
        """Record a process in place of an ended one of the same name."""
        kept = [one for one in self.processes if one.name != process.name or processes.alive(one)]
        self.processes = [*kept, process]

    def alive(self, process: ProcessInfo) -> bool:
        """Return True if the process runs."""
        return processes.alive(process)

    def claim(self, name: str) -> SessionRecord | None:
        """Record the claim; return the session in `held`, if any, as its holder."""
        self.claims.append(name)
        return self.held

    def claim_device(self, claims: Mapping[str, str], wait: float) -> str:
        """Take the first device."""
        assert wait >= 0
        self.claims.append(next(iter(claims.values())))
        return next(iter(claims))

    def check(self) -> None:
        """Raise the start's cancellation, if any."""
        if self.cancelled:
            raise self.cancelled

    def tell(self, text: str) -> None:
        """Record the message."""
        self.messages.append(text)

    def log(self, name: str = "chromedriver") -> str:
        """Return a process's log."""
        return (self.folder() / f"{name}.log").read_text("utf-8")

    def end(self) -> None:
        """End all processes, and remove the folder."""
        if self._folder:
            assert processes.end_processes([*self.processes]) == []
            assert processes.end_folders([self._folder]) == []


class Browser:
    """A session of the local provider, driven by raw WebDriver commands."""

    def __init__(self, start: RealStart) -> None:
        self.start = start
        endpoint = LocalProvider().endpoint(start)
        self.url = endpoint.remote_url
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": endpoint.capabilities}})
        self.path = f"/session/{answer['sessionId']}"
        self.capabilities: dict[str, Any] = answer["capabilities"]

    def post(self, path: str, **body: Any) -> Any:
        """Send a command; return its value."""
        return self._send("POST", f"{self.path}{path}", body)

    def script(self, code: str) -> Any:
        """Return the value of an expression."""
        return self.post("/execute/sync", script=f"return {code}", args=[])

    def open(self, url: str) -> str:
        """Open a URL; return the text of the loaded page. A page that failed to load is Chromium's own."""
        self.post("/url", url=url)
        until(lambda: self.script(LOADED.replace("URL", json.dumps(url))), f"a loaded {url}")
        return str(self.script("document.body.innerText"))

    def record(self) -> SessionRecord:
        """Return the session's record as in the store."""
        return SessionRecord(
            id="browser-1",
            namespace="test",
            type=SessionType.BROWSER,
            provider="local",
            owner="me",
            created_at=0,
            last_active_at=0,
            capabilities=self.capabilities,
        )

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), method=method)  # noqa: S310 - our own
        request.add_header("Content-Type", "application/json; charset=utf-8")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(json.load(error)["value"]["message"]) from None


Begin = Callable[..., RealStart]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """A function that begins a start with these settings and this request."""
    starts: list[RealStart] = []

    def begin(settings: Mapping[str, Any] | None = None, **request: Any) -> RealStart:
        made = Settings(**{"home": tmp_path / "h", "namespace": "test", **(settings or {})})
        starts.append(RealStart(StartRequest(**request), made))
        return starts[-1]

    yield begin
    for start in starts:
        start.end()


@pytest.fixture
def browse(begin: Begin) -> Callable[..., Browser]:
    """A function that starts a browser with this request."""

    def browse(settings: Mapping[str, Any] | None = None, **request: Any) -> Browser:
        return Browser(begin(settings, **request))

    return browse
