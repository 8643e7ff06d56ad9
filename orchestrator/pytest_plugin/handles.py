"""Handles for tests: those of the Python API, with a log of the calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urljoin

import anyio.to_thread
from anyio.from_thread import BlockingPortal

from orchestrator import session as handles
from orchestrator import sync
from orchestrator.actions.base import Action, ResultT
from orchestrator.actions.navigation import Navigate
from orchestrator.execution.sequence import SequenceResult, Steps
from orchestrator.models.arguments import parse_arguments
from orchestrator.models.test_status import Status
from orchestrator.pytest_plugin.baselines import Baselines, Expected
from orchestrator.pytest_plugin.steps import StepLog
from orchestrator.sessions.rows import CloseResult

_STEPS = "execute_sequence"
AnswerT = TypeVar("AnswerT")


class RecordedSession(sync.Session):
    """A session of a test.

    Attributes:
        name: Its name in the test; `id` is that in the namespace.
        plain: The same session without a log.
    """

    def __init__(self, session: sync.Session, name: str, log: StepLog, *, base_url: str, baselines: Baselines) -> None:
        super().__init__(session._session, session._portal)  # noqa: SLF001 — the same handle, with a log
        self.plain = session
        self.name = name
        self._log = log
        self._base_url = base_url
        self._baselines = baselines

    def expect_outline(self, name: str, *, ignore: Sequence[str] = (), timeout: int = 5_000) -> None:
        """Expect the elements of a baseline: roles, names, values and states of all that the session shows.

        Args:
            name: The baseline's name; there is one for each platform and browser.
            ignore: Selectors of parts that may differ.
            timeout: Milliseconds within which it must be so.

        Raises:
            BaselineDiffers: The session shows something else; the artifacts have a page about it.
            BaselineMissing: There is no such baseline, and in CI none is written.
            OrchestratorError: The session could not be read.
        """
        with self._log.step(self.name, "expect_outline", {"name": name}):
            self._baselines.expect(self.plain, self.name, Expected(name, "elements", ignore, 0, timeout))

    def expect_screenshot(
        self, name: str, *, mask: Sequence[str] = (), max_ratio: float = 0, timeout: int = 5_000
    ) -> None:
        """Expect the picture of a baseline: that of the viewport, or of an app's screen.

        Args:
            name: The baseline's name; there is one for each platform and browser.
            mask: Selectors of parts that may differ; they are grey in the baseline.
            max_ratio: The share of pixels that may differ, from 0 to 1.
            timeout: Milliseconds within which it must be so.

        Raises:
            BaselineDiffers: The session shows something else; the artifacts have a page about it.
            BaselineMissing: There is no such baseline, and in CI none is written.
            OrchestratorError: The session could not be read.
        """
        with self._log.step(self.name, "expect_screenshot", {"name": name}):
            self._baselines.expect(self.plain, self.name, Expected(name, "screenshot", mask, max_ratio, timeout))

    def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        return self.perform(parse_arguments(declared, resolve_urls(declared, fields, self._base_url)))

    def perform(self, action: Action[ResultT]) -> ResultT:
        """Perform an action that is given as an object, such as `ClickElement(selector="#save")`.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        with self._log.step(self.name, action.verb, action.log_arguments()):
            return super().perform(action)

    def _wait(self, method: str, **arguments: Any) -> Any:
        if method != _STEPS:
            return super()._wait(method, **arguments)
        steps = list(arguments.pop("actions"))
        with self._log.step(self.name, method, {"steps": len(steps)}):
            return super()._wait(method, actions=steps, **arguments)


class AwaitedSession(handles.Session):
    """The same session of a test with `await`, in whatever event loop the test runs.

    Attributes:
        name: Its name in the test; `id` is that in the namespace.
    """

    def __init__(self, session: RecordedSession, log: StepLog, base_url: str) -> None:
        super().__init__(PortalBackend(session, log), session.facts)
        self.name = session.name
        self._recorded = session
        self._base_url = base_url

    async def expect_outline(self, name: str, *, ignore: Sequence[str] = (), timeout: int = 5_000) -> None:
        """Expect the elements of a baseline, as `RecordedSession.expect_outline` does."""
        expect = partial(self._recorded.expect_outline, name, ignore=ignore, timeout=timeout)
        await anyio.to_thread.run_sync(expect, abandon_on_cancel=True)

    async def expect_screenshot(
        self, name: str, *, mask: Sequence[str] = (), max_ratio: float = 0, timeout: int = 5_000
    ) -> None:
        """Expect the picture of a baseline, as `RecordedSession.expect_screenshot` does."""
        expect = partial(self._recorded.expect_screenshot, name, mask=mask, max_ratio=max_ratio, timeout=timeout)
        await anyio.to_thread.run_sync(expect, abandon_on_cancel=True)

    async def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        return await super()._do(declared, resolve_urls(declared, fields, self._base_url))


class PortalBackend:
    """The calls of one session on the event loop that its orchestrator runs on, awaited in that of the test."""

    def __init__(self, session: RecordedSession, log: StepLog) -> None:
        self._name = session.name
        self._session = session._session  # noqa: SLF001 — the same handle, without the thread that waits
        self._portal = session._portal()  # noqa: SLF001 — as above
        self._log = log

    async def session(self, session_id: str | None = None) -> handles.Session:
        """Return the handle of the session with its present facts."""
        del session_id
        await call_on(self._portal, self._session.refresh)
        return self._session

    async def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Perform an action in the session."""
        del session_id
        with self._log.step(self._name, action.verb, action.log_arguments()):
            return await call_on(self._portal, partial(self._session.perform, action))

    async def execute_sequence(self, actions: Steps, session_id: str | None = None, **options: Any) -> SequenceResult:
        """Run several steps in the session."""
        del session_id
        steps = list(actions)
        with self._log.step(self._name, _STEPS, {"steps": len(steps)}):
            return await call_on(self._portal, partial(self._session.execute_sequence, steps, **options))

    async def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> CloseResult:
        """End the session, or leave it alive at its remote end."""
        del session_id
        return await call_on(self._portal, partial(self._session.close, detach=detach, status=status, reason=reason))


async def call_on(portal: BlockingPortal, function: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
    """Await a function on the event loop of a portal; if the caller is cancelled, so is the call."""
    future = portal.start_task_soon(function)
    try:
        return await anyio.to_thread.run_sync(future.result, abandon_on_cancel=True)
    finally:
        future.cancel()


def resolve_urls(declared: type[Action[Any]], fields: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
    """Return the parameters of an action with the relative URL of a navigation resolved."""
    if declared is Navigate and base_url and fields.get("url") is not None:
        return {**fields, "url": urljoin(base_url, fields["url"])}
    return fields
