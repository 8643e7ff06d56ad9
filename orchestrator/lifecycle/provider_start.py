"""The start that a provider sees, and the undo callbacks of a start that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.errors import DeviceBusy, OrchestratorError, StartFailed
from orchestrator.lifecycle.instances import profile_of
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import PROFILE_CLAIM, ProcessInfo, SessionRecord
from orchestrator.provider import SessionOptions
from orchestrator.sessions import progress
from orchestrator.sessions.store.resource_queue import QueuePlace
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.system import folders, processes
from orchestrator.system.deadline import Deadline
from orchestrator.system.origins import Origins

_POLL = 0.2
"""Seconds between two looks whether a device is free."""

_RETRY = 1.0
"""Seconds between two requests for a device that the remote end says is in use: of another client, or of a session
whose process died and which is being ended."""


class StartUndo(ExitStack):
    """Undo callbacks of a start, pushed step by step, in three stacks that are unwound in this order.

    Attributes:
        session: Ends the session at its remote end, or leaves the browser that it shares.
        folder: Ends the local processes and removes their folder; emptied when the browser is left to others.
        provider: Notifies the provider that its endpoint is unused; emptied when New Session notifies it later.
    """

    def __init__(self) -> None:
        super().__init__()
        self.provider = self.enter_context(ExitStack())
        self.folder = self.enter_context(ExitStack())
        self.session = self.enter_context(ExitStack())


@contextlib.contextmanager
def undone_on_failure(turn: Turn) -> Iterator[StartUndo]:
    """Unwind the undo callbacks of a start when the body raises; drop them when it succeeds."""
    with StartUndo() as undo:
        try:
            yield undo
        except BaseException:
            # What is ended on purpose must not be taken for a session that was lost.
            turn.watched_processes.clear()
            raise
        for stack in (undo.session, undo.folder, undo.provider):
            stack.pop_all()


def ignoring_errors(undo: Callable[..., None], *args: Any) -> None:
    """Call an undo callback whose failure must not hide why the start failed."""
    with contextlib.suppress(OrchestratorError):
        undo(*args)


class ProviderStart:
    """A start in progress; implements `provider.Start`.

    Attributes:
        origins: Where its pages and connections may lead.
        deadline: The end of the time that the start may take.
        waits_for: Ends the message of a start that ran out of time.
    """

    def __init__(
        self,
        request: StartRequest,
        options: SessionOptions,
        settings: Settings,
        turn: Turn,
        undo: StartUndo,
        origins: Origins,
    ) -> None:
        self.request = request
        self.options = options
        self.settings = settings
        self.origins = origins
        self._timeout = options.start_timeout or settings.start_timeout
        self.deadline = Deadline(self._timeout)
        self.waits_for = ""
        self._device_patience = Deadline(0)
        self._turn = turn
        self._undo = undo
        self._folder: Path | None = None

    @property
    def session_id(self) -> str:
        """The id that the session will have."""
        return self._turn.record.id

    @property
    def headless(self) -> bool:
        """True to start without a window."""
        return self.settings.headless if self.request.headless is None else self.request.headless

    def folder(self) -> Path:
        """Return the session's own temporary folder."""
        if self._folder is None:
            self._folder = processes.make_folder(self.settings.home)
            self._undo.folder.callback(processes.end_folders, [self._folder])
        return self._folder

    def profile(self) -> Path | None:
        """Return the folder of the persistent profile, if one was requested; no other session gets it meanwhile."""
        name = profile_of(self.request)
        if not name:
            return None
        # A browser that sessions share is found by its profile; any other one has it for one session alone.
        holder = self.claim(f"{PROFILE_CLAIM}{name}") if self._turn.record.instance is None else None
        if holder is not None:
            raise DeviceBusy(
                f"Profile {self.request.profile!r} is that of session {holder.id!r}, whose browser has one session.",
                hint=f"Use {holder.id!r}, close it first, or name another profile.",
            )
        return folders.profile(self.settings.home, name)

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a process of this session; the record names it before it is used."""

        def record(process: ProcessInfo) -> None:
            self.record_process(process.model_copy(update={"beside": beside}))

        passed = self.settings.pass_environment
        return processes.spawn(name, command, folder=self.folder(), env=env, record=record, passed=passed)

    def alive(self, process: ProcessInfo) -> bool:
        """Return True while a spawned process is running."""
        return processes.alive(process)

    def claim(self, name: str) -> SessionRecord | None:
        """Claim a name for this session alone; returns the session that has it already, None on success."""
        return self._turn.claim(name)

    def claim_device(self, claims: Mapping[str, str], wait: float) -> str:
        """Claim one of these devices, by the name of each one's claim; wait for it in the order of the starts."""
        patience = self._device_patience = Deadline(wait)
        shown = -1
        while (place := self._turn.claim_one([*claims.values()])).taken is None:
            if not patience.seconds_left:
                self._turn.write(waits_for=())
                raise self._device_busy(claims, place, wait)
            if place.ahead != shown:
                shown = place.ahead
                self.tell(f"waiting for {_describe_devices(claims)}, as number {shown + 1} of the queue")
            self._turn.stop.wait(min(_POLL, patience.seconds_left))
            self._turn.check()
        self.deadline = Deadline(self._timeout)
        return next(device for device, name in claims.items() if name == place.taken)

    def wait_for_device(self) -> bool:
        """Wait a moment for a device that the remote end says is in use; False if it was waited for long enough."""
        if not self._device_patience.seconds_left:
            return False
        self.tell("waiting for the device, which the remote end says is in use")
        self._turn.stop.wait(min(_RETRY, self._device_patience.seconds_left))
        self._turn.check()
        self.deadline = Deadline(self._timeout)
        return True

    def _device_busy(self, claims: Mapping[str, str], place: QueuePlace, wait: float) -> DeviceBusy:
        own = self.settings.namespace
        holders = {device: place.holders[name] for device, name in claims.items() if name in place.holders}
        reasons = [
            f"device {device!r} has a session already: {one.id!r}"
            + ("" if one.namespace == own else f" of namespace {one.namespace!r}")
            for device, one in holders.items()
        ]
        waited = f" No device became free within {wait:g} s; {place.ahead} earlier starts wait, too." if wait else ""
        told = "; ".join(reasons) or "earlier starts wait for the free devices"
        return DeviceBusy(
            f"{told[0].upper()}{told[1:]}.{waited}",
            hint="Use that session, close it, or request another device; list_devices says which are free.",
        )

    def check(self) -> None:
        """Raise when the start was cancelled, its session closed, or its time is up."""
        self._turn.check()
        if not self.deadline.seconds_left:
            raise StartFailed(
                f"Session {self.session_id!r} did not start within {self._timeout:g} s{self.waits_for}.",
                hint="Try again, or raise start_timeout.",
            )

    @contextlib.contextmanager
    def in_time(self) -> Iterator[None]:
        """Raise what `check` does for an error of the block that comes when the time is up and names another reason."""
        try:
            yield
        except StartFailed:
            raise
        except OrchestratorError:
            self.check()
            raise

    def tell(self, text: str) -> None:
        """Report what the start is waiting for."""
        progress.report_progress(text)

    def record_process(self, process: ProcessInfo) -> None:
        """Write a process into the session's record at once."""
        turn = self._turn
        # A driver that failed to come up, and was started once more, is dropped: its end does not lose the session.
        others = [one for one in turn.record.processes if one.name != process.name or processes.alive(one)]
        turn.write(processes=(*others, process))
        turn.watched_processes[:] = turn.record.processes


def _describe_devices(claims: Mapping[str, str]) -> str:
    names = ", ".join(claims)
    return f"device {names}" if len(claims) == 1 else f"one of the devices {names}"
