"""The tools that list devices, and list and upload apps for device clouds."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.lifecycle.app_uploads import AppList, UploadedApp
from orchestrator.lifecycle.device_list import DeviceList
from orchestrator.models.paths import ReadPath
from orchestrator.models.requests import AppPlatform
from orchestrator.models.results import Outcome
from orchestrator.session_tools.backend import ToolBackend
from orchestrator.session_tools.base import SessionTool
from orchestrator.settings import ToolSet


class ListDevices(SessionTool):
    """List the phones, simulators and emulators that a start could use, and which are taken."""

    verb: ClassVar[str] = "list_devices"
    title: ClassVar[str] = "List devices"
    toolset: ClassVar[ToolSet] = "mobile"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = DeviceList

    platform: AppPlatform | None = Field(default=None, description="Only ios or android.")

    async def run(self, backend: ToolBackend) -> DeviceList:
        """Ask the device tools of this machine and the Appium server."""
        return await backend.list_devices(self.platform)


class UploadApp(SessionTool):
    """Upload an app to a cloud, for app of start_session."""

    verb: ClassVar[str] = "upload_app"
    title: ClassVar[str] = "Upload an app"
    toolset: ClassVar[ToolSet] = "mobile"
    open_world: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = UploadedApp

    provider: str
    path: ReadPath
    custom_id: str | None = None

    async def run(self, backend: ToolBackend) -> UploadedApp:
        """Send the file to the cloud."""
        return await backend.upload_app(self.provider, self.path, custom_id=self.custom_id)


class ListApps(SessionTool):
    """List the apps that were uploaded to a cloud."""

    verb: ClassVar[str] = "list_apps"
    title: ClassVar[str] = "List apps"
    toolset: ClassVar[ToolSet] = "mobile"
    reads: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True
    open_world: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = AppList

    provider: str
    limit: int = Field(default=20, ge=1)

    async def run(self, backend: ToolBackend) -> AppList:
        """Ask the cloud."""
        return await backend.list_apps(self.provider, limit=self.limit)
