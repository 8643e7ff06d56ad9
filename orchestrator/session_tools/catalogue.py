"""Catalogue of the tools for sessions, in the order in which they are listed."""

from __future__ import annotations

from orchestrator.session_tools.base import SessionTool
from orchestrator.session_tools.claims import ClaimSession, ForkSession, ReleaseSession
from orchestrator.session_tools.describing import DescribeActions
from orchestrator.session_tools.devices import ListApps, ListDevices, UploadApp
from orchestrator.session_tools.sequences import CompareTool, ParallelTool, SequenceTool
from orchestrator.session_tools.sessions import (
    AttachSession,
    CloseAllSessions,
    CloseSession,
    CloseSessions,
    ListSessions,
    SetCurrentSession,
    StartAppSession,
    StartBrowser,
    StartSession,
)

SESSION_TOOLS: tuple[type[SessionTool], ...] = (
    StartBrowser,
    StartAppSession,
    StartSession,
    AttachSession,
    ListSessions,
    ListDevices,
    UploadApp,
    ListApps,
    SetCurrentSession,
    CloseSession,
    CloseSessions,
    CloseAllSessions,
    ClaimSession,
    ReleaseSession,
    ForkSession,
    SequenceTool,
    ParallelTool,
    CompareTool,
    DescribeActions,
)
"""All tools for sessions in their listed order; the actions follow them."""
