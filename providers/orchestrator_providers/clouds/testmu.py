"""TestMu AI, formerly LambdaTest: desktop browsers; virtual and real devices.

Sources: https://www.testmuai.com/support/docs/testmu-selenium-advance-capabilities/ and
https://www.lambdatest.com/support/docs/desired-capabilities-in-appium/ (the block `lt:options`),
https://www.lambdatest.com/support/docs/api-doc/ (sessions), https://www.lambdatest.com/support/docs/application-setup-via-api/
(apps), https://www.lambdatest.com/support/docs/share-test-results/ (the dashboard).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.models.test_status import TestStatus
from orchestrator.provider import Start, StoredApp
from orchestrator.settings import Settings
from orchestrator_providers.clouds.app_storage import AppStorage, text
from orchestrator_providers.clouds.base import STATUS_TIMEOUT, CloudProvider
from orchestrator_providers.clouds.options import CloudOptions, TunnelOptions
from orchestrator_providers.clouds.tunnels import TestMuTunnel

_LONGEST_IDLE = 600
"""Seconds; the documentation has a default of 120 and no maximum, and a heartbeat needs no more."""
_AUTOMATION = "https://api.lambdatest.com"


class TestMuOptions(TunnelOptions):
    """The options in `lt:options`."""

    variables: ClassVar[str] = "LT_USERNAME and LT_ACCESS_KEY"

    platform_name: str | None = Field(default=None, description="The desktop's system, such as Windows 11.")
    project: str | None = Field(default=None, description="The project that the build belongs to.")
    build: str | None = Field(default=None, description="The build that the session belongs to; LT_BUILD_NAME.")
    build_tags: list[str] | None = Field(default=None, description="Tags of the build.")
    name: str | None = Field(default=None, description="The session's name there; its id here unless given.")
    tags: list[str] | None = Field(default=None, description="Tags of the session.")
    tunnel: bool | None = Field(default=None, description="Use a tunnel that runs already.")
    tunnel_name: str | None = Field(default=None, description="The tunnel's name.")
    video: bool | None = Field(default=None, description="Record a video.")
    visual: bool | None = Field(default=None, description="A screenshot for every command.")
    network: bool | None = Field(default=None, description="Keep the network traffic.")
    network_mask: bool | None = Field(default=None, alias="network.mask", description="Mask the traffic that is kept.")
    console: bool | Literal["warn", "error", "info", "true", "false"] | None = Field(
        default=None, description="Keep the page's console, from this level on."
    )
    verbose_web_driver_logging: bool | None = Field(default=None, description="Keep Selenium's log in detail.")
    devicelog: bool | None = Field(default=None, description="Keep the device's log.")
    resolution: str | None = Field(default=None, description="The screen's, such as 1920x1080.")
    selenium_version: str | None = Field(
        default=None, alias="selenium_version", description="The Selenium that runs it."
    )
    driver_version: str | None = Field(default=None, alias="driver_version", description="The version of the driver.")
    se_cdp: bool | None = Field(default=None, description="Switch the Chrome DevTools Protocol on.")
    smart_ui_project: str | None = Field(default=None, alias="smartUI.project", description="The project of SmartUI.")
    timezone: str | None = Field(default=None, description="Such as UTC+02:00.")
    geo_location: str | None = Field(default=None, description="The country that it appears to be in, such as DE.")
    location: dict[str, str] | None = Field(default=None, description="lat and long of the device.")
    language: str | None = Field(default=None, description="Such as de.")
    locale: str | None = Field(default=None, description="Such as DE.")
    region: Literal["EU", "US", "AP"] | None = Field(default=None, description="The region of the device.")
    private_cloud: bool | None = Field(default=None, description="Your organisation's own devices.")
    queue_timeout: int | None = Field(default=None, description="Seconds in the queue; 300 to 900.")
    appium_version: str | None = Field(default=None, description="The Appium that runs it.")
    is_real_mobile: bool | None = Field(default=None, description="A real device.")
    device_orientation: Literal["portrait", "landscape"] | None = Field(
        default=None, description="The device's orientation."
    )
    network_throttling: str | None = Field(default=None, description="A network by name, such as Regular 4G.")
    global_http_proxy: bool | None = Field(default=None, description="The proxy of your account.")
    other_apps: list[str] | None = Field(default=None, description="Further apps (lt://…) to install.")


def _app(answer: Mapping[str, Any]) -> StoredApp:
    app = str(answer.get("app_url") or answer["app_id"])
    return StoredApp(
        app=app if "://" in app else f"lt://{app}",
        name=text(answer.get("name")),
        version=text(answer.get("version")),
        id=app.removeprefix("lt://"),
        custom_id=text(answer.get("custom_id")),
        uploaded_at=text(answer.get("updated_at")),
    )


class TestMuProvider(CloudProvider):
    """TestMu's browsers, devices and apps."""

    name = "testmu"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = TestMuOptions
    title = "TestMu"
    block = "lt:options"
    users = ("LT_USERNAME", "TESTMU_USERNAME")
    keys = ("LT_ACCESS_KEY", "TESTMU_ACCESS_KEY")
    hubs = ("https://hub.lambdatest.com/wd/hub", "https://mobile-hub.lambdatest.com/wd/hub")
    idle_option = "idleTimeout"
    longest_idle = _LONGEST_IDLE
    build_variable = "LT_BUILD_NAME"
    tunnel = TestMuTunnel()
    storage = AppStorage(
        title="TestMu",
        base="https://manual-api.lambdatest.com",
        upload_path="/app/upload/realDevice",
        file_field="appFile",
        list_paths=("/app/data?type=android&level=user", "/app/data?type=ios&level=user"),
        read=_app,
        listed="data",
        id_field="custom_id",
        name_field="name",
    )

    def hub(self, start: Start, options: CloudOptions) -> str:  # noqa: ARG002 - the platform decides
        """Return the hub; devices have one of their own."""
        return self.hubs[start.request.type is not SessionType.BROWSER]

    def vendor_options(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """Return the vendor's options: the switch for W3C capabilities, and the device."""
        own = {"w3c": True} | super().vendor_options(start, options)
        request = start.request
        if request.type is not SessionType.BROWSER:
            platform = "ios" if request.type is SessionType.IOS else "android"
            given = {"deviceName": request.device_name, "platformVersion": request.platform_version, "app": request.app}
            own = {"platformName": platform, **{name: value for name, value in given.items() if value}} | own
        return own

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - its id is enough
        """Return the session's page, whose URL has the session's id; None for devices, where it is not documented."""
        is_browser = record.type is SessionType.BROWSER
        return f"https://automation.lambdatest.com/logs/?sessionID={record.remote_session_id}" if is_browser else None

    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:
        """Send PATCH for desktop browsers, and a script for devices, which take no reason."""
        if record.type is not SessionType.BROWSER:
            self.script(record, settings, f"lambda-status={mark.status}")
            return
        body = {"status_ind": mark.status, **({"reason": mark.reason} if mark.reason else {})}
        base = self.api_url(settings, _AUTOMATION)
        url = f"{base}/automation/api/v1/sessions/{record.remote_session_id}"
        self.api(settings).request("PATCH", url, json_body=body, timeout=STATUS_TIMEOUT)
