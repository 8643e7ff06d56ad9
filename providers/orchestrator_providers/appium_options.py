"""The options of app sessions: those capabilities of Appium's two great drivers that are often needed, by their names.

Sources: https://appium.github.io/appium-xcuitest-driver/latest/reference/capabilities/ and
https://github.com/appium/appium-uiautomator2-driver#capabilities. Every other one is passed on from `capabilities`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from orchestrator.errors import InvalidArgument
from orchestrator.models import SessionType
from orchestrator.provider import SessionOptions
from orchestrator_providers.wanted import url_or_secret

_MS = "in ms"


class XcuitestOptions(SessionOptions):
    """What is of iOS alone."""

    wda_local_port: int | None = Field(default=None, description="Port of WebDriverAgent; a free one unless given.")
    web_driver_agent_url: str | None = Field(default=None, description="A WebDriverAgent that runs already.")
    use_prebuilt_wda: bool | None = Field(
        default=None, alias="usePrebuiltWDA", description="Take the WebDriverAgent that was built before."
    )
    use_new_wda: bool | None = Field(
        default=None, alias="useNewWDA", description="Install WebDriverAgent anew on the device."
    )
    derived_data_path: str | None = Field(default=None, description="Folder in which WebDriverAgent is built.")
    updated_wda_bundle_id: str | None = Field(
        default=None, alias="updatedWDABundleId", description="WebDriverAgent's bundle id, as your profile signs it."
    )
    xcode_org_id: str | None = Field(default=None, description="Apple's id of the team that signs WebDriverAgent.")
    xcode_signing_id: str | None = Field(default=None, description="The certificate; iPhone Developer unless given.")
    show_xcode_log: bool | None = Field(default=None, description="Write Xcode's output into Appium's log.")
    wda_launch_timeout: int | None = Field(default=None, description=f"Until WebDriverAgent answers, {_MS}.")
    wda_connection_timeout: int | None = Field(default=None, description=f"For an answer of WebDriverAgent, {_MS}.")
    simulator_startup_timeout: int | None = Field(default=None, description=f"Until the simulator is up, {_MS}.")
    auto_dismiss_alerts: bool | None = Field(default=None, description="Dismiss alerts of the system.")
    process_arguments: dict[str, Any] | None = Field(default=None, description="args and env of the app.")
    permissions: str | None = Field(default=None, description="Permissions of apps in a simulator, as JSON text.")
    force_app_launch: bool | None = Field(default=None, description="Start an app that runs already anew.")
    include_safari_in_webviews: bool | None = Field(default=None, description="Count Safari's pages as web views.")


class UiAutomator2Options(SessionOptions):
    """What is of Android alone."""

    system_port: int | None = Field(default=None, description="Port of UiAutomator2's server; a free one unless given.")
    chromedriver_port: int | None = Field(
        default=None, description="Port of its chromedriver; a free one unless given."
    )
    chromedriver_executable: str | None = Field(default=None, description="The chromedriver for web views.")
    chromedriver_executable_dir: str | None = Field(default=None, description="Folder of chromedrivers.")
    avd: str | None = Field(default=None, description="The emulator to start, by its name.")
    avd_launch_timeout: int | None = Field(default=None, description=f"Until the emulator is there, {_MS}.")
    avd_ready_timeout: int | None = Field(default=None, description=f"Until it has booted, {_MS}.")
    app_wait_activity: str | None = Field(default=None, description="The activity to wait for at the start.")
    app_wait_package: str | None = Field(default=None, description="The package to wait for at the start.")
    app_wait_duration: int | None = Field(default=None, description=f"Until that activity is there, {_MS}.")
    optional_intent_arguments: str | None = Field(default=None, description="Further arguments of the start intent.")
    adb_exec_timeout: int | None = Field(default=None, description=f"For a command of adb, {_MS}.")
    android_install_timeout: int | None = Field(default=None, description=f"For the installation of the app, {_MS}.")
    uiautomator2_server_launch_timeout: int | None = Field(
        default=None,
        alias="uiautomator2ServerLaunchTimeout",
        description=f"Until UiAutomator2's server answers, {_MS}.",
    )
    skip_server_installation: bool | None = Field(default=None, description="UiAutomator2's server is there already.")
    disable_window_animation: bool | None = Field(default=None, description="Switch animations off meanwhile.")
    ignore_hidden_api_policy_error: bool | None = Field(default=None, description="Go on where that is not allowed.")
    dont_stop_app_on_reset: bool | None = Field(default=None, description="Leave an app that runs as it is.")


class AppiumOptions(XcuitestOptions, UiAutomator2Options):
    """Where the Appium server is, and what is rare in a start there."""

    url: str | None = Field(
        default=None, description="The Appium server; the setting appium_url unless given; user:password@ stays secret."
    )
    autostart: bool | None = Field(
        default=None, description="Start Appium for the session when none answers on this machine; a setting."
    )
    mjpeg_server_port: int | None = Field(
        default=None, description="Port of the device's moving picture; a free one unless given."
    )
    auto_webview: bool | None = Field(default=None, description="Begin in the app's web view.")
    language: str | None = Field(default=None, description="Such as de.")
    locale: str | None = Field(default=None, description="Such as de_DE for iOS, DE for Android.")
    orientation: Literal["PORTRAIT", "LANDSCAPE"] | None = Field(default=None, description="How the device is held.")
    other_apps: list[str] | None = Field(default=None, description="Further apps to install.")
    auto_launch: bool | None = Field(default=None, description="false: the app is not started.")

    @field_validator("url")
    @classmethod
    def _endpoint(cls, given: str | None) -> str | None:
        return url_or_secret(given)

    def capabilities(self, platform: SessionType) -> dict[str, Any]:
        """The capabilities for these options.

        Raises:
            InvalidArgument: One is of the other platform.
        """
        is_ios = platform is SessionType.IOS
        own, strange = (_IOS, _ANDROID) if is_ios else (_ANDROID, _IOS)
        found = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in _OURS or value is None:
                continue
            if name in strange - own:
                other = "Android" if is_ios else "iOS"
                raise InvalidArgument(f"Option {field.alias!r} is of {other} alone.", hint="Leave it out.")
            found[f"appium:{field.alias}"] = value
        return found


_IOS, _ANDROID = frozenset(XcuitestOptions.model_fields), frozenset(UiAutomator2Options.model_fields)
_OURS = frozenset({"url", "autostart", *SessionOptions.model_fields})
"""The options that are no capabilities."""
