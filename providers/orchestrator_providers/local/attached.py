"""Capabilities to attach to a Chrome or Edge that the user started."""

from __future__ import annotations

from typing import Any

from orchestrator.errors import InvalidArgument, StartFailed, Unsupported
from orchestrator.provider import Start
from orchestrator.webdriver.capabilities import merge_capabilities
from orchestrator.webdriver.devtools import DevTools
from orchestrator_providers.browsers import Browser
from orchestrator_providers.capabilities import browser_capabilities
from orchestrator_providers.local.options import LocalOptions

_HOW = "Start Chrome with --remote-debugging-port=9222 and a --user-data-dir, without which it does not listen."


def attach_capabilities(start: Start, kind: Browser) -> dict[str, Any]:
    """The capabilities for attaching, once the browser has answered at its address.

    Raises:
        InvalidArgument: The address is missing, or an option cannot be applied to a running browser.
        StartFailed: No browser answers at the address.
        Unsupported: BiDi is requested: its start would empty one of the user's tabs.
    """
    _check(start)
    address = start.request.debugger_address or start.settings.attach
    if address is None:
        raise InvalidArgument(
            "Mode attached needs debuggerAddress or the setting attach: the address of a running Chrome.", hint=_HOW
        )
    try:
        DevTools(address).socket_url()
    except OSError:
        raise StartFailed(f"No Chrome answers at {address}.", hint=_HOW) from None
    wanted = merge_capabilities(
        {kind.options: {"debuggerAddress": address}}, browser_capabilities(start, headless=False)
    )
    wanted.pop("browserVersion", None)
    return merge_capabilities(wanted, start.request.capabilities)


def _check(start: Start) -> None:
    options = start.options
    fixed = ("host_rules", "proxy", "browser_version")
    if isinstance(options, LocalOptions) and any(getattr(options, name) for name in fixed):
        raise InvalidArgument(
            "The host rules, proxy and version of a running browser are fixed.", hint="Omit them, or the mode."
        )
    if start.request.capabilities.get("webSocketUrl"):
        raise Unsupported(
            "An attached browser is driven without BiDi, whose start would empty one of its tabs.",
            hint="Omit webSocketUrl.",
        )
