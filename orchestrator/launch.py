"""Starts one session: asks its provider, creates it at the remote end, and makes it ready to be driven."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator import folders, processes, progress
from orchestrator.actions.deadline import Deadline
from orchestrator.actions.fitting import fit, prepare
from orchestrator.actions.owning import answering
from orchestrator.emulation import USUAL, Emulation, Viewport
from orchestrator.errors import OrchestratorError, ProviderAuth, StartFailed
from orchestrator.models import Endpoint, ProcessInfo, SessionRecord, SessionType, StartRequest, Tab
from orchestrator.presets import device
from orchestrator.provider import Provider, SessionOptions
from orchestrator.reach import Reach
from orchestrator.secrets import without_credentials
from orchestrator.sessions import Turn
from orchestrator.settings import Settings
from orchestrator.sharing import Sharing, leave, profile_of, settle
from orchestrator.webdriver.chromium import Chromium
from orchestrator.webdriver.creation import Creation
from orchestrator.webdriver.devtools import DevTools, debugger_address
from orchestrator.webdriver.remote import Remote

_REMOTE_END = 5.0
"""Seconds that a remote end may take to end what did not come to be."""
_OTHERS = 10.0
"""Seconds that the pages of a browser have to answer before a further driver session meets them."""
_WAITING = 1.0
"""Seconds between two questions to the provider, what a start is waiting for."""


class Launch:
    """One start under way, in its turn of the session's lane; what a provider sees of it is `provider.Start`."""

    def __init__(
        self,
        request: StartRequest,
        options: SessionOptions,
        settings: Settings,
        reach: Reach,
        turn: Turn,
    ) -> None:
        self.request = request
        self.options = options
        self.settings = settings
        self._reach = reach
        self._turn = turn
        self._patience = options.start_timeout or settings.start_timeout
        self._deadline = Deadline(self._patience)
        self._folder: Path | None = None
        self._remote: Remote | None = None
        self._undo: Callable[[], None] | None = None
        self._awaited = ""
        self._placed: SessionRecord | None = None
        self._handle = ""

    @property
    def session_id(self) -> str:
        """The id that the session will have."""
        return self._turn.record.id

    @property
    def headless(self) -> bool:
        """Whether to start without a window."""
        return self.settings.headless if self.request.headless is None else self.request.headless

    def folder(self) -> Path:
        """A temporary folder of this session's own."""
        if self._folder is None:
            self._folder = processes.make_folder(self.settings.home)
        return self._folder

    def profile(self) -> Path | None:
        """The folder of the profile that is kept; None where none is."""
        name = profile_of(self.request)
        return folders.profile(self.settings.home, name) if name else None

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a process of this session; it stands in the record before it is used."""

        def note(process: ProcessInfo) -> None:
            self._note(process.model_copy(update={"beside": beside}))

        return processes.spawn(name, command, folder=self.folder(), env=env, record=note)

    def alive(self, process: ProcessInfo) -> bool:
        """Whether a process that was spawned is still running."""
        return processes.alive(process)

    def claim(self, name: str) -> SessionRecord | None:
        """Have something for this session alone; returns the session that has it already, None when it is ours."""
        return self._turn.claim(name)

    def check(self) -> None:
        """Raise when the start was cancelled, its session closed, or its time is up."""
        self._turn.check()
        if not self._deadline.left:
            raise StartFailed(
                f"Session {self._turn.record.id!r} did not start within {self._patience:g} s{self._awaited}.",
                hint="Try again, or raise start_timeout.",
            )

    def tell(self, text: str) -> None:
        """Say what the start is waiting for."""
        progress.tell(text)

    def run(self, provider: Provider) -> tuple[Remote, dict[str, Any]]:
        """Start it; returns its client and what the record must say of it.

        Raises:
            StartFailed: It did not come to be.
        """
        host = self._join(provider)
        endpoint = provider.endpoint(self) if host is None else provider.context(self, host)
        there = {"remote_url": without_credentials(endpoint.remote_url), "secret": endpoint.secret}
        self._undo = functools.partial(provider.ended, self._turn.record.changed(**there), self.settings)
        self.check()
        name, is_browser = self._turn.record.id, self.request.type is SessionType.BROWSER
        for secret in endpoint.secrets:
            self._reach.hide(secret.get_secret_value())
        remote = self._reach.to(endpoint.remote_url, "", name=name)
        self._awaited = f": {remote.url} did not answer the request for a session"
        given_up = functools.partial(provider.given_up, endpoint) if endpoint.hang_up else None
        creation = Creation(remote, endpoint.capabilities, self._deadline.left, given_up, over=self._undo)
        try:
            capabilities = self._reach.clean(creation.wait(self._checking(provider, endpoint)))
        except StartFailed as error:
            error.hint = f"{error.hint} {provider.advice(endpoint, error.message)}".strip()
            raise
        except ProviderAuth as error:
            error.hint = provider.advice(endpoint, error.message) or error.hint
            raise
        finally:
            if creation.left:
                # What the provider gives back may still be needed, until nothing comes of the request any more.
                self._undo = None
        self._remote, self._awaited = remote, ""
        facts = {**there, "remote_session_id": remote.remote_session_id, "capabilities": capabilities}
        if host is None:
            known = provider.started(self._turn.record.changed(**facts), self)
            for process in known.processes:
                self._note(process)
            facts |= {"remote_end": self._reach.clean(known.remote_end), "keep_alive": known.keep_alive}
        if self._turn.record.instance is not None:
            facts |= self._settle(remote, host, facts)
        self.check()
        place = self._browser(remote, facts["capabilities"]) if is_browser else {"context": remote.context()}
        return remote, {**facts, **place}

    def _join(self, provider: Provider) -> SessionRecord | None:
        """The session whose browser this one shares; None where it has its own."""
        if not Sharing.able(self.request, provider):
            return None
        sharing = Sharing(self.request, self.options, headless=self.headless, turn=self._turn)
        self._awaited = ": the browser that it shares is still starting"
        host = sharing.join(self.check)
        self._awaited = ""
        if host is not None:
            with Chromium(debugger_address(host.capabilities), name=host.id) as browser:
                answering(browser, browser.pages(), Deadline(min(_OTHERS, self._deadline.left)))
        return host

    def _settle(self, remote: Remote, host: SessionRecord | None, facts: dict[str, Any]) -> dict[str, Any]:
        """Give it its place in a browser that others can share from now on, also if this start does not succeed."""
        if host is not None:
            # Of a browser that runs, a driver tells less; and BiDi is the first session's.
            told = {name: value for name, value in facts["capabilities"].items() if value}
            facts["capabilities"] = {**host.capabilities, **told}
        self._placed = self._turn.record.changed(**facts)
        place, self._handle = settle(self._placed, host, self.request, remote)
        self._placed = self._placed.changed(**place)
        self._turn.write(**facts, **place)
        if host is not None:
            remote.execute("switchToWindow", handle=self._handle)
        return place

    def _note(self, process: ProcessInfo) -> None:
        """Write a process into the session's record at once."""
        turn = self._turn
        # A driver that ended before it was of use, and was started once more, is not one that the session lost.
        kept = [one for one in turn.record.processes if one.name != process.name or processes.alive(one)]
        turn.write(processes=(*kept, process))
        turn.watch[:] = turn.record.processes

    def _checking(self, provider: Provider, endpoint: Endpoint) -> Callable[[], None]:
        """What is done again and again while New Session is unanswered."""
        due = time.monotonic() + _WAITING

        def check() -> None:
            nonlocal due
            self.check()
            if time.monotonic() >= due:
                if text := provider.waiting(self, endpoint):
                    self.tell(text)
                    self._awaited = f": {text}"
                due = time.monotonic() + _WAITING

        return check

    def _browser(self, remote: Remote, capabilities: Mapping[str, Any]) -> dict[str, Any]:
        """Make a browser ready: the page engine in its first tab, and the viewport that was asked for.

        One that is started again gets what its record says.
        """
        if self.request.mode == "attached":
            return self._as_it_is(remote, debugger_address(capabilities))
        record = self._turn.record
        emulation, size = (record.emulation, record.viewport) if record.viewport else self._shape()
        prepare(remote)
        window = fit(remote, emulation.window or size)
        handle = self._handle or remote.execute("w3cGetCurrentWindowHandle")
        tab = Tab(name=f"t{record.tab_next}", handle=handle, prepared=True, viewport=window)
        facts = {"tabs": (tab,), "tabs_used": (tab.name,), "tab_next": record.tab_next + 1, "emulation": emulation}
        return {**facts, "viewport": size if emulation.device else window}

    def _shape(self) -> tuple[Emulation, Viewport]:
        """What the request says that it is for pages, and how large."""
        if self.request.device is None:
            return Emulation(), self.request.viewport
        one = device(self.request.device)
        own = "viewport" not in self.request.model_fields_set
        size = Viewport(width=one.width, height=one.height) if own else self.request.viewport
        return Emulation(device=one.name, window=USUAL), size

    def _as_it_is(self, remote: Remote, address: str) -> dict[str, Any]:
        """Name the tabs of the user's browser, which stay as they are: a first page gets a tab of its own."""
        try:
            there = DevTools(address).tabs()
        except OSError as cause:
            raise StartFailed(
                f"The browser at {address} does not answer.", hint="See that it runs, and try again."
            ) from cause
        handles = [handle for handle, url in there.items() if not url.startswith("devtools:")]
        if self.request.navigation_url is not None or not handles:
            handles.insert(0, remote.execute("newWindow", type="tab")["handle"])
        remote.execute("switchToWindow", handle=handles[0])
        prepare(remote)
        viewport = fit(remote, self.request.viewport) if "viewport" in self.request.model_fields_set else None
        tabs = [Tab(name=f"t{number}", handle=handle) for number, handle in enumerate(handles, 1)]
        tabs[0] = tabs[0].model_copy(update={"prepared": True, "viewport": viewport})
        return {"viewport": viewport, "tabs": tabs, "tabs_used": ("t1",), "tab_next": len(tabs) + 1}

    @contextlib.contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """End whatever was started for it, here and at its remote end, when the body raises; its provider is told."""
        try:
            yield
        except BaseException:
            # What is ended on purpose must not be taken for a session that was lost.
            self._turn.watch.clear()
            if not self._left_to_others():
                self._end()
            if self._undo is not None:
                with contextlib.suppress(OrchestratorError):
                    self._undo()
            raise

    def _left_to_others(self) -> bool:
        """Leave the browser to the sessions that share it by now; False where there are none."""
        record = self._placed or self._turn.record
        if record.instance is None:
            return False
        needed = self._turn.let_go()
        if needed.isdisjoint(one.folder for one in record.processes):
            processes.end(record.processes)
            return False
        with contextlib.suppress(OrchestratorError):
            leave(record, self._remote, _REMOTE_END)
        return True

    def _end(self) -> None:
        # A browser's driver takes the browser with it; an app server has things of a device to put in order.
        driven_here = self.request.type is SessionType.BROWSER and not self._turn.record.far
        if self._remote is not None and not driven_here:
            with contextlib.suppress(OrchestratorError):
                self._remote.delete(_REMOTE_END)
        if self._folder is not None:
            processes.end_folders([self._folder])
