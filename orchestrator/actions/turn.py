"""What actions need of the lane that their session is in."""

from __future__ import annotations

from typing import Any, Protocol

from orchestrator.models import SessionRecord


class Turn(Protocol):
    """The lane's side of a call: whose turn it is, and whether it still is."""

    record: SessionRecord

    def check(self) -> None:
        """Raise when the caller is gone or the session was closed or lost."""
        ...

    def change(self, **fields: Any) -> None:
        """Change the record when the turn ends."""
        ...

    def write(self, **fields: Any) -> SessionRecord:
        """Change the record now."""
        ...
