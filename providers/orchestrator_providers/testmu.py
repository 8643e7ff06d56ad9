"""TestMu AI, formerly LambdaTest: desktop browsers, browsers and apps on emulators, simulators and real devices.

Sources: https://www.testmuai.com/support/docs/testmu-selenium-advance-capabilities/ and
https://www.lambdatest.com/support/docs/desired-capabilities-in-appium/ (the block `lt:options`),
https://www.lambdatest.com/support/docs/api-doc/ (sessions), https://www.lambdatest.com/support/docs/application-setup-via-api/
(apps), https://www.lambdatest.com/support/docs/share-test-results/ (the dashboard).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from orchestrator.mark import Mark
from orchestrator.models import SessionRecord, SessionType
from orchestrator.provider import Start, StoredApp
from orchestrator.settings import Settings
from orchestrator_providers.app_storage import AppStorage, text
from orchestrator_providers.cloud import SHORT, Cloud
from orchestrator_providers.cloud_options import CloudOptions, TunnelOptions
from orchestrator_providers.tunnels import TestMuTunnel

_LONGEST_IDLE = 600
"""Seconds; the documentation that was at hand names a default of 120 and no maximum, and a heartbeat needs no more."""
_AUTOMATION = "https://api.lambdatest.com"


class TestMuOptions(TunnelOptions):
    """The options in `lt:options`."""

    variables: ClassVar[str] = "LT_USERNAME and LT_ACCESS_KEY"

    platform_name: str | None = Field(default=None, description="The desktop's system, such as Windows 11.")
    project: str | None = Field(default=None, description="What groups builds.")
    build: str | None = Field(default=None, description="What groups sessions; LT_BUILD_NAME.")
    build_tags: list[str] | None = Field(default=None, description="Tags of the build.")
    name: str | None = Field(default=None, description="The session's name there; its id here unless given.")
    tags: list[str] | None = Field(default=None, description="Tags of the session.")
    tunnel: bool | None = Field(default=None, description="Use a tunnel that runs already.")
    tunnel_name: str | None = Field(default=None, description="Which one, by its name.")
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
    geo_location: str | None = Field(default=None, description="The country that it seems to come from, such as DE.")
    location: dict[str, str] | None = Field(default=None, description="lat and long of the device.")
    language: str | None = Field(default=None, description="Such as de.")
    locale: str | None = Field(default=None, description="Such as DE.")
    region: Literal["EU", "US", "AP"] | None = Field(default=None, description="Where the device is.")
    private_cloud: bool | None = Field(default=None, description="Your organisation's own devices.")
    queue_timeout: int | None = Field(default=None, description="Seconds in the queue; 300 to 900.")
    appium_version: str | None = Field(default=None, description="The Appium that runs it.")
    is_real_mobile: bool | None = Field(default=None, description="A real device.")
    device_orientation: Literal["portrait", "landscape"] | None = Field(default=None, description="How it is held.")
    network_throttling: str | None = Field(default=None, description="A network by name, such as Regular 4G.")
    global_http_proxy: bool | None = Field(default=None, description="The proxy that was set up for you.")
    other_apps: list[str] | None = Field(default=None, description="Further apps (lt://…) to install.")


def _app(told: Mapping[str, Any]) -> StoredApp:
    found = str(told.get("app_url") or told["app_id"])
    return StoredApp(
        app=found if "://" in found else f"lt://{found}",
        name=text(told.get("name")),
        version=text(told.get("version")),
        id=found.removeprefix("lt://"),
        custom_id=text(told.get("custom_id")),
        uploaded_at=text(told.get("updated_at")),
    )


class TestMuProvider(Cloud):
    """TestMu's browsers, devices and apps."""

    name = "testmu"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = TestMuOptions
    title = "TestMu"
    block = "lt:options"
    users = ("LT_USERNAME", "TESTMU_USERNAME")
    keys = ("LT_ACCESS_KEY", "TESTMU_ACCESS_KEY")
    hubs = ("https://hub.lambdatest.com/wd/hub", "https://mobile-hub.lambdatest.com/wd/hub")
    idle = "idleTimeout"
    longest_idle = _LONGEST_IDLE
    build = "LT_BUILD_NAME"
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

    def hub(self, start: Start, options: CloudOptions) -> str:  # noqa: ARG002 - the platform says it
        """Devices have one of their own."""
        return self.hubs[start.request.type is not SessionType.BROWSER]

    def own(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """The standard's form of capabilities must be asked for; a device is named in the vendor's block."""
        found = {"w3c": True} | super().own(start, options)
        request = start.request
        if request.type is not SessionType.BROWSER:
            platform = "ios" if request.type is SessionType.IOS else "android"
            said = {"deviceName": request.device_name, "platformVersion": request.platform_version, "app": request.app}
            found = {"platformName": platform, **{name: value for name, value in said.items() if value}} | found
        return found

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - its id is enough
        """Its page has its id in it; that of a device is not documented."""
        is_browser = record.type is SessionType.BROWSER
        return f"https://automation.lambdatest.com/logs/?sessionID={record.remote_session_id}" if is_browser else None

    def mark(self, record: SessionRecord, mark: Mark, settings: Settings) -> None:
        """PATCH for desktop browsers, a script on devices, which take no reason."""
        if record.type is not SessionType.BROWSER:
            self.script(record, settings, f"lambda-status={mark.status}")
            return
        body = {"status_ind": mark.status, **({"reason": mark.reason} if mark.reason else {})}
        base = self.api_url(settings, _AUTOMATION)
        url = f"{base}/automation/api/v1/sessions/{record.remote_session_id}"
        self.api(settings).ask("PATCH", url, json_body=body, timeout=SHORT)
