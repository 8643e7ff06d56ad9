"""A start as a provider sees it, with real folders and real processes, ended when the test is over."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from orchestrator import processes
from orchestrator.models import ProcessInfo, SessionRecord, SessionType, StartRequest
from orchestrator.provider import SessionOptions
from orchestrator.settings import Settings
from orchestrator_providers.local import LocalProvider
from orchestrator_providers.local_options import LocalOptions

PATIENCE = 20.0
LOADED = "(location.href === URL || location.protocol === 'chrome-error:') && document.readyState === 'complete'"


class RealStart:
    """One start under way; everything about it is real but the store."""

    def __init__(self, request: StartRequest, settings: Settings) -> None:
        self.request = request
        self.settings = settings
        self.session_id = request.session_id or "browser-1"
        self.options: SessionOptions = LocalOptions.model_validate(request.options)
        self.session_id = request.session_id or "browser-1"
        self.headless = True
        self.processes: list[ProcessInfo] = []
        self.claims: list[str] = []
        self.held: SessionRecord | None = None
        self.told: list[str] = []
        self.cancelled: Exception | None = None
        self._folder: Path | None = None

    def folder(self) -> Path:
        """A folder of this start's own."""
        self._folder = self._folder or processes.make_folder(self.settings.home)
        return self._folder

    def profile(self) -> None:
        """No profile is kept."""

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a real process."""
        assert not beside
        return processes.spawn(name, command, folder=self.folder(), env=env, record=self._note)

    def _note(self, process: ProcessInfo) -> None:
        """A driver that lost its port, and was started once more, is none of the session's."""
        kept = [one for one in self.processes if one.name != process.name or processes.alive(one)]
        self.processes = [*kept, process]

    def alive(self, process: ProcessInfo) -> bool:
        """Whether it runs."""
        return processes.alive(process)

    def claim(self, name: str) -> SessionRecord | None:
        """Nobody else is there to have it, unless `held` says so."""
        self.claims.append(name)
        return self.held

    def check(self) -> None:
        """Raise what cancelled it."""
        if self.cancelled:
            raise self.cancelled

    def tell(self, text: str) -> None:
        """Note it."""
        self.told.append(text)

    def log(self, name: str = "chromedriver") -> str:
        """What a process wrote."""
        return (self.folder() / f"{name}.log").read_text("utf-8")

    def end(self) -> None:
        """End all of it."""
        if self._folder:
            assert processes.end([*self.processes]) == []
            assert processes.end_folders([self._folder]) == []


class Browser:
    """A session of the local provider, driven by the wire."""

    def __init__(self, start: RealStart) -> None:
        self.start = start
        endpoint = LocalProvider().endpoint(start)
        self.url = endpoint.remote_url
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": endpoint.capabilities}})
        self.path = f"/session/{answer['sessionId']}"
        self.capabilities: dict[str, Any] = answer["capabilities"]

    def post(self, path: str, **body: Any) -> Any:
        """One command."""
        return self._send("POST", f"{self.path}{path}", body)

    def script(self, code: str) -> Any:
        """What a script returns."""
        return self.post("/execute/sync", script=f"return {code}", args=[])

    def open(self, url: str) -> str:
        """Go there; the text of the page, once it is loaded. A page that failed to load is Chromium's own."""
        self.post("/url", url=url)
        deadline = time.monotonic() + PATIENCE
        while not self.script(LOADED.replace("URL", json.dumps(url))):
            assert time.monotonic() < deadline, f"{url} did not load"
            time.sleep(0.01)
        return str(self.script("document.body.innerText"))

    def record(self) -> SessionRecord:
        """What the store would hold of it."""
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
    """Begin a start with these settings and this request."""
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
    """Start a browser with this request."""

    def browse(settings: Mapping[str, Any] | None = None, **request: Any) -> Browser:
        return Browser(begin(settings, **request))

    return browse
