"""How a Chrome or Edge that runs is asked for: one that the user started, and that is never ended by us."""

from __future__ import annotations

from typing import Any

from orchestrator.errors import InvalidArgument, StartFailed, Unsupported
from orchestrator.provider import Start
from orchestrator.webdriver.capabilities import merge
from orchestrator.webdriver.devtools import DevTools
from orchestrator_providers.browsers import Browser
from orchestrator_providers.local_options import LocalOptions
from orchestrator_providers.wanted import browser_capabilities

_HOW = (
    "Start it with --remote-debugging-port=9222 and a --user-data-dir of its own: without one Chrome listens nowhere."
)


def attached(start: Start, kind: Browser) -> dict[str, Any]:
    """What a driver is asked for, once the browser has answered.

    Raises:
        InvalidArgument: It is not said where it is, or something is asked for that a running browser cannot be given.
        StartFailed: Nobody answers there.
        Unsupported: BiDi is asked for, whose start would empty one of the user's tabs.
    """
    _check(start)
    address = start.request.debugger_address or start.settings.attach
    if address is None:
        raise InvalidArgument(
            "Mode attached needs debuggerAddress, or the setting attach: where a Chrome that runs listens.", hint=_HOW
        )
    try:
        DevTools(address).socket()
    except OSError:
        raise StartFailed(f"No Chrome answers at {address}.", hint=_HOW) from None
    wanted = merge({kind.options: {"debuggerAddress": address}}, browser_capabilities(start, headless=False))
    wanted.pop("browserVersion", None)
    return merge(wanted, start.request.capabilities)


def _check(start: Start) -> None:
    options = start.options
    rare = ("host_rules", "proxy", "browser_version")
    if isinstance(options, LocalOptions) and any(getattr(options, name) for name in rare):
        raise InvalidArgument(
            "A browser that runs has its host rules, proxy and version already.", hint="Leave them away, or the mode."
        )
    if start.request.capabilities.get("webSocketUrl"):
        raise Unsupported(
            "An attached browser is driven without BiDi, whose start would empty one of its tabs.",
            hint="Leave webSocketUrl away.",
        )
