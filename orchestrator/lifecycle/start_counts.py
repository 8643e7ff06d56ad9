"""Counts of the sessions that an orchestrator started or attached, by kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.models.session import Caller, SessionType

_MOST = 1_000


@dataclass
class StartCounts:
    """Numbers of sessions that were started or attached, ended ones included.

    Attributes:
        app_callers: Keys of the callers that have started a session on a device; the last thousand.
        named: Sessions whose name the caller chose.
    """

    app_callers: dict[str, None] = field(default_factory=dict)
    named: int = 0

    def add(self, caller: Caller, session_type: SessionType, session_id: str | None) -> None:
        """Count a session; `session_id` is the one that was asked for."""
        if session_type is not SessionType.BROWSER:
            self.app_callers[caller.key] = None
            if len(self.app_callers) > _MOST:
                del self.app_callers[next(iter(self.app_callers))]
        self.named += session_id is not None
