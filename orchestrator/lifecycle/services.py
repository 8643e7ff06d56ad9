"""The services that starting, attaching, closing and maintaining sessions share."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.execution.runner import Runner
from orchestrator.sessions.connector import Connector
from orchestrator.sessions.lanes import Lanes
from orchestrator.sessions.providers import Providers
from orchestrator.sessions.registry import SessionRegistry
from orchestrator.settings import Settings
from orchestrator.system.file_access import FileAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services of an open orchestrator."""

    registry: SessionRegistry
    lanes: Lanes
    runner: Runner
    connector: Connector
    providers: Providers
    settings: Settings
    files: FileAccess
