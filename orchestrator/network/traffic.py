"""What one session's requests go through, in one process: a cache of what its record says."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost, Unsupported
from orchestrator.models import SessionRecord
from orchestrator.network.entries import Json
from orchestrator.network.journal import Journal
from orchestrator.network.recorder import Recorder
from orchestrator.network.replay import Replay
from orchestrator.network.routing import Plan, Routing
from orchestrator.network.rules import Rule
from orchestrator.webdriver.cdp import Cdp, Extent

_ME = secrets.token_hex(8)
"""This process, among those that drive a session: the one that drove it last keeps its rules."""


class Traffic:
    """Keeps to a session's rules and archives, and records, from the moment in which this process drives the session.

    Args:
        cdp: The session's targets; None where its remote end gives no way to the browser.
        look: Reads its record as it is now, in any thread; None when it is closed.
        home: The setting.
        clean: A JSON value without the secrets that are known.
    """

    def __init__(
        self,
        cdp: Cdp | None,
        look: Callable[[], SessionRecord | None],
        home: Path,
        clean: Callable[[Any], Any],
    ) -> None:
        self._cdp = cdp
        self._look = look
        self._home = home
        self._replays: dict[Path, Replay] = {}
        self._read: tuple[Any, Plan] = ((), Plan())
        self._routing = Routing(cdp, self._plan) if cdp else None
        self._recorder = Recorder(cdp, self._journal, clean) if cdp else None

    def need(self) -> None:
        """Refuse a session whose requests nobody here can hear of.

        Raises:
            Unsupported: There is no way to its browser.
        """
        if self._cdp is None:
            raise Unsupported(
                "The remote end gives no way to the browser's DevTools, by which this is done.",
                hint="Use a browser on this machine, or a Selenium Grid: its sessions have the capability se:cdp.",
            )

    def follow(self, record: SessionRecord, write: Callable[..., Any]) -> None:
        """Do what the record says; `write` changes it at once.

        Raises:
            RemoteFailure: The browser's DevTools do not answer. The session may live.
            InvalidArgument: An archive cannot be read any more.
        """
        if self._cdp is None or self._routing is None or self._recorder is None:
            return
        wanted = bool(record.routes or record.replays or record.har)
        if not (wanted or self._routing.active or self._recorder.active):
            return
        if wanted and record.routed_by != _ME:
            write(routed_by=_ME)
        plan = self._of(record)
        try:
            self._cdp.of(_extent(record))
            if record.har:
                self._recorder.begin()
            else:
                self._recorder.end()
            self._routing.keep(plan)
        except (SessionLost, OSError) as error:
            why = error.reason if isinstance(error, SessionLost) else error
            raise RemoteFailure(f"The browser's DevTools do not answer: {why}.", hint="Try again.") from error

    def drain(self) -> list[Json]:
        """Wait until what was recorded is in the journal, a few seconds at most; what is still under way."""
        if not (self._recorder and self._recorder.active):
            return []
        self._recorder.drain()
        return self._recorder.pending()

    def close(self) -> None:
        """Leave the browser as it would be without this process."""
        if self._cdp:
            self._cdp.close()

    def _mine(self) -> SessionRecord | None:
        """The record, while it is for this process to keep to it."""
        record = self._look()
        return record if record and record.routed_by == _ME else None

    def _plan(self) -> Plan | None:
        try:
            record = self._mine()
        except OrchestratorError:
            return self._read[1]  # the store is busy: what was read last holds
        return self._of(record) if record else None

    def _journal(self) -> Journal | None:
        try:
            record = self._mine()
        except OrchestratorError:
            return None
        return Journal.of(record, self._home) if record and record.har else None

    def _of(self, record: SessionRecord) -> Plan:
        said = record.routes, record.replays
        if self._read[0] != said:
            kept, paths = self._replays, [Path(one["path"]) for one in record.replays]
            self._replays = {path: kept.get(path) or Replay(path) for path in paths}
            plan = Plan(
                [Rule.model_validate(one) for one in record.routes],
                [*self._replays.values()],
                closed=any(one["notFound"] == "abort" for one in record.replays),
            )
            self._read = said, plan
        return self._read[1]


def _extent(record: SessionRecord) -> Extent:
    """A browser context is the session's alone, but that of a profile whose windows are of several sessions."""
    place, tabs = record.instance, frozenset(tab.handle for tab in record.tabs)
    if place is None:
        return Extent(tabs, whole=True)
    return Extent(tabs, context="" if place.profile and not place.isolated else place.context)
