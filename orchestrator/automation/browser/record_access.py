"""Protocol by which automation reads and changes a session's record during a call."""

from __future__ import annotations

from typing import Any, Protocol

from orchestrator.models.session import SessionRecord


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
