"""Addresses in an attached session's capabilities: of its remote end's host or this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from orchestrator.lifecycle.boundary.rules import deny
from orchestrator.system.machine import LOOPBACK

_SOCKETS = ("webSocketUrl", "se:cdp", "moz:debuggerAddress")
_VENDORS = ("goog:chromeOptions", "ms:edgeOptions")
_DEBUGGER = "debuggerAddress"


def check_addresses(capabilities: Mapping[str, Any], remote_url: str) -> None:
    """Refuse addresses of other hosts, to which this process would connect.

    Raises:
        Denied: Names the capability.
    """
    own = {*LOOPBACK, urlsplit(remote_url).hostname}
    for place, address in _addresses(capabilities):
        if _host(address) not in own:
            deny(place, "Leave it out: a session's own answers say where it listens.")


def _addresses(capabilities: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((name, capabilities[name]) for name in _SOCKETS if not isinstance(capabilities.get(name, True), bool))
    for vendor in _VENDORS:
        options = capabilities.get(vendor)
        if isinstance(options, Mapping) and _DEBUGGER in options:
            yield f"{vendor}.{_DEBUGGER}", options[_DEBUGGER]


def _host(address: Any) -> str | None:
    """Return the host of a URL or of `host:port`; None if it is neither."""
    text = str(address)
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname
    except ValueError:
        return None
