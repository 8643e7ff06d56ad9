"""TestingBot: desktop browsers; browsers and apps on virtual and real devices.

Sources: https://testingbot.com/support/web-automate/selenium/test-options (the block `tb:options`),
https://testingbot.com/support/api (tests), https://testingbot.com/support/api/storage (apps).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.models.session import SessionRecord
from orchestrator.models.test_status import TestStatus
from orchestrator.provider import StoredApp
from orchestrator.settings import Settings
from orchestrator_providers.clouds.app_storage import AppStorage, text
from orchestrator_providers.clouds.base import STATUS_TIMEOUT, CloudProvider
from orchestrator_providers.clouds.options import TunnelOptions
from orchestrator_providers.clouds.tunnels import TestingBotTunnel

_LONGEST_IDLE = 300
"""Seconds; the documentation has a default of 90 and no maximum, and a heartbeat needs no more."""
_API = "https://api.testingbot.com"
_DRIVER = "The version of that driver."


class TestingBotOptions(TunnelOptions):
    """The options in `tb:options`, and the operating system of a desktop browser."""

    standard: ClassVar[tuple[str, ...]] = ("accept_insecure_certs", "platform_name")
    variables: ClassVar[str] = "TESTINGBOT_KEY and TESTINGBOT_SECRET"

    platform_name: str | None = Field(default=None, description="The desktop's system, such as WIN11 or SONOMA.")
    name: str | None = Field(default=None, description="The session's name there; its id here unless given.")
    build: str | None = Field(default=None, description="The build that the session belongs to.")
    groups: str | None = Field(default=None, description="Labels, with commas between them.")
    tags: list[str] | None = Field(default=None, description="Tags to find it by.")
    public: bool | None = Field(default=None, description="Anybody may see it.")
    tunnel_identifier: str | None = Field(
        default=None, alias="tunnel-identifier", description="A tunnel that runs already."
    )
    screen_resolution: str | None = Field(default=None, alias="screen-resolution", description="Such as 1920x1080.")
    time_zone: str | None = Field(default=None, description="Such as Etc/UTC.")
    geo_country_code: str | None = Field(
        default=None, alias="testingbot.geoCountryCode", description="The country that it appears to be in."
    )
    throttle_network: str | dict[str, Any] | None = Field(
        default=None, alias="throttle_network", description="A slower network, by name or by figures."
    )
    max_duration: int | None = Field(default=None, description="Seconds after which the session ends.")
    record_logs: bool | None = Field(default=None, description="Keep the log of commands.")
    screenshot: bool | None = Field(default=None, description="A screenshot for every command.")
    screenrecorder: bool | None = Field(default=None, description="Record a video.")
    upload: str | None = Field(default=None, description="A file (a URL) to put on the machine.")
    load_extension: str | None = Field(default=None, alias="load-extension", description="A Chrome extension (a URL).")
    selenium_version: str | None = Field(
        default=None, alias="selenium-version", description="The Selenium that runs it."
    )
    chromedriver_version: str | None = Field(default=None, description=_DRIVER)
    edgedriver_version: str | None = Field(default=None, description=_DRIVER)
    geckodriver_version: str | None = Field(default=None, description=_DRIVER)
    iedriver_version: str | None = Field(default=None, description=_DRIVER)
    appium_version: str | None = Field(default=None, description="The Appium that runs it.")
    appium_plugins: list[str] | None = Field(default=None, description="Plugins of Appium.")
    real_device: bool | None = Field(default=None, description="A real device.")
    tablet_only: bool | None = Field(default=None, description="Tablets alone.")
    phone_only: bool | None = Field(default=None, description="Phones alone.")


def _app(answer: Mapping[str, Any]) -> StoredApp:
    return StoredApp(
        app=answer["app_url"],
        name=text(answer.get("filename")),
        version=text(answer.get("version")),
        id=str(answer["app_url"]).removeprefix("tb://"),
        uploaded_at=text(answer.get("created_at")),
    )


class TestingBotProvider(CloudProvider):
    """TestingBot's browsers, devices and apps."""

    name = "testingbot"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = TestingBotOptions
    title = "TestingBot"
    block = "tb:options"
    users = ("TESTINGBOT_KEY",)
    keys = ("TESTINGBOT_SECRET",)
    hubs = ("https://hub.testingbot.com/wd/hub",)
    idle_option = "idletimeout"
    longest_idle = _LONGEST_IDLE
    tunnel = TestingBotTunnel()
    storage = AppStorage(
        title="TestingBot",
        base=_API,
        upload_path="/v1/storage",
        file_field="file",
        list_paths=("/v1/storage?offset=0&count={limit}",),
        read=_app,
        listed="data",
    )

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - its id is enough
        """Return the session's page, whose URL has the session's id."""
        return f"https://testingbot.com/members/tests/{record.remote_session_id}"

    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:
        """Send PUT with a form."""
        form = {"test[success]": "1" if mark.status == "passed" else "0"}
        if mark.reason:
            form["test[status_message]"] = mark.reason
        url = f"{self.api_url(settings, _API)}/v1/tests/{record.remote_session_id}"
        self.api(settings).request("PUT", url, form=form, timeout=STATUS_TIMEOUT)
