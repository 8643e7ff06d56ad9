"""The tools that claim and release sessions."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.models.results import Outcome
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.sessions.rows import Claimed, Released
from orchestrator.settings import ToolSet

LONGEST_CLAIM = 86_400
"""Seconds."""


class ClaimSession(SessionTool):
    """Claim a session that others use, too: until it is released, only calls under the returned name may change it."""

    verb: ClassVar[str] = "claim_session"
    title: ClassVar[str] = "Claim a session"
    toolset: ClassVar[ToolSet] = "agents"
    result: ClassVar[type[Outcome]] = Claimed

    session_id: str
    ttl: int = Field(default=300, ge=1, le=LONGEST_CLAIM, description="Seconds since its last use.")
    wait: int | None = Field(default=None, ge=0, description="Milliseconds, if it is claimed.")

    async def run(self, backend: ToolBackend) -> Claimed:
        """Claim the session."""
        return await backend.claim_session(self.session_id, ttl=self.ttl, wait=self.wait)


class ReleaseSession(SessionTool):
    """Release a session that you claimed, by the claim's name."""

    verb: ClassVar[str] = "release_session"
    title: ClassVar[str] = "Release a session"
    toolset: ClassVar[ToolSet] = "agents"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Released

    session_id: str
    force: bool = Field(default=False, description="End another's claim on a session that you started.")

    async def run(self, backend: ToolBackend) -> Released:
        """Release the session."""
        return await backend.release_session(self.session_id, force=self.force)
