"""Runs a self-test: starts a session, calls each action, ends the session."""

from __future__ import annotations

import math
import platform
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import anyio

from orchestrator import __version__
from orchestrator.api import Orchestrator
from orchestrator.cli.doctor.check.app import AppCheck
from orchestrator.cli.doctor.check.page import served_page
from orchestrator.cli.doctor.check.steps import CheckStep, LeftOut, require
from orchestrator.cli.doctor.check.table import CheckReport, CheckRow
from orchestrator.cli.doctor.check.target import CheckTarget
from orchestrator.cli.doctor.check.web import WebCheck
from orchestrator.errors import OrchestratorError
from orchestrator.session import Session
from orchestrator.settings import Settings
from orchestrator.system.deadline import Deadline

NAMESPACE = "doctor"
"""The namespace of the session, apart from those of any project."""
LIMIT = 120.0
"""Seconds for the whole self-test; a start with a `startTimeout` of its own counts apart."""
_START_WITHIN = 80.0
_CLOSE_WITHIN = 10.0
_CLOSE = "close_session"
_START_TIMEOUT = "startTimeout"
_OVER = "Its two minutes were over."


async def run_check(target: CheckTarget, settings: Settings, url: str | None = None) -> CheckReport:
    """Test a browser, an app or a provider by a dozen actions.

    Args:
        target: What to start.
        settings: Those of the user; the session gets a namespace of its own.
        url: The page's address as a browser elsewhere reaches it.

    Raises:
        InvalidArgument: The page cannot be served at this URL.
    """
    settings = settings.model_copy(update={"namespace": NAMESPACE, "park_ttl": 0})
    with ExitStack() as resources:
        if target.is_app:
            steps = AppCheck().steps()
        else:
            page = resources.enter_context(served_page(url))
            steps = WebCheck(page, is_reachable=url is not None, on_phone=target.on_phone).steps()
        async with Orchestrator(settings, door="cli") as orchestrator:
            return await _CheckRun(orchestrator, target).run(steps)


class _CheckRun:
    """A self-test while it runs, with its rows so far."""

    def __init__(self, orchestrator: Orchestrator, target: CheckTarget) -> None:
        self._orchestrator = orchestrator
        self._target = target
        self._deadline = Deadline(LIMIT - _CLOSE_WITHIN)
        self._session: Session | None = None
        self._rows: list[CheckRow] = []

    async def run(self, steps: Sequence[CheckStep]) -> CheckReport:
        """Start a session, call every action whatever becomes of the others, and end the session."""
        whole = Deadline(LIMIT)
        has_own_limit = _START_TIMEOUT in self._target.options
        await self._call("start_session", self._start(), math.inf if has_own_limit else self._deadline.seconds_left)
        if has_own_limit:
            self._deadline = Deadline(LIMIT - _CLOSE_WITHIN)
        if self._session is None:
            self._omit([*(step.action for step in steps), _CLOSE], "No session was started.")
        else:
            await self._perform(self._session, steps)
            await self._call(_CLOSE, self._close(self._session), _CLOSE_WITHIN)
        return CheckReport(self._target.name, self._describe(), tuple(self._rows), round(whole.elapsed_ms / 1000, 1))

    async def _perform(self, session: Session, steps: Sequence[CheckStep]) -> None:
        for number, step in enumerate(steps, 1):
            if not self._deadline.seconds_left:
                self._omit([step.action], _OVER)
                continue
            is_ok = await self._call(step.action, step.run(session), self._deadline.seconds_left)
            if step.is_first and not is_ok:
                self._omit([later.action for later in steps[number:]], f"{step.action} failed.")
                return

    async def _start(self) -> str:
        fields = self._target.start_fields()
        limit = min(_START_WITHIN, self._orchestrator.settings.start_timeout)
        fields["options"] = {_START_TIMEOUT: limit, **fields["options"]}
        self._session = await self._orchestrator.start_session(**fields)
        return ""

    async def _close(self, session: Session) -> str:
        done = await session.close()
        require(not done.failed, " ".join(f"It was not ended: {one.reason}" for one in done.failed))
        return ""

    async def _call(self, action: str, work: Awaitable[str | LeftOut], seconds: float) -> bool:
        """Do what an action does within a time, and add its row; returns True unless it failed."""
        clock, redact = Deadline(seconds), self._orchestrator.redactor.text
        row = await _outcome(action, work, seconds)
        self._rows.append(replace(row, ms=clock.elapsed_ms, said=redact(row.said), hint=redact(row.hint)))
        return row.state != "failed"

    def _omit(self, actions: Sequence[str], reason: str) -> None:
        self._rows += [CheckRow(action, "not run", reason) for action in actions]

    def _describe(self) -> Mapping[str, str]:
        """Return what a reader must know of the place where it ran."""
        python, system = platform.python_version(), platform.platform(terse=True)
        return {
            "session": "none" if self._session is None else _name(self._session),
            "provider": self._target.provider,
            "software": f"webdriver-orchestrator {__version__}, Python {python}, {system} {platform.machine()}",
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        }


def _name(session: Session) -> str:
    """Return what was started, such as `chrome 156.0.7977.2, linux`; a device's own id is nobody's business."""
    known = {name: value for name, value in session.facts.capabilities.items() if name != "udid"}
    browser = " ".join(filter(None, (known.pop("browserName", ""), known.pop("browserVersion", ""))))
    return ", ".join(filter(None, (browser, *known.values())))


async def _outcome(action: str, work: Awaitable[str | LeftOut], seconds: float) -> CheckRow:
    try:
        with anyio.fail_after(seconds):
            found = await work
    except OrchestratorError as error:
        return CheckRow(action, "failed", error.message, hint=error.hint, code=error.code)
    except TimeoutError:
        return CheckRow(action, "failed", _OVER)
    except Exception as error:  # noqa: BLE001 a fault of ours is a result that a user can report
        return CheckRow(action, "failed", f"{type(error).__name__}: {error}")
    if isinstance(found, LeftOut):
        return CheckRow(action, "left out", found.reason, hint=found.hint)
    return CheckRow(action, "ok", found)
