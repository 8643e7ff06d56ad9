"""Options of Appium sessions: frequent capabilities of XCUITest and UiAutomator2.

Sources: https://appium.github.io/appium-xcuitest-driver/latest/reference/capabilities/ and
https://github.com/appium/appium-uiautomator2-driver#capabilities. Any other capability is given in `capabilities`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from orchestrator.errors import InvalidArgument
from orchestrator.models.durations import parse_duration
from orchestrator.models.paths import RemoteAddress, WritePath
from orchestrator.models.session import SessionType
from orchestrator.provider import SessionOptions
from orchestrator_providers.capabilities import url_or_secret

_MS = "in ms"


class XcuitestOptions(SessionOptions):
    """Options of iOS only."""

    wda_local_port: int | None = Field(default=None, description="Port of WebDriverAgent; a free one unless given.")
    web_driver_agent_url: RemoteAddress | None = Field(
        default=None, description="URL of a WebDriverAgent that runs already."
    )
    use_prebuilt_wda: bool | None = Field(
        default=None, alias="usePrebuiltWDA", description="Use the WebDriverAgent that was built before."
    )
    use_new_wda: bool | None = Field(
        default=None, alias="useNewWDA", description="Install WebDriverAgent anew on the device."
    )
    derived_data_path: WritePath | None = Field(default=None, description="Folder in which WebDriverAgent is built.")
    updated_wda_bundle_id: str | None = Field(
        default=None, alias="updatedWDABundleId", description="WebDriverAgent's bundle id in your provisioning profile."
    )
    xcode_org_id: str | None = Field(default=None, description="Apple's id of the team that signs WebDriverAgent.")
    xcode_signing_id: str | None = Field(default=None, description="The certificate; iPhone Developer unless given.")
    show_xcode_log: bool | None = Field(default=None, description="Write Xcode's output into Appium's log.")
    wda_launch_timeout: int | None = Field(default=None, description=f"Time for WebDriverAgent to start, {_MS}.")
    wda_connection_timeout: int | None = Field(
        default=None, description=f"Time for an answer of WebDriverAgent, {_MS}."
    )
    simulator_startup_timeout: int | None = Field(default=None, description=f"Time for the simulator to start, {_MS}.")
    auto_dismiss_alerts: bool | None = Field(default=None, description="Dismiss system alerts.")
    process_arguments: dict[str, Any] | None = Field(default=None, description="args and env of the app.")
    permissions: str | None = Field(default=None, description="Permissions of apps in a simulator, as JSON text.")
    force_app_launch: bool | None = Field(default=None, description="Restart an app that runs already.")
    include_safari_in_webviews: bool | None = Field(default=None, description="List Safari's pages as web views.")


class UiAutomator2Options(SessionOptions):
    """Options of Android only."""

    system_port: int | None = Field(default=None, description="Port of UiAutomator2's server; a free one unless given.")
    chromedriver_port: int | None = Field(
        default=None, description="Port of its chromedriver; a free one unless given."
    )
    chromedriver_executable: str | None = Field(default=None, description="Path of the chromedriver for web views.")
    chromedriver_executable_dir: str | None = Field(default=None, description="Folder of chromedrivers for web views.")
    avd: str | None = Field(default=None, description="Name of the emulator to start.")
    avd_launch_timeout: int | None = Field(default=None, description=f"Time for the emulator to start, {_MS}.")
    avd_ready_timeout: int | None = Field(default=None, description=f"Time for it to boot, {_MS}.")
    app_wait_activity: str | None = Field(default=None, description="Activity to wait for at the start.")
    app_wait_package: str | None = Field(default=None, description="Package to wait for at the start.")
    app_wait_duration: int | None = Field(default=None, description=f"Time for that activity to start, {_MS}.")
    optional_intent_arguments: str | None = Field(default=None, description="Further arguments of the start intent.")
    adb_exec_timeout: int | None = Field(default=None, description=f"Time for a command of adb, {_MS}.")
    android_install_timeout: int | None = Field(default=None, description=f"Time to install the app, {_MS}.")
    uiautomator2_server_launch_timeout: int | None = Field(
        default=None,
        alias="uiautomator2ServerLaunchTimeout",
        description=f"Time for UiAutomator2's server to start, {_MS}.",
    )
    skip_server_installation: bool | None = Field(
        default=None, description="UiAutomator2's server is installed already."
    )
    disable_window_animation: bool | None = Field(default=None, description="Switch animations off during the session.")
    ignore_hidden_api_policy_error: bool | None = Field(
        default=None, description="Continue where access to hidden APIs is refused."
    )
    dont_stop_app_on_reset: bool | None = Field(default=None, description="Keep an app that runs already.")


class AppiumOptions(XcuitestOptions, UiAutomator2Options):
    """The server's URL, and capabilities that are rare in a start."""

    url: RemoteAddress | None = Field(
        default=None, description="The Appium server; the setting appium_url unless given; user:password@ stays secret."
    )
    autostart: bool | None = Field(
        default=None, description="Start Appium for the session if none answers on this machine; a setting."
    )
    udids: tuple[str, ...] = Field(default=(), description="Phones of which the session gets one that is free.")
    device_timeout: float | None = Field(
        default=None, ge=0, description="Wait this long, in a queue, until its phone is free; default: refuse at once."
    )
    mjpeg_server_port: int | None = Field(
        default=None, description="Port of the screen's MJPEG stream; a free one unless given."
    )
    auto_webview: bool | None = Field(default=None, description="Begin in the app's web view.")
    language: str | None = Field(default=None, description="Such as de.")
    locale: str | None = Field(default=None, description="Such as de_DE for iOS, DE for Android.")
    orientation: Literal["PORTRAIT", "LANDSCAPE"] | None = Field(default=None, description="Orientation at the start.")
    other_apps: list[str] | None = Field(default=None, description="Further apps to install.")
    auto_launch: bool | None = Field(default=None, description="false: do not start the app.")

    @field_validator("url")
    @classmethod
    def _endpoint(cls, given: str | None) -> str | None:
        return url_or_secret(given)

    @field_validator("device_timeout", mode="before")
    @classmethod
    def _patience(cls, value: Any) -> Any:
        return parse_duration(value)

    def capabilities(self, platform: SessionType) -> dict[str, Any]:
        """Return the capabilities for these options, without the prefix `appium:`.

        Raises:
            InvalidArgument: An option is of the other platform.
        """
        is_ios = platform is SessionType.IOS
        own, other = (_IOS, _ANDROID) if is_ios else (_ANDROID, _IOS)
        capabilities = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in _OURS or value is None:
                continue
            if name in other - own:
                platform_name = "Android" if is_ios else "iOS"
                raise InvalidArgument(f"Option {field.alias!r} is of {platform_name} alone.", hint="Omit it.")
            capabilities[str(field.alias)] = value
        return capabilities

    def as_capabilities(self) -> dict[str, Any]:
        """Return the given options by the names of their capabilities."""
        fields = type(self).model_fields.items()
        given = {f"appium:{field.alias}": getattr(self, name) for name, field in fields if name not in _OURS}
        return {name: value for name, value in given.items() if value is not None}


_IOS, _ANDROID = frozenset(XcuitestOptions.model_fields), frozenset(UiAutomator2Options.model_fields)
_OURS = frozenset({"url", "autostart", "udids", "device_timeout", *SessionOptions.model_fields})
"""Options that are no capabilities."""
