"""Ends what is left of sessions that were lost: a browser without its driver, a profile without its browser."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread

from orchestrator import processes
from orchestrator.duties import NEVER, Duty, Usage
from orchestrator.models import ProcessInfo, SessionRecord, SessionState


class Tidying(Duty):
    """Ends it at once, whoever lost it; the session stays listed as lost until it is closed."""

    def left(self, usage: Usage, now: float) -> float:  # noqa: ARG002 - it is due at once, or never
        """Nothing, once it is lost and something of it is there."""
        lost = usage.record.state is SessionState.LOST
        return 0 if lost and any(map(_is_there, usage.record.processes)) else NEVER

    async def do(self, record: SessionRecord) -> None:
        """End its processes, with their folders."""
        await anyio.to_thread.run_sync(processes.end, record.processes)


def _is_there(process: ProcessInfo) -> bool:
    return processes.alive(process) or (process.folder is not None and Path(process.folder).exists())
