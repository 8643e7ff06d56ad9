"""The boundary of starts: lets pass what a caller over MCP may choose on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from orchestrator.errors import Denied
from orchestrator.models.requests import StartRequest
from orchestrator.models.session import Caller, SessionType
from orchestrator.provider import Provider, SessionOptions
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check_capabilities

if TYPE_CHECKING:
    from orchestrator.lifecycle.boundary.rules import Request

_FREE_DOORS = frozenset({"python", "cli"})
"""Ways in for people and their programs, which can run what they like without us."""


def is_bound(caller: Caller, settings: Settings) -> bool:
    """Return True for a caller who may not choose programs, profiles, ports and weaker protections."""
    return caller.door not in _FREE_DOORS and not settings.unsafe_args


class StartBoundary:
    """Lets a start pass that chooses nothing but what cannot harm this machine."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def check(
        self, caller: Caller, request: StartRequest, provider: Provider, options: SessionOptions
    ) -> tuple[StartRequest, list[str]]:
        """Return the request as it may be started, and a warning for each thing that was left out.

        What browsers elsewhere are asked for passes unchanged, as does what a person's own program asks for.

        Raises:
            Denied: It chooses what only whoever runs this server may choose.
            InvalidArgument: A capability has no name that a remote end accepts.
        """
        if not is_bound(caller, self._settings):
            return request, []
        from orchestrator.lifecycle.boundary.rules import Request  # noqa: PLC0415 — it loads with the first start

        check_capabilities(request.capabilities)
        found = Request(tuple(Path(folder) for folder in self._settings.extensions))
        try:
            checked = _apply_rules(request, options, found)
        except Denied:
            if await self._runs_elsewhere(provider, options):
                return request, []
            raise
        if found.warnings and await self._runs_elsewhere(provider, options):
            return request, []
        return checked, found.warnings

    async def _runs_elsewhere(self, provider: Provider, options: SessionOptions) -> bool:
        """Return True if the browser does not run on this machine; the host's name may have to be looked up."""
        return await anyio.to_thread.run_sync(provider.runs_elsewhere, options, self._settings)


def _apply_rules(request: StartRequest, options: SessionOptions, found: Request) -> StartRequest:
    # The tables load with the first start, not with us.
    from orchestrator.lifecycle.boundary.capabilities import OF_BROWSERS, OF_DEVICES  # noqa: PLC0415
    from orchestrator.lifecycle.boundary.switches import BY_BROWSER  # noqa: PLC0415

    is_browser = request.type is SessionType.BROWSER
    capabilities = OF_BROWSERS if is_browser else OF_DEVICES
    capabilities.apply("", options.as_capabilities(), found)
    changed = {"capabilities": capabilities.apply("", request.capabilities, found)}
    if is_browser and (switches := BY_BROWSER.get(request.browser)):
        changed["args"] = tuple(switches.apply("args", request.args, found))
    return request.model_copy(update=changed)
