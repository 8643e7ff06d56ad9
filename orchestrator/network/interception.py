"""Applies the routes, replays and HAR recording in a session's record to its browser."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost, Unsupported
from orchestrator.models.session import SessionRecord
from orchestrator.network.har_entries import Json
from orchestrator.network.journal import Journal
from orchestrator.network.recorder import Recorder
from orchestrator.network.replay import Replay
from orchestrator.network.routing import Routing, RoutingPlan
from orchestrator.network.rules import Rule
from orchestrator.webdriver.cdp import Cdp, TargetFilter

_ME = secrets.token_hex(8)
"""This process's value of `routed_by`: the process that drove a session last serves its rules."""


class Traffic:
    """Serves a session's rules and archives, and records its traffic, as soon as this process drives the session.

    Args:
        cdp: The session's targets; None if its remote end does not expose the browser's DevTools.
        read_record: Reads the session's present record, in any thread; None if it is closed.
        home: The setting.
        clean: Redacts a JSON value.
    """

    def __init__(
        self,
        cdp: Cdp | None,
        read_record: Callable[[], SessionRecord | None],
        home: Path,
        clean: Callable[[Any], Any],
    ) -> None:
        self._is_applied = False
        self._cdp = cdp
        self._read_record = read_record
        self._home = home
        self._replays: dict[Path, Replay] = {}
        self._last_plan: tuple[Any, RoutingPlan] = ((), RoutingPlan())
        self._routing = Routing(cdp, self._plan) if cdp else None
        self._recorder = Recorder(cdp, self._journal, clean) if cdp else None

    def require_devtools(self) -> None:
        """Refuse a session whose requests cannot be observed.

        Raises:
            Unsupported: The remote end does not expose the browser's DevTools.
        """
        if self._cdp is None:
            raise Unsupported(
                "The remote end does not expose the browser's DevTools, which this needs.",
                hint="Use a browser on this machine, or a Selenium Grid: its sessions have the capability se:cdp.",
            )

    def apply_record(self, record: SessionRecord, write: Callable[..., Any]) -> None:
        """Start or stop routing and recording as the record says; `write` changes the record at once.

        Raises:
            RemoteFailure: The browser's DevTools do not answer; the session may still live.
            InvalidArgument: An archive can no longer be read.
        """
        if self._cdp is None or self._routing is None or self._recorder is None:
            return
        if not (record.is_routed or self._is_applied):
            return
        self._is_applied = True
        if record.is_routed and record.routed_by != _ME:
            write(routed_by=_ME)
        plan = self._plan_for(record)
        try:
            self._cdp.set_filter(_target_filter(record))
            if record.har:
                self._recorder.start()
            else:
                self._recorder.stop()
            self._routing.apply(plan)
            self._is_applied = record.is_routed
        except (SessionLost, OSError) as error:
            reason = error.reason if isinstance(error, SessionLost) else error
            raise RemoteFailure(f"The browser's DevTools do not answer: {reason}.", hint="Try again.") from error

    def drain(self) -> list[Json]:
        """Wait a few seconds at most until the recording is in the journal; returns the entries of open requests."""
        if not (self._recorder and self._recorder.active):
            return []
        self._recorder.drain()
        return self._recorder.pending()

    def close(self) -> None:
        """Disconnect, which ends routing and recording in the browser."""
        if self._cdp:
            self._cdp.close()

    def _served_record(self) -> SessionRecord | None:
        """Return the record if this process serves its rules."""
        record = self._read_record()
        return record if record and record.routed_by == _ME else None

    def _plan(self) -> RoutingPlan | None:
        try:
            record = self._served_record()
        except OrchestratorError:
            return self._last_plan[1]  # the store is busy: the last plan still applies
        return self._plan_for(record) if record else None

    def _journal(self) -> Journal | None:
        try:
            record = self._served_record()
        except OrchestratorError:
            return None
        return Journal.for_session(record, self._home) if record and record.har else None

    def _plan_for(self, record: SessionRecord) -> RoutingPlan:
        source = record.routes, record.replays
        if self._last_plan[0] != source:
            known, paths = self._replays, [Path(replay["path"]) for replay in record.replays]
            self._replays = {path: known.get(path) or Replay(path) for path in paths}
            plan = RoutingPlan(
                [Rule.model_validate(route) for route in record.routes],
                [*self._replays.values()],
                aborts_unmatched=any(replay["notFound"] == "abort" for replay in record.replays),
            )
            self._last_plan = source, plan
        return self._last_plan[1]


def _target_filter(record: SessionRecord) -> TargetFilter:
    """Select a session's targets: its tabs, and all of its browser context unless other sessions use that, too."""
    instance, tabs = record.instance, frozenset(tab.handle for tab in record.tabs)
    if instance is None:
        return TargetFilter(tabs, whole=True)
    return TargetFilter(tabs, context="" if instance.profile and not instance.isolated else instance.context)
