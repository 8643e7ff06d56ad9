"""What a server does for its sessions without being asked, each kind as one duty; `upkeep` knows when it is time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from orchestrator.models import SessionRecord

NEVER = math.inf


@dataclass(frozen=True)
class Usage:
    """A session as it is now: whether a call runs or waits on it, and whether it is the caller's own."""

    record: SessionRecord
    in_use: bool
    ours: bool


class Duty(ABC):
    """Something that is due for a session at a time that its record tells."""

    @abstractmethod
    def left(self, usage: Usage, now: float) -> float:
        """Seconds until it is due; NEVER when there is no need as things are now."""

    @abstractmethod
    async def do(self, record: SessionRecord) -> None:
        """Do it. Things may have changed since it was looked at: whoever ends something asks again.

        Raises:
            OrchestratorError: It did not work; it is tried again while it is due.
        """
