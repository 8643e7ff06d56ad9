"""Counts of the sessions that an orchestrator started or attached, by kind."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.models.session import SessionType


@dataclass
class StartCounts:
    """Numbers of sessions that were started or attached, ended ones included.

    Attributes:
        apps: Sessions on devices.
        named: Sessions whose name the caller chose.
    """

    apps: int = 0
    named: int = 0

    def add(self, session_type: SessionType, session_id: str | None) -> None:
        """Count a session; `session_id` is the one that was asked for."""
        self.apps += session_type is not SessionType.BROWSER
        self.named += session_id is not None
