"""BrowserStack: desktop and device browsers (Automate), apps (App Automate).

Sources: https://www.browserstack.com/automate/capabilities?tag=selenium-4 and
https://www.browserstack.com/app-automate/capabilities?tag=w3c (the block `bstack:options`),
https://www.browserstack.com/docs/automate/api-reference/selenium/session,
https://www.browserstack.com/docs/app-automate/api-reference/appium/sessions and …/apps (REST).
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
from orchestrator_providers.clouds.base import DASHBOARD_TIMEOUT, STATUS_TIMEOUT, CloudProvider, is_app
from orchestrator_providers.clouds.options import CloudOptions

_AUTOMATE = "https://api.browserstack.com"
_APP_AUTOMATE = "https://api-cloud.browserstack.com"
_EDGES = "Of that browser alone: its driver, pop-ups and cookies."


class BrowserStackOptions(CloudOptions):
    """The options in `bstack:options`; `osVersion` of a device is platformVersion of the start."""

    variables: ClassVar[str] = "BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY"

    os: str | None = Field(default=None, description="Windows or OS X.")
    os_version: str | None = Field(default=None, description="Such as 11, or Sequoia.")
    project_name: str | None = Field(default=None, description="The project that the build belongs to.")
    build_name: str | None = Field(
        default=None, description="The build that the session belongs to; BROWSERSTACK_BUILD_NAME."
    )
    build_identifier: str | None = Field(default=None, description="Identifies a run of the build, such as its number.")
    build_tag: str | None = Field(default=None, description="A tag of the build.")
    session_name: str | None = Field(default=None, description="The session's name there; its id here unless given.")
    local: bool | None = Field(default=None, description="Use a BrowserStack Local that runs already.")
    local_identifier: str | None = Field(default=None, description="The name of that BrowserStack Local.")
    debug: bool | None = Field(default=None, description="A screenshot for every command.")
    console_logs: Literal["disable", "errors", "warnings", "info", "verbose"] | None = Field(
        default=None, description="The level from which the page's console is kept."
    )
    network_logs: bool | None = Field(default=None, description="Keep the network traffic.")
    network_logs_options: dict[str, Any] | None = Field(default=None, description="Such as captureContent.")
    network_logs_exclude_hosts: list[str] | None = Field(default=None, description="Hosts whose traffic is not kept.")
    network_logs_include_hosts: list[str] | None = Field(default=None, description="Hosts whose traffic alone is kept.")
    video: bool | None = Field(default=None, description="Record a video.")
    selenium_logs: bool | None = Field(default=None, description="Keep Selenium's log.")
    appium_logs: bool | None = Field(default=None, description="Keep Appium's log.")
    device_logs: bool | None = Field(default=None, description="Keep the device's log.")
    app_profiling: bool | None = Field(default=None, description="Measure the app's use of the device.")
    interactive_debugging: bool | None = Field(default=None, description="Let people take part in the session.")
    selenium_version: str | None = Field(default=None, description="The Selenium that runs it.")
    selenium_bidi: bool | None = Field(default=None, description="Switch WebDriver BiDi on.")
    selenium_cdp: bool | None = Field(default=None, description="Switch the Chrome DevTools Protocol on.")
    appium_version: str | None = Field(default=None, description="The Appium that runs it.")
    resolution: str | None = Field(default=None, description="The screen's, such as 1920x1080.")
    timezone: str | None = Field(default=None, description="Such as London.")
    geo_location: str | None = Field(default=None, description="The country that it appears to be in, such as DE.")
    gps_location: str | None = Field(default=None, description="Latitude and longitude of the device.")
    network_profile: str | None = Field(default=None, description="A network by name, such as 4g-lte-good.")
    custom_network: str | None = Field(default=None, description="A network by its figures.")
    device_orientation: Literal["portrait", "landscape"] | None = Field(
        default=None, description="The device's orientation."
    )
    real_mobile: bool | None = Field(default=None, description="A real device.")
    mask_basic_auth: bool | None = Field(default=None, description="Keep basic authentication out of logs.")
    mask_commands: str | None = Field(default=None, description="Commands whose values are masked in logs.")
    auto_wait: int | None = Field(default=None, description="ms between two commands.")
    hosts: str | None = Field(default=None, description="A line for the machine's hosts file.")
    bfcache: Literal[0, 1] | None = Field(default=None, description="Internet Explorer: 1 switches page caching off.")
    ws_local_support: bool | None = Field(default=None, description="Secure web sockets beside network logs.")
    disable_cors_restrictions: bool | None = Field(default=None, description="Safari: allow other origins.")
    ie: dict[str, Any] | None = Field(default=None, description=_EDGES)
    edge: dict[str, Any] | None = Field(default=None, description=_EDGES)
    chrome: dict[str, Any] | None = Field(default=None, description=_EDGES)
    firefox: dict[str, Any] | None = Field(default=None, description=_EDGES)
    safari: dict[str, Any] | None = Field(default=None, description=_EDGES)
    mid_session_install_apps: list[str] | None = Field(default=None, description="Apps (bs://…) to install later.")
    upload_media: list[str] | None = Field(default=None, description="Media (media://…) to put on the device.")
    enable_passcode: bool | None = Field(default=None, description="Give the device a passcode.")
    enable_camera_image_injection: bool | None = Field(default=None, description="Let the camera see given pictures.")
    enable_biometric: bool | None = Field(default=None, description="Let fingerprints and faces be simulated.")
    enable_audio_injection: bool | None = Field(default=None, description="Let the microphone hear given sounds.")
    disable_animations: bool | None = Field(default=None, description="Switch animations off.")
    resign_app: bool | None = Field(default=None, description="false: leave an enterprise app's signature.")
    accessibility: bool | None = Field(default=None, description="Check accessibility.")
    accessibility_options: dict[str, Any] | None = Field(
        default=None, description="Options of the accessibility check."
    )
    self_heal: bool | None = Field(default=None, description="Let locators that broke be mended.")


def _app(answer: Mapping[str, Any]) -> StoredApp:
    return StoredApp(
        app=answer["app_url"],
        name=text(answer.get("app_name")),
        version=text(answer.get("app_version")),
        id=text(answer.get("app_id")),
        custom_id=text(answer.get("custom_id")),
        uploaded_at=text(answer.get("uploaded_at")),
        expires_at=text(answer.get("expiry")),
    )


_STORAGE = AppStorage(
    title="BrowserStack",
    base=_APP_AUTOMATE,
    upload_path="/app-automate/upload",
    file_field="file",
    list_paths=("/app-automate/recent_apps",),
    read=_app,
    id_field="custom_id",
)


class BrowserStackProvider(CloudProvider):
    """BrowserStack's browsers, devices and apps."""

    name = "browserstack"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = BrowserStackOptions
    title = "BrowserStack"
    block = "bstack:options"
    users = ("BROWSERSTACK_USERNAME",)
    keys = ("BROWSERSTACK_ACCESS_KEY",)
    hubs = ("https://hub-cloud.browserstack.com/wd/hub", "https://hub.browserstack.com/wd/hub")
    idle_option = "idleTimeout"
    longest_idle = 300
    session_name = "sessionName"
    build_name = "buildName"
    build_variable = "BROWSERSTACK_BUILD_NAME"
    storage = _STORAGE

    def vendor_options(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """Return the vendor's options, with the device of a browser; that of an app is in Appium's."""
        own = super().vendor_options(start, options)
        request = start.request
        if request.type is not SessionType.BROWSER and request.browser_name is not None:
            given = {"deviceName": request.device_name, "osVersion": request.platform_version}
            own = {name: value for name, value in given.items() if value} | own
        return own

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:
        """Request the URL from the vendor, since it has the build's id."""
        answer = self.api(settings).request("GET", self._session(record, settings), timeout=DASHBOARD_TIMEOUT)
        session = answer.get("automation_session") if isinstance(answer, Mapping) else None
        return text(session.get("browser_url") or session.get("public_url")) if isinstance(session, Mapping) else None

    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:
        """Send PUT with status and reason."""
        self.api(settings).request(
            "PUT", self._session(record, settings), json_body=mark.model_dump(exclude_none=True), timeout=STATUS_TIMEOUT
        )

    def _session(self, record: SessionRecord, settings: Settings) -> str:
        base, product = (_APP_AUTOMATE, "app-automate") if is_app(record) else (_AUTOMATE, "automate")
        return f"{self.api_url(settings, base)}/{product}/sessions/{record.remote_session_id}.json"
