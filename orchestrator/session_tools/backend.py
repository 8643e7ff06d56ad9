"""The protocol of what the tools for sessions call: the façade, as those below it see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from orchestrator.execution.compare import CompareSessions, Comparison
from orchestrator.execution.parallel import ExecuteParallel, ParallelResult
from orchestrator.execution.sequence import ExecuteSequence, SequenceResult
from orchestrator.lifecycle.app_uploads import AppList, UploadedApp
from orchestrator.lifecycle.device_list import DeviceList
from orchestrator.models.requests import AttachRequest, StartRequest
from orchestrator.models.test_status import Status
from orchestrator.session_tools.descriptions import ActionDescriptions
from orchestrator.sessions.rows import Claimed, CloseResult, CurrentSession, Released, SessionList, SessionRow
from orchestrator.settings import Settings


class ToolBackend(Protocol):
    """The methods of an orchestrator that the tools for sessions call, on behalf of their caller."""

    settings: Settings

    async def start(self, request: StartRequest, *, wait: bool = True, claim: bool = False) -> SessionRow:
        """Start a session."""

    async def attach(self, request: AttachRequest) -> SessionRow:
        """Attach to a session that was started elsewhere."""

    async def list_sessions(self, prefix: str | None = None) -> SessionList:
        """List the open sessions."""

    async def set_current_session(self, session_id: str) -> CurrentSession:
        """Set the caller's current session."""

    async def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> CloseResult:
        """End a session, or leave it alive at its remote end."""

    async def close_sessions(
        self,
        *,
        prefix: str | None = None,
        idle_ms: int | None = None,
        all: bool | None = None,  # noqa: A002 — the wire's word
        detach: bool = False,
    ) -> CloseResult:
        """End the sessions that meet all given conditions."""

    async def close_all_sessions(self, *, detach: bool = False) -> CloseResult:
        """End every session that the caller owns."""

    async def claim_session(self, session_id: str, *, ttl: int = 300, wait: int | None = None) -> Claimed:
        """Claim a session for a while."""

    async def release_session(self, session_id: str, *, force: bool = False) -> Released:
        """End a claim."""

    async def fork_session(self, session_id: str, *, as_: str | None = None) -> SessionRow:
        """Start a session like an open one."""

    async def list_devices(self, platform: str | None = None) -> DeviceList:
        """List the devices, simulators and emulators for a start."""

    async def upload_app(self, provider: str, path: str, *, custom_id: str | None = None) -> UploadedApp:
        """Upload an app to a cloud's storage."""

    async def list_apps(self, provider: str, *, limit: int = 20) -> AppList:
        """List the newest apps in a cloud's storage."""

    async def describe_actions(self, names: Sequence[str] = (), query: str | None = None) -> ActionDescriptions:
        """Describe tools and actions."""

    async def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in order."""

    async def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence per session, side by side."""

    async def compare(self, asked: CompareSessions) -> Comparison:
        """Compare what sessions show."""
