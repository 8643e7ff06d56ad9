"""The façade's words for Python: what a tool takes as JSON are keyword arguments, what it starts is a handle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from orchestrator.actions.base import Action
from orchestrator.arguments import read
from orchestrator.compare import CompareSessions, Comparison
from orchestrator.errors import InvalidArgument, OrchestratorError
from orchestrator.models import AttachRequest, SessionType, StartRequest, Viewport
from orchestrator.parallel import ExecuteParallel, ParallelResult, Part
from orchestrator.rows import Row
from orchestrator.sequence import ExecuteSequence, SequenceResult, Step, Steps
from orchestrator.session import Home, Session


class PythonApi(Home):
    """Starts that give a handle, and runs of several steps, with the parameters and defaults of the tools."""

    @abstractmethod
    async def start(self, request: StartRequest, *, wait: bool = True) -> Row:
        """Start a session."""

    @abstractmethod
    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane."""

    @abstractmethod
    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time."""

    @abstractmethod
    async def attach(self, request: AttachRequest) -> Row:
        """Take in a session that was started elsewhere."""

    @abstractmethod
    async def compare(self, asked: CompareSessions) -> Comparison:
        """Look at all sessions at the same time, and say how the others differ from the first one."""

    async def start_browser(
        self,
        session_id: str | None = None,
        *,
        browser: str = "chrome",
        headless: bool | None = None,
        navigation_url: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
        viewport: Viewport | Mapping[str, int] | None = None,
        args: Sequence[str] = (),
    ) -> Session:
        """Start a browser on this machine.

        Args:
            session_id: Its name, such as alice; browser-1, … unless given.
            browser: Which browser.
            headless: Without a window; a setting (True) unless given.
            navigation_url: Open this URL first.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.
            viewport: Size of the page area in CSS pixels; 1280 x 720 unless given.
            args: Further switches of the browser.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: There is no session; nothing of it is left.
        """
        return await self._started(
            wait=wait,
            session_id=session_id,
            browser=browser,
            headless=headless,
            navigation_url=navigation_url,
            capabilities=capabilities,
            options=options,
            viewport=viewport,
            args=list(args),
        )

    async def start_session(
        self,
        provider: str,
        platform: str,
        session_id: str | None = None,
        *,
        browser: str = "chrome",
        browser_version: str | None = None,
        headless: bool | None = None,
        navigation_url: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Session:
        """Start a session at a provider by its name; the other parameters are those of `start_browser`.

        Args:
            provider: local, or another installed provider.
            platform: The type of session, such as browser.
            session_id: Its name; browser-1, … unless given.
            browser: Which browser.
            browser_version: Such as 156; any unless given.
            headless: Without a window; a setting (True) unless given.
            navigation_url: Open this URL first.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.

        Raises:
            InvalidArgument, Unsupported, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        return await self._started(
            wait=wait,
            provider=provider,
            type=_type(platform),
            session_id=session_id,
            browser=browser,
            browser_version=browser_version,
            headless=headless,
            navigation_url=navigation_url,
            capabilities=capabilities,
            options=options,
        )

    async def attach_session(
        self,
        remote_url: str,
        remote_session_id: str,
        session_id: str | None = None,
        *,
        platform: str = "browser",
        capabilities: Mapping[str, Any] | None = None,
    ) -> Session:
        """Drive a session that was started elsewhere; closing it here leaves it alive there.

        Args:
            remote_url: The WebDriver endpoint, such as http://127.0.0.1:4444.
            remote_session_id: The session there, as New Session answered it.
            session_id: Its name here; browser-1, … unless given.
            platform: The type of session, such as browser.
            capabilities: What to know about it beyond what the remote end tells.

        Raises:
            SessionLost: It does not answer; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not taken in.
        """
        wish = {
            "remote_url": remote_url,
            "remote_session_id": remote_session_id,
            "session_id": session_id,
            "platform": _type(platform),
            "capabilities": capabilities,
        }
        return Session(self, await self.attach(read(AttachRequest, wish)))

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

    async def _started(self, *, wait: bool, **wish: Any) -> Session:
        row = await self.start(read(StartRequest, wish), wait=wait)
        return Session(self, row)


def _type(platform: str) -> str:
    wanted = platform.lower()
    if wanted not in set(SessionType):
        raise InvalidArgument(f"{platform!r} is not a platform.", hint=f"Known: {', '.join(SessionType)}.")
    return wanted


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
