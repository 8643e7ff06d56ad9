"""Sauce Labs: desktop browsers; browsers and apps on virtual and real devices.

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

from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.models.test_status import TestStatus
from orchestrator.provider import Start, StoredApp
from orchestrator.settings import Settings
from orchestrator_providers.clouds.app_storage import AppStorage, moment, text
from orchestrator_providers.clouds.base import STATUS_TIMEOUT, CloudProvider
from orchestrator_providers.clouds.options import CloudOptions, TunnelOptions
from orchestrator_providers.clouds.tunnels import SauceConnect

Region = Literal["us-west-1", "us-east-4", "eu-central-1", "asia-south-2"]
_REGIONS: tuple[str, ...] = get_args(Region)
_HUB = "https://ondemand.{region}.saucelabs.com/wd/hub"
_IN_HUB = re.compile(r"https://ondemand\.([a-z0-9-]+)\.saucelabs\.com/")
_DEVICES_IDLE = 90
"""Seconds: `idleTimeout` is for desktops alone; no maximum for devices is documented, and a heartbeat needs no more."""
_DRIVER = "The version of that driver."
_REAL = "Real devices: "


class SauceLabsOptions(TunnelOptions):
    """The options in `sauce:options`, the data center, and the operating system of a desktop browser."""

    standard: ClassVar[tuple[str, ...]] = ("accept_insecure_certs", "platform_name")
    unsent_options: ClassVar[tuple[str, ...]] = ("region",)
    variables: ClassVar[str] = "SAUCE_USERNAME and SAUCE_ACCESS_KEY"

    region: Region | None = Field(default=None, description="The data center; SAUCE_REGION, else us-west-1.")
    platform_name: str | None = Field(default=None, description="The desktop's system, such as Windows 11 or macOS 14.")
    name: str | None = Field(default=None, description="The session's name there; its id here unless given.")
    build: str | None = Field(default=None, description="The build that the session belongs to; SAUCE_BUILD_NAME.")
    tags: list[str] | None = Field(default=None, description="Tags to find it by.")
    custom_data: dict[str, Any] | None = Field(
        default=None, alias="custom-data", description="Any data to keep with it."
    )
    public: Literal["public", "public restricted", "share", "team", "private"] | None = Field(
        default=None, description="Visibility of the session."
    )
    tunnel_name: str | None = Field(default=None, description="A Sauce Connect that runs already.")
    tunnel_owner: str | None = Field(default=None, description="The tunnel's owner, if not you.")
    record_video: bool | None = Field(default=None, description="Record a video.")
    video_upload_on_pass: bool | None = Field(default=None, description="false: keep no video of passed sessions.")
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
    device_orientation: Literal["portrait", "landscape"] | None = Field(
        default=None, description="The device's orientation."
    )
    custom_log_files: list[str] | None = Field(default=None, description="Logs of the app to keep.")
    android_gpu_mode: Literal["software", "hardware"] | None = Field(
        default=None, alias="android.gpu.mode", description="The graphics of an emulator."
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
    record_device_vitals: bool | None = Field(default=None, description="Measure the app's use of the device.")
    group_folder_redirect_enabled: bool | None = Field(default=None, description=f"{_REAL}the app's own folder on iOS.")
    enable_animations: bool | None = Field(default=None, description=f"{_REAL}animations on Android.")
    system_alerts_delay_enabled: bool | None = Field(default=None, description=f"{_REAL}the system's alerts later.")
    session_creation_timeout: int | None = Field(default=None, description=f"{_REAL}ms until one is found.")
    session_creation_retry: int | None = Field(default=None, description=f"{_REAL}retries for one.")


def _app(answer: Mapping[str, Any]) -> StoredApp:
    metadata = answer.get("metadata") or {}
    return StoredApp(
        app=f"storage:filename={answer['name']}",
        name=text(answer.get("name")),
        version=text(metadata.get("short_version") or metadata.get("version")),
        id=text(answer.get("id")),
        uploaded_at=moment(answer.get("upload_timestamp")),
    )


class SauceLabsProvider(CloudProvider):
    """Sauce Labs' browsers, devices and apps."""

    name = "sauce_labs"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = SauceLabsOptions
    title = "Sauce Labs"
    block = "sauce:options"
    users = ("SAUCE_USERNAME",)
    keys = ("SAUCE_ACCESS_KEY",)
    hubs = tuple(_HUB.format(region=region) for region in _REGIONS)
    idle_option = "idleTimeout"
    longest_idle = 1000
    build_variable = "SAUCE_BUILD_NAME"
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
        """Return the hub of the region."""
        given = options.region if isinstance(options, SauceLabsOptions) else None
        return _HUB.format(region=given or _default_region())

    def longest_idle_for(self, start: Start) -> float:
        """Return the maximum, which is shorter for devices."""
        return super().longest_idle_for(start) if start.request.type is SessionType.BROWSER else _DEVICES_IDLE

    def vendor_options(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """Return the vendor's options; devices have Appium's own for the idle time."""
        own = super().vendor_options(start, options)
        if start.request.type is not SessionType.BROWSER:
            del own[self.idle_option]
        return own

    def region(self, url: str) -> str:
        """Return the region in a hub's URL; the default one for a hub that is not the vendor's."""
        match = _IN_HUB.match(url)
        return match[1] if match else _default_region()

    def storage_url(self, settings: Settings) -> str:
        """Return the API of the default region."""
        return self.api_url(settings, _api(_default_region()))

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - its id is enough
        """Return the session's page, whose URL has the session's id."""
        return f"https://app.{self.region(record.remote_url)}.saucelabs.com/tests/{record.remote_session_id}"

    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:
        """Send PUT for browsers, and a script for devices: the API has no such request for real ones."""
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
        self.api(settings).request("PUT", url, json_body=body, timeout=STATUS_TIMEOUT)


def _default_region() -> str:
    """Return the region of `SAUCE_REGION`, in which `us-west` means `us-west-1`, as in the vendor's own tools."""
    given = os.environ.get("SAUCE_REGION", "")
    return next((region for region in _REGIONS if given and region.startswith(given)), _REGIONS[0])


def _api(region: str) -> str:
    return f"https://api.{region}.saucelabs.com"
