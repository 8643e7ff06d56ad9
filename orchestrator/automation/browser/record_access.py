"""Protocol by which automation reads and changes a session's record during a call."""

from __future__ import annotations

from threading import Condition
from typing import Any, Protocol

from orchestrator.models.session import SessionRecord
from orchestrator.system.deadline import Deadline

_CHECK_EVERY = 0.25
"""Seconds between two checks whether a call that waits has to stop."""


class RecordAccess(Protocol):
    """Access to the record of the session whose turn it is."""

    record: SessionRecord

    def check(self) -> None:
        """Raise if the caller is gone or the session was closed or lost."""
        ...

    def check_place(self) -> None:
        """Raise if another process may drive the session now."""
        ...

    def change(self, **fields: Any) -> None:
        """Change the record when the turn ends."""
        ...

    def write(self, **fields: Any) -> SessionRecord:
        """Change the record now."""
        ...


def wait_for_change(turn: RecordAccess, changed: Condition, deadline: Deadline) -> None:
    """Wait until a condition that is held is notified, the time is up, or it is time to check again.

    Raises:
        OrchestratorError: This call has to stop.
    """
    turn.check()
    changed.wait(min(_CHECK_EVERY, deadline.seconds_left))
