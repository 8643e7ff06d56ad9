"""Apps on iOS and Android, and their browsers, at any Appium server."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.errors import DeviceBusy, StartFailed
from orchestrator.models import Endpoint, SessionRecord, SessionType
from orchestrator.provider import Provider, Start
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check, merge
from orchestrator_providers.appium_options import AppiumOptions
from orchestrator_providers.appium_server import Place, serve
from orchestrator_providers.wanted import app_capabilities, known_at, resolved

_PORTS = {
    SessionType.IOS: {"wdaLocalPort": range(8100, 8200), "mjpegServerPort": range(9100, 9200)},
    SessionType.ANDROID: {
        "systemPort": range(8200, 8300),
        "chromedriverPort": range(9515, 9615),
        "mjpegServerPort": range(9200, 9300),
    },
}
"""Ports that two sessions on one machine must not share; no two ranges have one in common."""
_READY = "The server is ready to accept new connections"
"""What Appium 2 and 3 answer the command Status with; their name is not in it."""


class AppiumProvider(Provider):
    """Any Appium server by its URL, or one of this machine that is started for the session."""

    name = "appium"
    types = frozenset({SessionType.IOS, SessionType.ANDROID})
    Options = AppiumOptions

    def endpoint(self, start: Start) -> Endpoint:
        """The server's URL, and the device and app as capabilities; the user's own win.

        Raises:
            DeviceBusy: A session of this home has the device already.
        """
        options = start.options
        if not isinstance(options, AppiumOptions):
            raise TypeError(f"options are {type(options).__name__}, not AppiumOptions")
        check(start.request.capabilities)
        url, secret = resolved(options.url or start.settings.appium_url, start.settings)
        place = Place(url)
        capabilities = merge(_wanted(start, options), start.request.capabilities)
        _claim_device(start, place, capabilities)
        capabilities = {**_ports(start, place, capabilities), **capabilities}
        if place.local and not place.answers():
            autostart = start.settings.autostart if options.autostart is None else options.autostart
            if not autostart:
                raise StartFailed(
                    f"No Appium server answers at {place.shown}.",
                    hint="Start one there, or let one be started for the session: autostart.",
                )
            url = serve(start, place)
        return Endpoint(remote_url=url, capabilities=capabilities, secret=secret)

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """The setting's URL, where that is the session's: it may hold user and password."""
        return known_at(settings.appium_url, record.remote_url) or super().address(record, settings)

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:
        """That of the setting, or a server that says of itself what Appium says."""
        return known_at(settings.appium_url, url) is not None or status.get("message") == _READY

    def advice(self, endpoint: Endpoint, said: str) -> str:
        """What to install where Appium lacks the driver."""
        name = str(endpoint.capabilities.get("appium:automationName", "")).lower()
        return f"Install it: appium driver install {name}." if "Could not find a driver" in said and name else ""


def _wanted(start: Start, options: AppiumOptions) -> dict[str, Any]:
    request = start.request
    ours = app_capabilities(start) | options.capabilities(request.type)
    if request.app_path is not None:
        ours["appium:app"] = request.app_path
    if request.headless is not None:
        ours["appium:isHeadless"] = request.headless
    return ours


def _asked(capabilities: Mapping[str, Any], name: str) -> Any:
    """A capability of Appium's, however it was written: `appium:options` is a form of its own."""
    together = capabilities.get("appium:options")
    within = together.get(name) if isinstance(together, Mapping) else None
    return capabilities.get(f"appium:{name}") if within is None else within


def _claim_device(start: Start, place: Place, capabilities: Mapping[str, Any]) -> None:
    """A device is known by platform, server and the udid that was asked for; a name is that of a kind."""
    udid = _asked(capabilities, "udid")
    if not udid or udid == "auto":
        return
    holder = start.claim(f"{start.request.type} device {udid} at {place.host}:{place.port}")
    if holder is not None:
        elsewhere = "" if holder.namespace == start.settings.namespace else f" of namespace {holder.namespace!r}"
        raise DeviceBusy(
            f"Device {udid!r} has a session already: {holder.id!r}{elsewhere}.",
            hint="Use that session, close it, or ask for another device; list_devices says which are free.",
        )


def _ports(start: Start, place: Place, capabilities: Mapping[str, Any]) -> dict[str, int]:
    """Ports that no other session has; one that the user chose is his, and no other session's either."""
    found = {}
    for name, ports in _PORTS[start.request.type].items():
        given = _asked(capabilities, name)
        if given is not None:
            start.claim(_port(given, place))
            continue
        chosen = next((port for port in _in_turn(ports, place) if start.claim(_port(port, place)) is None), None)
        if chosen is None:
            raise StartFailed(
                f"No port from {ports.start} to {ports.stop - 1} is free for {name}.",
                hint=f"Close sessions, or give options.{name}.",
            )
        found[f"appium:{name}"] = chosen
    return found


def _port(port: Any, place: Place) -> str:
    return f"port {port} at {place.host}"


def _in_turn(ports: range, place: Place) -> Iterator[int]:
    """Those that are free; on a machine far away that cannot be seen, and other clients choose there, too."""
    if place.local:
        return filter(_is_free, ports)
    first = secrets.randbelow(len(ports))
    return iter([*ports[first:], *ports[:first]])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
