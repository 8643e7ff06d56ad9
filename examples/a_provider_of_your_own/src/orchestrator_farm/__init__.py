"""A provider of sessions on the machines of a browser farm, which leases them by the hour."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from orchestrator.errors import ProviderFailure
from orchestrator.provider import (
    Endpoint,
    Provider,
    SessionOptions,
    SessionRecord,
    SessionType,
    Settings,
    Start,
    Started,
    check_capabilities,
    merge_capabilities,
)
from orchestrator_farm.leases import Farm
from orchestrator_providers.capabilities import browser_capabilities

_EVERY = 0.5
"""Seconds between two requests for a lease while all machines are taken."""


class FarmOptions(SessionOptions):
    """The options of a start beside those of every provider."""

    pool: Literal["office", "lab"] = Field(default="office", description="The pool of machines: office or lab.")


class FarmProvider(Provider):
    """Leases a machine before a session is created there, and returns it when the session is gone."""

    name = "farm"
    types = frozenset({SessionType.BROWSER})
    browsers = frozenset({"chrome"})
    Options = FarmOptions

    def endpoint(self, start: Start) -> Endpoint:
        """Lease a machine, waiting until one is free.

        Raises:
            ProviderFailure: The farm cannot be reached, or refuses a lease.
            ProviderAuth: There is no token, or the farm refuses it.
        """
        options = start.options
        if not isinstance(options, FarmOptions):
            raise TypeError(f"options are {type(options).__name__}, not FarmOptions")
        # Everything is checked before a machine is leased.
        check_capabilities(start.request.capabilities)
        capabilities = merge_capabilities(
            browser_capabilities(start, headless=start.headless), start.request.capabilities
        )
        farm = Farm.of(start.settings)
        while (lease := farm.lease(options.pool)) is None:
            start.tell(f"a machine of the {options.pool} to become free")
            start.check()
            time.sleep(_EVERY)
        return Endpoint(remote_url=farm.open_url(lease), capabilities=capabilities)

    def attached(self, record: SessionRecord, settings: Settings) -> Started:
        """Return the machine and the farm's idle limit; `started` returns the same for our own sessions."""
        lease = Farm.of(settings).look(record.remote_url)
        return Started(remote_end={"machine": lease["machine"]}, keep_alive=lease["idleSeconds"])

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:  # noqa: ARG002 - the URL is enough
        """Return True for the URL of a lease."""
        return Farm.is_lease(url)

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """Return the lease's URL with the token, which the record does not contain."""
        return Farm.of(settings).open_url(record.remote_url)

    def ended(self, record: SessionRecord, settings: Settings) -> None:
        """Return the machine; it is no error if it was returned already."""
        try:
            Farm.of(settings).release(record.remote_url)
        except ProviderFailure:
            return  # the lease expires by itself
