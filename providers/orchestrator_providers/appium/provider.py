"""The provider `appium`: apps on iOS and Android, and their browsers."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.errors import InvalidArgument, StartFailed
from orchestrator.models.requests import Endpoint
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.provider import Provider, Start
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator_providers.appium.options import AppiumOptions
from orchestrator_providers.appium.server import AppiumAddress, start_appium
from orchestrator_providers.capabilities import app_capabilities, resolve_url, setting_url_if_same

_PORTS = {
    SessionType.IOS: {"wdaLocalPort": range(8100, 8200), "mjpegServerPort": range(9100, 9200)},
    SessionType.ANDROID: {
        "systemPort": range(8200, 8300),
        "chromedriverPort": range(9515, 9615),
        "mjpegServerPort": range(9200, 9300),
    },
}
"""Capabilities whose ports two sessions on a machine must not share; the ranges are disjoint."""
_READY = "The server is ready to accept new connections"
"""Message of Appium 2 and 3 in the answer to Status, which does not name them."""


class AppiumProvider(Provider):
    """Sessions at an Appium server, by its URL, or at one that is started for the session on this machine."""

    name = "appium"
    types = frozenset({SessionType.IOS, SessionType.ANDROID})
    Options = AppiumOptions

    def endpoint(self, start: Start) -> Endpoint:
        """Return the server's URL, and device and app as capabilities; those of the request win.

        Raises:
            DeviceBusy: Sessions of this home have the device, or each of them, already.
            InvalidArgument: It names one device and several.
            StartFailed: No Appium server answers, and none is started, or no port is free.
        """
        options = start.options
        if not isinstance(options, AppiumOptions):
            raise TypeError(f"options are {type(options).__name__}, not AppiumOptions")
        check_capabilities(start.request.capabilities)
        url, secret = resolve_url(options.url or start.settings.appium_url, start.settings)
        server = AppiumAddress(url)
        capabilities = merge_capabilities(_requested_capabilities(start, options), start.request.capabilities)
        device = _claimed_device(start, options, server, capabilities)
        capabilities = {**_ports(start, server, capabilities), **device, **capabilities}
        if server.local and not server.is_listening():
            autostart = start.settings.autostart if options.autostart is None else options.autostart
            if not autostart:
                raise StartFailed(
                    f"No Appium server answers at {server.shown}.",
                    hint="Start one there, or let one be started for the session: autostart.",
                )
            url = start_appium(start, server)
        return Endpoint(remote_url=url, capabilities=capabilities, secret=secret)

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """Return the setting's URL, with user and password, if the session is there, else that of the record."""
        return setting_url_if_same(settings.appium_url, record.remote_url) or super().address(record, settings)

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:
        """Return True for the setting's URL, and for a server whose status is Appium's."""
        return setting_url_if_same(settings.appium_url, url) is not None or status.get("message") == _READY

    def advice(self, endpoint: Endpoint, said: str) -> str:
        """Return the command that installs a driver that Appium lacks."""
        name = str(endpoint.capabilities.get("appium:automationName", "")).lower()
        return f"Install it: appium driver install {name}." if "Could not find a driver" in said and name else ""


def _requested_capabilities(start: Start, options: AppiumOptions) -> dict[str, Any]:
    request = start.request
    return app_capabilities(
        start,
        {
            **options.capabilities(request.type),
            "app": request.app if request.app_path is None else request.app_path,
            "isHeadless": request.headless,
        },
    )


def _capability(capabilities: Mapping[str, Any], name: str) -> Any:
    """Return the value of an Appium capability, also from within `appium:options`."""
    options = capabilities.get("appium:options")
    value = options.get(name) if isinstance(options, Mapping) else None
    return capabilities.get(f"appium:{name}") if value is None else value


def _claimed_device(
    start: Start, options: AppiumOptions, server: AppiumAddress, capabilities: Mapping[str, Any]
) -> dict[str, Any]:
    """Claim the device with the requested udid at its server, or one of several; return it as a capability.

    A name is not claimed, as many devices share it.
    """
    udid = _capability(capabilities, "udid")
    if udid and options.udids:
        raise InvalidArgument("Give either udid or options.udids.", hint="Omit one of them.")
    wanted = [str(udid)] if udid and udid != "auto" else [*options.udids]
    if not wanted:
        return {}
    place = f"{server.host}:{server.port}"
    claims = {device: f"{start.request.type} device {device} at {place}" for device in wanted}
    return {"appium:udid": start.claim_device(claims, options.device_timeout or 0)}


def _ports(start: Start, server: AppiumAddress, capabilities: Mapping[str, Any]) -> dict[str, int]:
    """Return free ports for the capabilities that are not given; given ports are claimed, too."""
    chosen = {}
    for name, ports in _PORTS[start.request.type].items():
        given = _capability(capabilities, name)
        if given is not None:
            start.claim(_port(given, server))
            continue
        free = next(
            (port for port in _candidate_ports(ports, server) if start.claim(_port(port, server)) is None), None
        )
        if free is None:
            raise StartFailed(
                f"No port from {ports.start} to {ports.stop - 1} is free for {name}.",
                hint=f"Close sessions, or give options.{name}.",
            )
        chosen[f"appium:{name}"] = free
    return chosen


def _port(port: Any, server: AppiumAddress) -> str:
    return f"port {port} at {server.host}"


def _candidate_ports(ports: range, server: AppiumAddress) -> Iterator[int]:
    """Return the ports to try: on this machine the free ones, on another all of them, from a random one on."""
    if server.local:
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
