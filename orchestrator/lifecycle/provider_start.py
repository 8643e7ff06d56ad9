"""The start that a provider sees, and the undo callbacks of a start that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError, StartFailed
from orchestrator.lifecycle.instances import profile_of
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import ProcessInfo, SessionRecord
from orchestrator.provider import SessionOptions
from orchestrator.sessions import progress
from orchestrator.sessions.turn import Turn
from orchestrator.settings import Settings
from orchestrator.system import folders, processes
from orchestrator.system.deadline import Deadline


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
        deadline: The end of the time that the start may take.
        waits_for: Ends the message of a start that ran out of time.
    """

    def __init__(
        self, request: StartRequest, options: SessionOptions, settings: Settings, turn: Turn, undo: StartUndo
    ) -> None:
        self.request = request
        self.options = options
        self.settings = settings
        self._timeout = options.start_timeout or settings.start_timeout
        self.deadline = Deadline(self._timeout)
        self.waits_for = ""
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
        """Return the folder of the persistent profile, if one was requested."""
        name = profile_of(self.request)
        return folders.profile(self.settings.home, name) if name else None

    def spawn(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, beside: bool = False
    ) -> ProcessInfo:
        """Start a process of this session; the record names it before it is used."""

        def record(process: ProcessInfo) -> None:
            self.record_process(process.model_copy(update={"beside": beside}))

        return processes.spawn(name, command, folder=self.folder(), env=env, record=record)

    def alive(self, process: ProcessInfo) -> bool:
        """Return True while a spawned process is running."""
        return processes.alive(process)

    def claim(self, name: str) -> SessionRecord | None:
        """Claim a name for this session alone; returns the session that has it already, None on success."""
        return self._turn.claim(name)

    def check(self) -> None:
        """Raise when the start was cancelled, its session closed, or its time is up."""
        self._turn.check()
        if not self.deadline.seconds_left:
            raise StartFailed(
                f"Session {self.session_id!r} did not start within {self._timeout:g} s{self.waits_for}.",
                hint="Try again, or raise start_timeout.",
            )

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
