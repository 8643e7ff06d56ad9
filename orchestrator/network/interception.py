"""Applies the routes, replays and HAR recording in a session's record to its browser."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost, Unsupported
from orchestrator.models.session import SessionRecord
from orchestrator.network.bidi_recorder import BidiRecorder
from orchestrator.network.bidi_routing import BidiRouting
from orchestrator.network.cdp_recorder import CdpRecorder
from orchestrator.network.har_entries import Json
from orchestrator.network.journal import Journal
from orchestrator.network.recorder import Recorder
from orchestrator.network.replay import Replay
from orchestrator.network.routing import Routing, RoutingPlan
from orchestrator.network.rules import Rule
from orchestrator.system.file_access import FileAccess
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.cdp import Cdp, TargetFilter

_FILES = "file:*"
_ME = secrets.token_hex(8)
"""This process's value of `routed_by`: the process that drove a session last serves its rules."""


class Traffic:
    """Serves a session's rules and archives, and records its traffic, as soon as this process drives the session.

    Args:
        cdp: The session's targets; None if its remote end does not expose the browser's DevTools.
        bidi: The session's BiDi, if its requests are to be routed and recorded by that.
        read_record: Reads the session's present record, in any thread; None if it is closed.
        home: The setting.
        redactor: Masks secrets in what is recorded.
        files: Which origins its pages may load, and which files, once one of them is a file.
    """

    def __init__(
        self,
        cdp: Cdp | None,
        bidi: Bidi | None,
        read_record: Callable[[], SessionRecord | None],
        home: Path,
        redactor: SessionRedactor,
        files: FileAccess,
    ) -> None:
        self._files = files
        self._is_applied = False
        self._cdp = cdp
        self._read_record = read_record
        self._home = home
        self._replays: dict[Path, Replay] = {}
        self._last_plan: tuple[Any, RoutingPlan] = ((), RoutingPlan())
        self._routing = Routing(cdp, self._plan) if cdp else None
        self._bidi_routing = BidiRouting(bidi, self._plan) if bidi and not cdp else None
        self._redactor = redactor
        self._recorder: Recorder | None = None
        if cdp:
            self._recorder = CdpRecorder(cdp, self._journal, redactor.fields)
        elif bidi:
            self._recorder = BidiRecorder(bidi, self._journal, redactor.fields)

    @property
    def watches_files(self) -> bool:
        """True if it can keep pages from files, and has to."""
        return self._cdp is not None and self._files.is_limited

    @property
    def watches_origins(self) -> bool:
        """True if it can keep pages from origins, and has to."""
        return self._cdp is not None and self._files.origins.is_set

    def check_page(self, url: str) -> None:
        """Refuse a page that led where pages may not go; an empty URL passes.

        Raises:
            Denied: It did; the error names the setting.
        """
        self._files.origins.check_page(url)

    def require_access(self) -> None:
        """Refuse a session whose requests can be neither answered nor recorded.

        Raises:
            Unsupported: The remote end exposes neither the browser's DevTools nor, of Firefox, its BiDi.
        """
        if self._recorder is None:
            record = self._read_record()
            if record is not None and record.is_private:
                raise Unsupported(
                    f"{record.id!r} is private: its browser has no debugger, which this needs.",
                    hint="Start a session without options.private.",
                )
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
        if self._bidi_routing is not None and self._recorder is not None:
            self._apply_by_bidi(self._bidi_routing, self._recorder, record, write)
        if self._cdp is None or self._routing is None or self._recorder is None:
            return
        is_needed = record.is_routed or self.watches_origins
        if not (is_needed or self._is_applied):
            return
        self._is_applied = True
        if is_needed and record.routed_by != _ME:
            write(routed_by=_ME)
        plan = self._plan_for(record)
        try:
            self._cdp.set_filter(_target_filter(record))
            _record(self._recorder, record)
            self._routing.apply(plan)
            self._is_applied = is_needed
        except (SessionLost, OSError) as error:
            reason = error.reason if isinstance(error, SessionLost) else error
            raise RemoteFailure(f"The browser's DevTools do not answer: {reason}.", hint="Try again.") from error

    def _apply_by_bidi(
        self, routing: BidiRouting, recorder: Recorder, record: SessionRecord, write: Callable[..., Any]
    ) -> None:
        if not (record.is_routed or record.intercept or recorder.active):
            return
        if record.is_routed and record.routed_by != _ME:
            write(routed_by=_ME)
        try:
            _record(recorder, record)
            intercept = routing.apply(self._plan_for(record), record.intercept)
        except SessionLost as error:
            raise RemoteFailure(f"The browser does not answer: {error.reason}.", hint="Try again.") from error
        if intercept != record.intercept:
            write(intercept=intercept)

    def drain(self) -> list[Json]:
        """Wait a few seconds at most until the recording is in the journal; returns the entries of open requests."""
        if not (self._recorder and self._recorder.active):
            return []
        self._recorder.drain()
        return self._recorder.pending()

    def close(self) -> None:
        """Disconnect, which ends routing and recording in the browser."""
        if self._bidi_routing:
            self._bidi_routing.close()
        if self._recorder:
            self._recorder.close()
        if self._cdp:
            self._cdp.close()

    def _served_record(self) -> SessionRecord | None:
        """Return the record if this process serves its rules; learn what any process typed in the session."""
        record = self._read_record()
        if record is None or record.routed_by != _ME:
            return None
        self._redactor.learn(record.typed)
        return record

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
        files, origins = [_FILES] if record.opens_files and self._files.is_limited else [], self._files.origins
        checked = (*files, *origins.request_patterns)
        source = record.routes, record.replays, checked
        if self._last_plan[0] != source:
            known, paths = self._replays, [Path(replay["path"]) for replay in record.replays]
            self._replays = {path: known.get(path) or Replay(path) for path in paths}
            plan = RoutingPlan(
                [Rule.model_validate(route) for route in record.routes],
                [*self._replays.values()],
                aborts_unmatched=any(replay["notFound"] == "abort" for replay in record.replays),
                allows=self._files.allows_page if checked else None,
                checked=checked,
            )
            self._last_plan = source, plan
        return self._last_plan[1]


def _record(recorder: Recorder, record: SessionRecord) -> None:
    """Start or stop recording as the record says."""
    if record.har:
        recorder.start()
    else:
        recorder.stop()


def _target_filter(record: SessionRecord) -> TargetFilter:
    """Select a session's targets: its tabs, and all of its browser context unless other sessions use that, too."""
    instance, tabs = record.instance, frozenset(tab.handle for tab in record.tabs)
    if instance is None:
        return TargetFilter(tabs, whole=True)
    return TargetFilter(tabs, context="" if instance.profile and not instance.isolated else instance.context)
