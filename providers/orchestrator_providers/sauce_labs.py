"""Sauce Labs: desktop browsers on virtual machines, browsers and apps on emulators, simulators and real devices.

Sources: https://docs.saucelabs.com/dev/test-configuration-options/ (the block `sauce:options`),
https://docs.saucelabs.com/basics/data-center-endpoints/ (regions), https://docs.saucelabs.com/dev/api/jobs/ and
https://docs.saucelabs.com/dev/api/storage/ (REST), https://docs.saucelabs.com/basics/test-config-annotation/test-annotation/
(the scripts `sauce:job-result` and `sauce:context`, which real devices understand, too).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args
from urllib.parse import quote

from pydantic import Field

from orchestrator.mark import Mark
from orchestrator.models import SessionRecord, SessionType
from orchestrator.provider import Start, StoredApp
from orchestrator.settings import Settings
from orchestrator_providers.app_storage import AppStorage, moment, text
from orchestrator_providers.cloud import SHORT, Cloud
from orchestrator_providers.cloud_options import CloudOptions, TunnelOptions
from orchestrator_providers.tunnels import SauceConnect

Region = Literal["us-west-1", "us-east-4", "eu-central-1", "asia-south-2"]
_REGIONS: tuple[str, ...] = get_args(Region)
_HUB = "https://ondemand.{region}.saucelabs.com/wd/hub"
_IN_HUB = re.compile(r"https://ondemand\.([a-z0-9-]+)\.saucelabs\.com/")
_DEVICES_IDLE = 90
"""Seconds: `idleTimeout` is of desktops alone; for devices no maximum was found, and a heartbeat needs no more."""
_DRIVER = "The version of that driver."
_REAL = "Real devices: "


class SauceLabsOptions(TunnelOptions):
    """The options in `sauce:options`, the data center, and the operating system of a desktop browser."""

    standard: ClassVar[tuple[str, ...]] = ("accept_insecure_certs", "platform_name")
    ours: ClassVar[tuple[str, ...]] = ("region",)
    variables: ClassVar[str] = "SAUCE_USERNAME and SAUCE_ACCESS_KEY"

    region: Region | None = Field(default=None, description="The data center; SAUCE_REGION, else us-west-1.")
    platform_name: str | None = Field(default=None, description="The desktop's system, such as Windows 11 or macOS 14.")
    name: str | None = Field(default=None, description="The session's name there; its id here unless given.")
    build: str | None = Field(default=None, description="What groups sessions; SAUCE_BUILD_NAME.")
    tags: list[str] | None = Field(default=None, description="Tags to find it by.")
    custom_data: dict[str, Any] | None = Field(
        default=None, alias="custom-data", description="Any data to keep with it."
    )
    public: Literal["public", "public restricted", "share", "team", "private"] | None = Field(
        default=None, description="Who may see it."
    )
    tunnel_name: str | None = Field(default=None, description="A Sauce Connect that runs already.")
    tunnel_owner: str | None = Field(default=None, description="Whose tunnel it is, if not yours.")
    record_video: bool | None = Field(default=None, description="Record a video.")
    video_upload_on_pass: bool | None = Field(default=None, description="false: keep no video of what passed.")
    record_screenshots: bool | None = Field(default=None, description="A screenshot for every command.")
    capture_html: bool | None = Field(default=None, description="The page's source for every command.")
    record_logs: bool | None = Field(default=None, description="Keep the log of commands.")
    max_duration: int | None = Field(default=None, description="Seconds after which the session ends; at most 10800.")
    command_timeout: int | None = Field(default=None, description="Seconds for a command; at most 600.")
    priority: int | None = Field(default=None, description="Lower ones start first.")
    time_zone: str | None = Field(default=None, description="Such as Los_Angeles.")
    prerun: dict[str, Any] | None = Field(default=None, description="A program to run on the machine first.")
    screen_resolution: str | None = Field(default=None, description="Such as 1920x1080.")
    selenium_version: str | None = Field(default=None, description="The Selenium that runs it.")
    chromedriver_version: str | None = Field(default=None, description=_DRIVER)
    edgedriver_version: str | None = Field(default=None, description=_DRIVER)
    geckodriver_version: str | None = Field(default=None, description=_DRIVER)
    iedriver_version: str | None = Field(default=None, description=_DRIVER)
    avoid_proxy: bool | None = Field(default=None, description="Let the browser reach servers directly.")
    extended_debugging: bool | None = Field(default=None, description="Keep network traffic and console.")
    capture_performance: bool | None = Field(default=None, description="Measure performance; with extendedDebugging.")
    appium_version: str | None = Field(default=None, description="The Appium that runs it.")
    device_orientation: Literal["portrait", "landscape"] | None = Field(default=None, description="How it is held.")
    custom_log_files: list[str] | None = Field(default=None, description="Logs of the app to keep.")
    android_gpu_mode: Literal["software", "hardware"] | None = Field(
        default=None, alias="android.gpu.mode", description="How an emulator draws."
    )
    disable_immersive_mode_pop_up: bool | None = Field(default=None, description="Emulators: no hint at full screen.")
    setup_device_lock: bool | None = Field(default=None, description=f"{_REAL}give it a passcode.")
    tablet_only: bool | None = Field(default=None, description=f"{_REAL}tablets alone.")
    phone_only: bool | None = Field(default=None, description=f"{_REAL}phones alone.")
    private_devices_only: bool | None = Field(default=None, description=f"{_REAL}your own alone.")
    public_devices_only: bool | None = Field(default=None, description=f"{_REAL}public ones alone.")
    carrier_connectivity_only: bool | None = Field(default=None, description=f"{_REAL}those in a carrier's network.")
    cache_id: str | None = Field(default=None, description=f"{_REAL}keep the device for the next session of this name.")
    resigning_enabled: bool | None = Field(default=None, description=f"{_REAL}sign or instrument the app anew.")
    sauce_labs_image_injection_enabled: bool | None = Field(
        default=None, description=f"{_REAL}let the camera see given pictures."
    )
    sauce_labs_bypass_screenshot_restriction: bool | None = Field(
        default=None, description=f"{_REAL}screenshots of protected screens."
    )
    allow_touch_id_enroll: bool | None = Field(default=None, description=f"{_REAL}let fingerprints be simulated.")
    audio_capture: bool | None = Field(default=None, description=f"{_REAL}record sound.")
    network_capture: bool | None = Field(default=None, description=f"{_REAL}keep network traffic.")
    record_device_vitals: bool | None = Field(default=None, description="Measure what the app takes of the device.")
    group_folder_redirect_enabled: bool | None = Field(default=None, description=f"{_REAL}the app's own folder on iOS.")
    enable_animations: bool | None = Field(default=None, description=f"{_REAL}animations on Android.")
    system_alerts_delay_enabled: bool | None = Field(default=None, description=f"{_REAL}the system's alerts later.")
    session_creation_timeout: int | None = Field(default=None, description=f"{_REAL}ms until one is found.")
    session_creation_retry: int | None = Field(default=None, description=f"{_REAL}how often one is looked for.")


def _app(told: Mapping[str, Any]) -> StoredApp:
    about = told.get("metadata") or {}
    return StoredApp(
        app=f"storage:filename={told['name']}",
        name=text(told.get("name")),
        version=text(about.get("short_version") or about.get("version")),
        id=text(told.get("id")),
        uploaded_at=moment(told.get("upload_timestamp")),
    )


class SauceLabsProvider(Cloud):
    """Sauce Labs' browsers, devices and apps."""

    name = "sauce_labs"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = SauceLabsOptions
    title = "Sauce Labs"
    block = "sauce:options"
    users = ("SAUCE_USERNAME",)
    keys = ("SAUCE_ACCESS_KEY",)
    hubs = tuple(_HUB.format(region=region) for region in _REGIONS)
    idle = "idleTimeout"
    longest_idle = 1000
    build = "SAUCE_BUILD_NAME"
    tunnel = SauceConnect()
    storage = AppStorage(
        title="Sauce Labs",
        base="",
        upload_path="/v1/storage/upload",
        file_field="payload",
        list_paths=("/v1/storage/files?per_page={limit}",),
        read=_app,
        uploaded="item",
        listed="items",
        name_field="name",
    )

    def hub(self, start: Start, options: CloudOptions) -> str:  # noqa: ARG002 - the region says it
        """That of the region."""
        given = options.region if isinstance(options, SauceLabsOptions) else None
        return _HUB.format(region=given or _default_region())

    def longest(self, start: Start) -> float:
        """Devices wait no longer than that."""
        return super().longest(start) if start.request.type is SessionType.BROWSER else _DEVICES_IDLE

    def own(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """Devices have Appium's own option for it."""
        found = super().own(start, options)
        if start.request.type is not SessionType.BROWSER:
            del found[self.idle]
        return found

    def region(self, url: str) -> str:
        """The region in a hub's address; the default one for a hub that is not the vendor's."""
        found = _IN_HUB.match(url)
        return found[1] if found else _default_region()

    def storage_url(self, settings: Settings) -> str:
        """That of the default region."""
        return self.api_url(settings, _api(_default_region()))

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - its id is enough
        """Its page has its id in it."""
        return f"https://app.{self.region(record.remote_url)}.saucelabs.com/tests/{record.remote_session_id}"

    def mark(self, record: SessionRecord, mark: Mark, settings: Settings) -> None:
        """PUT for browsers; a script on devices, for real ones have no such request."""
        if record.type is not SessionType.BROWSER:
            if mark.reason:
                self.script(record, settings, f"sauce:context={mark.reason}")
            self.script(record, settings, f"sauce:job-result={mark.status}")
            return
        body: dict[str, Any] = {"passed": mark.status == "passed"}
        if mark.reason:
            body["custom-data"] = {"reason": mark.reason}
        base = self.api_url(settings, _api(self.region(record.remote_url)))
        user = quote(self.account(settings)[0], safe="")
        url = f"{base}/rest/v1/{user}/jobs/{record.remote_session_id}"
        self.api(settings).ask("PUT", url, json_body=body, timeout=SHORT)


def _default_region() -> str:
    """As the vendor's own tools take it: `us-west` means `us-west-1`."""
    given = os.environ.get("SAUCE_REGION", "")
    return next((region for region in _REGIONS if given and region.startswith(given)), _REGIONS[0])


def _api(region: str) -> str:
    return f"https://api.{region}.saucelabs.com"
