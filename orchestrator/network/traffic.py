"""What one session's requests go through, in one process: a cache of what its record says."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.errors import OrchestratorError, RemoteFailure, SessionLost, Unsupported
from orchestrator.models import SessionRecord
from orchestrator.network.routing import Routing
from orchestrator.network.rules import Rule
from orchestrator.webdriver.cdp import Cdp

_ME = secrets.token_hex(8)
"""This process, among those that drive a session: the one that drove it last keeps its rules."""


class Traffic:
    """The rules of a session, kept by this process from the moment in which it drives the session.

    Args:
        cdp: The session's targets; None where its remote end gives no way to the browser.
        look: Reads its record as it is now, in any thread; None when it is closed.
    """

    def __init__(self, cdp: Cdp | None, look: Callable[[], SessionRecord | None]) -> None:
        self._cdp = cdp
        self._look = look
        self._routing = Routing(cdp, self._rules) if cdp else None
        self._read: tuple[Sequence[Any], Sequence[Rule]] = ((), ())

    def need(self) -> None:
        """Refuse a session whose requests cannot be held.

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
        """
        if self._cdp is None or self._routing is None or not (record.routes or self._routing.active):
            return
        if record.routes and record.routed_by != _ME:
            write(routed_by=_ME)
        try:
            self._cdp.of([tab.handle for tab in record.tabs], alone=True)
            self._routing.keep(self._parsed(record))
        except (SessionLost, OSError) as error:
            why = error.reason if isinstance(error, SessionLost) else error
            raise RemoteFailure(f"The browser's DevTools do not answer: {why}.", hint="Try again.") from error

    def close(self) -> None:
        """Leave the browser as it would be without this process."""
        if self._cdp:
            self._cdp.close()

    def _rules(self) -> Sequence[Rule] | None:
        try:
            record = self._look()
        except OrchestratorError:
            return self._read[1]  # the store is busy: what was read last holds
        return self._parsed(record) if record and record.routed_by == _ME else None

    def _parsed(self, record: SessionRecord) -> Sequence[Rule]:
        if self._read[0] != record.routes:
            self._read = record.routes, [Rule.model_validate(one) for one in record.routes]
        return self._read[1]
