"""The browser or device that a self-test starts, from the words of the command."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.cli.argument_parser import parse_object
from orchestrator.errors import InvalidArgument
from orchestrator.models.near_names import nearest
from orchestrator.models.session import SessionType
from orchestrator.sessions.providers import Providers

_PROG = "orchestrator doctor"
LOCAL = "local"
"""The provider of this machine's browsers."""
_SETTINGS_APPS = {
    SessionType.IOS: {"appium:bundleId": "com.apple.Preferences"},
    SessionType.ANDROID: {"appium:appPackage": "com.android.settings", "appium:appActivity": ".Settings"},
}
"""The app that every phone has."""
_INSTALLED_APP = re.compile(r"[A-Za-z]\w*(\.[\w-]+)+")
_APP_FILES = (".apk", ".apks", ".aab", ".app", ".ipa", ".zip")


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """The session that a self-test starts.

    Attributes:
        name: The name that was given: a browser of this machine, or a provider.
        platform: `browser`, `ios` or `android`.
        browser: None is the provider's usual one; on a phone, an app.
        app: The app as `start_session` takes it; None if capabilities name an installed one.
    """

    name: str
    provider: str
    platform: SessionType
    browser: str | None = None
    app: str | None = None
    device_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_app(self) -> bool:
        """True if an app is tested, and no web page."""
        return self.on_phone and self.browser is None

    @property
    def on_phone(self) -> bool:
        """True for a phone, whatever runs on it."""
        return self.platform is not SessionType.BROWSER

    def start_fields(self) -> dict[str, Any]:
        """Return the arguments of `start_session`."""
        return {
            "provider": self.provider,
            "platform": self.platform,
            "browser": self.browser,
            "app": self.app,
            "device_name": self.device_name,
            "options": self.options,
            "capabilities": self.capabilities,
        }


def choose_target(
    name: str,
    *,
    platform: str | None = None,
    browser: str | None = None,
    app: str | None = None,
    device_name: str | None = None,
    options: Sequence[str] = (),
    capabilities: Sequence[str] = (),
) -> CheckTarget:
    """Find what a name stands for: a browser of this machine, or an installed provider.

    Args:
        name: Such as chrome, webkitgtk, selenium_grid.
        platform: browser, ios or android, in any case; default: browser, if the provider has them.
        browser: The browser at the provider; on a phone, instead of an app.
        app: An app's file on this machine, a URL as the remote end finds it, or the id of an installed app.
        device_name: Such as `Pixel 8`.
        options: The provider's options, as JSON or `name=value`.
        capabilities: W3C capabilities, written as `options` are.

    Raises:
        InvalidArgument: There is no such browser or provider, or the words contradict each other.
    """
    providers = Providers()
    is_provider = name in providers
    if not is_provider and name not in providers[LOCAL].browsers:
        known = {*providers, *providers[LOCAL].browsers}
        raise InvalidArgument(f"No browser or provider is called {name!r}.", hint=nearest(name, known))
    if not is_provider and browser is not None:
        raise InvalidArgument(f"{name} is a browser itself.", hint="Omit --browser, or name a provider.")
    provider = name if is_provider else LOCAL
    kind = _platform(provider, providers[provider].types, platform)
    chosen, found = _app(kind, app) if kind is not SessionType.BROWSER and browser is None else (None, {})
    if app is not None and not (chosen or found):
        raise InvalidArgument(
            "A browser is checked, and no app.", hint="Omit --app, or give --platform ios or android."
        )
    return CheckTarget(
        name=name,
        provider=provider,
        platform=kind,
        browser=browser if is_provider else name,
        app=chosen,
        device_name=device_name,
        options=parse_object(_PROG, "--options", options),
        capabilities=found | parse_object(_PROG, "--capabilities", capabilities),
    )


def _platform(provider: str, types: frozenset[SessionType], given: str | None) -> SessionType:
    names = sorted(map(str, types))
    if given is None and SessionType.BROWSER in types:
        return SessionType.BROWSER
    if given is None:
        raise InvalidArgument(f"{provider} has several platforms.", hint=f"Give --platform {' or '.join(names)}.")
    if given.lower() not in names:
        raise InvalidArgument(f"{provider} has no platform {given!r}.", hint=f"It has {', '.join(names)}.")
    return SessionType(given.lower())


def _app(platform: SessionType, given: str | None) -> tuple[str | None, dict[str, Any]]:
    """Return the app to pass on, or the capabilities of an installed one, whose data is kept."""
    if given is None:
        return None, {**_SETTINGS_APPS[platform], "appium:noReset": True}
    if (file := Path(given).expanduser()).exists():
        return str(file.resolve()), {}
    if _INSTALLED_APP.fullmatch(given) and not given.lower().endswith(_APP_FILES):
        named = "appium:bundleId" if platform is SessionType.IOS else "appium:appPackage"
        return None, {named: given, "appium:noReset": True}
    return given, {}
