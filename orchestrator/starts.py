"""The façade's starts for Python: what a tool takes as JSON are keyword arguments, what it starts is a handle."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.arguments import read
from orchestrator.emulation import Viewport
from orchestrator.errors import InvalidArgument
from orchestrator.models import APPS, AttachRequest, Mode, SessionType, StartRequest, chosen
from orchestrator.rows import Row
from orchestrator.session import Home, Session


class Starts(Home):
    """Starts that give a handle, with the parameters and defaults of the tools."""

    @abstractmethod
    async def start(self, request: StartRequest, *, wait: bool = True) -> Row:
        """Start a session."""

    @abstractmethod
    async def attach(self, request: AttachRequest) -> Row:
        """Take in a session that was started elsewhere."""

    async def start_browser(
        self,
        session_id: str | None = None,
        *,
        browser: str | None = None,
        headless: bool | None = None,
        navigation_url: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
        device: str | None = None,
        viewport: Viewport | Mapping[str, int] | None = None,
        mode: Mode | None = None,
        profile: str | None = None,
        debugger_address: str | None = None,
        args: Sequence[str] = (),
        storage_state: str | Mapping[str, Any] | None = None,
    ) -> Session:
        """Start a browser on this machine.

        Args:
            session_id: Its name, such as alice, or shop:ann for a context of the browser shop; browser-1, … unless
                given.
            browser: Such as firefox; that of the instance which is shared, or chrome, unless given.
            headless: Without a window; a setting (True) unless given.
            navigation_url: Open this URL first.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.
            device: Be it for pages, such as iPhone 14 or Pixel 7: `orchestrator.presets` has them all.
            viewport: Size of the page area in CSS pixels; the device's, or 1280 x 720, unless given.
            mode: incognito, persistent or attached; incognito unless given.
            profile: Its name, for persistent.
            debugger_address: Host and port of a running Chrome, for attached.
            args: Further switches of the browser.
            storage_state: Cookies and local storage to begin with: a file that `save_storage_state` wrote, or what
                stands in it.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: There is no session; nothing of it is left.
        """
        wish = locals()
        del wish["self"]
        return await self._started(**wish)

    async def start_app_session(
        self,
        platform: str,
        session_id: str | None = None,
        *,
        app_path: str | None = None,
        app: str | None = None,
        bundle_id: str | None = None,
        app_package: str | None = None,
        app_activity: str | None = None,
        browser_name: str | None = None,
        device_name: str | None = None,
        platform_version: str | None = None,
        udid: str | None = None,
        automation_name: str | None = None,
        no_reset: bool | None = None,
        full_reset: bool | None = None,
        auto_grant_permissions: bool = True,
        auto_accept_alerts: bool | None = None,
        new_command_timeout: int | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Session:
        """Start an app, or a browser, on a device, simulator or emulator, by Appium.

        Args:
            platform: iOS or Android, in any case.
            session_id: Its name, such as ann; ios-1, android-1, … unless given.
            app_path: The app: a file or folder on this machine.
            app: The app as the Appium server finds it, such as a URL; passed on unread.
            bundle_id: iOS: an app that is installed.
            app_package: Android: an app that is installed.
            app_activity: Android: which of its activities.
            browser_name: A browser instead of an app: Chrome or Safari.
            device_name: Such as iPhone 15; it names a kind.
            platform_version: Such as 17.5.
            udid: Which device: two sessions cannot have the same one.
            automation_name: XCUITest or UiAutomator2 unless given.
            no_reset: Keep the app's data.
            full_reset: Remove the app before and after.
            auto_grant_permissions: Android: grant what the app asks for.
            auto_accept_alerts: iOS: accept what the system asks.
            new_command_timeout: Seconds without a command after which Appium ends the session; from idle_timeout
                unless given.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options, such as url and wdaLocalPort.
            wait: False: answer at once; calls on it queue until it has started.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            DeviceBusy: Another session has the device.
            StartFailed: There is no session; nothing of it is left.
        """
        wish = locals()
        del wish["self"], wish["platform"]
        return await self._started(provider="appium", type=_type(platform, *APPS), **wish)

    async def start_session(
        self,
        provider: str,
        platform: str,
        session_id: str | None = None,
        *,
        browser: str | None = None,
        browser_version: str | None = None,
        headless: bool | None = None,
        device_name: str | None = None,
        platform_version: str | None = None,
        app: str | None = None,
        navigation_url: str | None = None,
        device: str | None = None,
        mode: Mode | None = None,
        profile: str | None = None,
        debugger_address: str | None = None,
        storage_state: str | Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Session:
        """Start a session at a provider by its name; the other parameters are those of `start_browser`.

        Args:
            provider: local, or another installed provider.
            platform: browser, ios or android.
            session_id: Its name; browser-1, ios-1, … unless given.
            browser: Which browser; chrome unless given, and on a device none.
            browser_version: Such as 156; any unless given.
            headless: Without a window; a setting (True) unless given.
            device_name: Such as iPhone 15.
            platform_version: Such as 17.5.
            app: The app as the remote end finds it, such as a URL.
            navigation_url: Open this URL first.
            device: What a browser on a desktop is for pages, such as iPhone 14.
            mode: incognito, persistent or attached; incognito unless given.
            profile: Its name, for persistent.
            debugger_address: Host and port of a running Chrome, for attached.
            storage_state: Cookies and local storage that a browser begins with, as in `start_browser`.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.

        Raises:
            InvalidArgument, Unsupported, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        wish = locals()
        del wish["self"], wish["platform"], wish["browser"]
        return await self._started(type=_type(platform), **chosen(_type(platform), browser), **wish)

    async def attach_session(
        self,
        remote_url: str,
        remote_session_id: str,
        session_id: str | None = None,
        *,
        platform: str = "browser",
        capabilities: Mapping[str, Any] | None = None,
    ) -> Session:
        """Drive a session that was started elsewhere; closing it here leaves it alive there.

        Args:
            remote_url: The WebDriver endpoint, such as http://127.0.0.1:4444, or secret:NAME for one with a password.
            remote_session_id: The session there, as New Session answered it.
            session_id: Its name here; browser-1, … unless given.
            platform: browser, ios or android.
            capabilities: What to know about it beyond what the remote end tells.

        Raises:
            SessionLost: It does not answer; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not taken in.
        """
        wish = {
            "remote_url": remote_url,
            "remote_session_id": remote_session_id,
            "session_id": session_id,
            "platform": _type(platform),
            "capabilities": capabilities,
        }
        return Session(self, await self.attach(read(AttachRequest, wish)))

    async def _started(self, *, wait: bool, **wish: Any) -> Session:
        row = await self.start(read(StartRequest, wish), wait=wait)
        return Session(self, row)


def _type(platform: str, *known: SessionType) -> SessionType:
    wanted = platform.lower()
    if wanted not in (known or set(SessionType)):
        raise InvalidArgument(f"{platform!r} is not a platform.", hint=f"Known: {', '.join(known or SessionType)}.")
    return SessionType(wanted)
