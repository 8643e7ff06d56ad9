"""The façade's words for Python: what a tool takes as JSON are keyword arguments."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import anyio.to_thread

from orchestrator.actions.base import Action
from orchestrator.app_storage import AppList, UploadedApp, listed, send
from orchestrator.arguments import read
from orchestrator.compare import CompareSessions, Comparison
from orchestrator.devices import DeviceList, look
from orchestrator.errors import OrchestratorError
from orchestrator.machine import Machine
from orchestrator.parallel import ExecuteParallel, ParallelResult, Part
from orchestrator.registry import Providers
from orchestrator.rows import SessionList
from orchestrator.sequence import ExecuteSequence, SequenceResult, Step, Steps
from orchestrator.settings import Settings
from orchestrator.starts import Starts


class PythonApi(Starts):
    """Runs of several steps, with the parameters and defaults of the tools."""

    settings: Settings
    _providers: Providers

    @abstractmethod
    async def list_sessions(self, prefix: str | None = None) -> SessionList:
        """The sessions of the namespace that are not closed."""

    @abstractmethod
    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane."""

    @abstractmethod
    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time."""

    @abstractmethod
    async def compare(self, asked: CompareSessions) -> Comparison:
        """Look at all sessions at the same time, and say how the others differ from the first one."""

    async def compare_sessions(
        self,
        session_ids: Sequence[str],
        of: Literal["text", "elements", "screenshot"],
        *,
        ignore: Sequence[str] = (),
    ) -> Comparison:
        """Compare what sessions show; the others are compared with the first one.

        Args:
            session_ids: Two or more.
            of: What is compared.
            ignore: Selectors of what may differ.

        Raises:
            InvalidArgument: A session is named twice, or a selector is none.
            OrchestratorError: One of the sessions could not be looked at; it is named.
        """
        given = {"session_ids": list(session_ids), "of": of, "ignore": list(ignore)}
        return await self.compare(read(CompareSessions, given))

    async def list_devices(self) -> DeviceList:
        """The devices, simulators and emulators that a start could use, and which are taken; nothing is started.

        What could not be asked is told in `warnings`.
        """
        listed = await self.list_sessions()
        return await anyio.to_thread.run_sync(look, Machine.this(), self.settings.appium_url, listed.sessions)

    async def upload_app(self, provider: str, path: str, *, custom_id: str | None = None) -> UploadedApp:
        """Send an app of this machine to a cloud's storage; its `app` is what `start_session` takes there.

        Args:
            provider: Which cloud.
            path: The file on this machine.
            custom_id: A name of your own for it, where the cloud takes one; its newest upload is meant.

        Raises:
            InvalidArgument: There is no such file.
            Unsupported: The provider has no storage for apps, or no custom ids.
            ProviderAuth, ProviderFailure: It was not taken; the message says what the cloud said.
        """
        return await send(self._providers, self.settings, provider, path, custom_id)

    async def list_apps(self, provider: str, *, limit: int = 20) -> AppList:
        """The newest apps in a cloud's storage.

        Raises:
            Unsupported: The provider has no storage for apps.
            ProviderAuth, ProviderFailure: They were not told; the message says what the cloud said.
        """
        return await listed(self._providers, self.settings, provider, limit)

    async def execute_sequence(
        self,
        actions: Steps,
        session_id: str | None = None,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps in one session, as `Session.execute_sequence` does.

        Raises:
            InvalidArgument: A step is unknown or wrong; nothing was run.
            OrchestratorError: What stopped it; `error.details["result"]` says how far it came.
        """
        given = {
            "actions": _as_steps(actions),
            "session_id": session_id,
            "stability_ms": stability_ms,
            "stability_timeout_ms": stability_timeout_ms,
            "timeout": timeout,
            "verbose": verbose,
        }
        result = await self.run_sequence(read(ExecuteSequence, given))
        if (error := result.failure()) is not None:
            raise _stopped(error, result)
        return result

    async def execute_parallel(
        self,
        sequences: Iterable[Mapping[str, Any] | Part],
        *,
        lockstep: bool = False,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5_000,
        timeout: int = 120_000,
        verbose: bool = False,
    ) -> ParallelResult:
        """Run one sequence a session at the same time: `[{"session_id": "ann", "actions": [...]}, ...]`.

        One that fails does not stop the others: `result.sequences["ann"]` is its result, or the error for which it
        has none. With `lockstep` the one list runs on all its `session_ids` step by step, up to the first step after
        which they do not show the same by role and name: `result.divergence`.

        Raises:
            InvalidArgument: A step is unknown or wrong; nothing was run.
            OrchestratorError: All of them failed; this is the first one's error.
        """
        given = {
            "sequences": [_as_part(one) for one in sequences],
            "lockstep": lockstep,
            "stability_ms": stability_ms,
            "stability_timeout_ms": stability_timeout_ms,
            "timeout": timeout,
            "verbose": verbose,
        }
        result = await self.run_parallel(read(ExecuteParallel, given))
        if (error := result.failure()) is not None:
            raise error
        return result


def _as_steps(actions: Steps) -> list[Step]:
    """Steps as they are read; whether they mean anything is found out when they are."""
    return [_as_step(one) if isinstance(one, Action) else dict(one) for one in actions]


def _as_step(action: Action[Any]) -> Step:
    """An action as a step; a parameter that is called action itself is `do` there."""
    given = action.model_dump(by_alias=True, exclude_unset=True)
    return {"action": action.verb, **{"do" if name == "action" else name: value for name, value in given.items()}}


def _as_part(part: Mapping[str, Any] | Part) -> dict[str, Any]:
    given = part.model_dump(exclude_unset=True) if isinstance(part, Part) else dict(part)
    steps = given.get("actions")
    return {**given, "actions": _as_steps(steps)} if isinstance(steps, list | tuple) else given


def _stopped(error: OrchestratorError, result: SequenceResult) -> OrchestratorError:
    """The error of a step with the place of the step, and the result as facts."""
    error.details["result"] = result.data()
    if result.failed:
        error.add_note(f"Step {result.failed.index} ({result.failed.action}); {result.completed} were completed.")
    return error
