"""The tools for what sessions of apps need before they start: devices, and apps in the storages of clouds."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.actions.results import Outcome
from orchestrator.api import Orchestrator
from orchestrator.app_storage import AppList, UploadedApp
from orchestrator.devices import DeviceList
from orchestrator.mcp_server.session_tool import SessionTool
from orchestrator.settings import ToolSet


class ListDevices(SessionTool):
    """List the phones, simulators and emulators that a start could use, and which are taken."""

    verb: ClassVar[str] = "list_devices"
    title: ClassVar[str] = "List devices"
    toolset: ClassVar[ToolSet] = "mobile"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = DeviceList

    async def run(self, orchestrator: Orchestrator) -> DeviceList:
        """Ask the tools of this machine and the Appium server."""
        return await orchestrator.list_devices()


class UploadApp(SessionTool):
    """Upload an app to a cloud, for app of start_session."""

    verb: ClassVar[str] = "upload_app"
    title: ClassVar[str] = "Upload an app"
    toolset: ClassVar[ToolSet] = "mobile"
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = UploadedApp

    provider: str
    path: str
    custom_id: str | None = None

    async def run(self, orchestrator: Orchestrator) -> UploadedApp:
        """Send it."""
        return await orchestrator.upload_app(self.provider, self.path, custom_id=self.custom_id)


class ListApps(SessionTool):
    """List the apps that were uploaded to a cloud."""

    verb: ClassVar[str] = "list_apps"
    title: ClassVar[str] = "List apps"
    toolset: ClassVar[ToolSet] = "mobile"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    outside: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = AppList

    provider: str
    limit: int = Field(default=20, ge=1)

    async def run(self, orchestrator: Orchestrator) -> AppList:
        """Ask the cloud."""
        return await orchestrator.list_apps(self.provider, limit=self.limit)
