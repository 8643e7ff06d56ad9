"""Starts one session: asks its provider, creates it at the remote end, and makes it ready to be driven."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator import processes
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.finding import Turn
from orchestrator.errors import OrchestratorError, RemoteFailure, StartFailed
from orchestrator.models import ProcessInfo, StartRequest
from orchestrator.provider import Provider, SessionOptions
from orchestrator.settings import Settings
from orchestrator.snapshot.page import SOURCE
from orchestrator.webdriver.remote import Remote

_REMOTE_END = 5.0
"""Seconds that a remote end may take to end what did not come to be."""
_SIZES = "return [innerWidth, innerHeight, outerWidth, outerHeight]"
Note = Callable[[ProcessInfo], None]
"""Writes a process into the session's record at once."""


class Launch:
    """One start under way, in its turn of the session's lane; what a provider sees of it is `provider.Start`."""

    def __init__(
        self, request: StartRequest, options: SessionOptions, settings: Settings, turn: Turn, note: Note
    ) -> None:
        self.request = request
        self.options = options
        self.settings = settings
        self._turn = turn
        self._note = note
        self._deadline = Deadline(settings.start_timeout)
        self._folder: Path | None = None
        self._remote: Remote | None = None

    @property
    def headless(self) -> bool:
        """Whether to start without a window."""
        return self.settings.headless if self.request.headless is None else self.request.headless

    def folder(self) -> Path:
        """A temporary folder of this session's own."""
        if self._folder is None:
            self._folder = processes.make_folder(self.settings.home)
        return self._folder

    def spawn(self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None) -> ProcessInfo:
        """Start a process of this session; it stands in the record before it is used."""
        return processes.spawn(name, command, folder=self.folder(), env=env, record=self._note)

    def alive(self, process: ProcessInfo) -> bool:
        """Whether a process that was spawned is still running."""
        return processes.alive(process)

    def check(self) -> None:
        """Raise when the start was cancelled, its session closed, or its time is up."""
        self._turn.check()
        if not self._deadline.left:
            raise StartFailed(
                f"Session {self._turn.record.id!r} did not start within {self.settings.start_timeout:g} s.",
                hint="Try again, or raise start_timeout.",
            )

    def run(self, provider: Provider) -> tuple[Remote, dict[str, Any]]:
        """Start it; returns its client and what the record must say of it.

        Raises:
            StartFailed: It did not come to be.
        """
        endpoint = provider.endpoint(self)
        self.check()
        name = self._turn.record.id
        try:
            remote, capabilities = Remote.create(
                endpoint.remote_url,
                endpoint.capabilities,
                name=name,
                start_timeout=self._deadline.left,
                timeout=self.settings.command_timeout,
            )
        except StartFailed as error:
            error.hint = f"{error.hint} {provider.advice(endpoint)}".strip()
            raise
        self._remote = remote
        facts = {
            "remote_url": endpoint.remote_url,
            "remote_session_id": remote.remote_session_id,
            "capabilities": capabilities,
        }
        for process in provider.started(self._turn.record.changed(**facts)):
            self._note(process)
        self.check()
        self._prepare(remote)
        return remote, facts

    @contextlib.contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """End whatever was started for it, here and at its remote end, when the body raises."""
        try:
            yield
        except BaseException:
            if self._folder is not None:
                processes.end_folders([self._folder])
            elif self._remote is not None:
                with contextlib.suppress(OrchestratorError):
                    self._remote.delete(_REMOTE_END)
            raise

    def _prepare(self, remote: Remote) -> None:
        """Put the page engine into every document from its start, and give the page area its size."""
        # A remote end without CDP gets the engine into each page when it is first asked there.
        with contextlib.suppress(RemoteFailure):
            remote.cdp("Page.addScriptToEvaluateOnNewDocument", source=SOURCE)
        _fit(remote, self.request.viewport.width, self.request.viewport.height)


def _fit(remote: Remote, width: int, height: int) -> None:
    """Make the page area this large: the window's frame differs between browsers, systems and modes."""
    inner = remote.script(_SIZES)
    if inner[:2] == [width, height]:
        return
    remote.execute("setWindowRect", width=width + inner[2] - inner[0], height=height + inner[3] - inner[1])
    if remote.script(_SIZES)[:2] != [width, height]:
        # A window has a smallest width, 500 px in Chromium; below it the page area is emulated.
        with contextlib.suppress(RemoteFailure):
            metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False}
            remote.cdp("Emulation.setDeviceMetricsOverride", **metrics)
