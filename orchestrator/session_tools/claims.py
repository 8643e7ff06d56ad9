"""The tools for sessions that several agents use: claim, release, fork."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.models.results import Outcome
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.sessions.rows import Claimed, Released, SessionRow
from orchestrator.settings import ToolSet

LONGEST_CLAIM = 86_400
"""Seconds."""


class ClaimSession(SessionTool):
    """Claim a session that others use, too: until it is released, only calls under the returned name may change it."""

    verb: ClassVar[str] = "claim_session"
    title: ClassVar[str] = "Claim a session"
    toolset: ClassVar[ToolSet] = "agents"
    result: ClassVar[type[Outcome]] = Claimed
    used_sessions: ClassVar[tuple[str, ...]] = ("session_id",)

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
    used_sessions: ClassVar[tuple[str, ...]] = ("session_id",)

    session_id: str
    force: bool = Field(default=False, description="End another's claim on a session that you started.")

    async def run(self, backend: ToolBackend) -> Released:
        """Release the session."""
        return await backend.release_session(self.session_id, force=self.force)


class ForkSession(SessionTool):
    """Start a browser session like an open one: same URL, cookies and storage, which are its own from then on.

    What was typed into forms, and what scripts hold, is not copied.
    """

    verb: ClassVar[str] = "fork_session"
    title: ClassVar[str] = "Fork a session"
    toolset: ClassVar[ToolSet] = "agents"
    open_world: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = SessionRow
    described: ClassVar[tuple[str, ...]] = ("sessionId", "state", "url")
    used_sessions: ClassVar[tuple[str, ...]] = ("session_id",)

    session_id: str
    as_: str | None = Field(default=None, alias="as", description="The new one's name.")

    async def run(self, backend: ToolBackend) -> SessionRow:
        """Fork the session."""
        return await backend.fork_session(self.session_id, as_=self.as_)
